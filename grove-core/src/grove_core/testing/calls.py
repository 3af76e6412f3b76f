"""Tool calls as clients make them, and as nobody should: what a close matcher is tried with."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grove_core.model.ticket import ToolCall, ToolResult

SHELL: Final = "Bash"
_PLAIN: Final = re.compile(r"(?!(?:if|for|while|until|case|function|select|time)\b)[\w./-]+(?: |$)")


def shell_call(line: str, cwd: str = "") -> ToolCall:
    """Make a call of the client's shell."""
    return ToolCall(name=SHELL, input={"command": line}, use_id="toolu_01", cwd=cwd)


def mentions(line: str) -> Iterator[str]:
    """Make shell text that names a command and does not run it."""
    quoted = shlex.quote(line)
    yield f"echo {quoted}"
    yield f"printf '%s\\n' {quoted} > notes.txt"
    yield f"cat <<'END_OF_TEXT'\n{line}\nEND_OF_TEXT"
    yield "\n".join(f"# {each}" for each in line.splitlines())
    yield f"true # {line.splitlines()[0]}"


def dressings(line: str) -> Iterator[str]:
    """Make shell text that runs a command among other things."""
    yield f"true && {line}"
    yield f"  {line}  "
    yield f"echo before\n{line}\necho after"
    yield f"( {line}\n)"
    if _PLAIN.match(line):
        yield f"KIT=1 {line}"


HOSTILE_TEXTS: Final = {
    "nothing": "",
    "a lone quote": "'",
    "quotes that never close": "echo \"one 'two `three $(four ${five",
    "brackets that never close": "((((((" * 50 + "{{{{",
    "deep nesting": "$(" * 500 + "true" + ")" * 500,
    "a NUL": "one\0two",
    "half a character": "one \ud800 two",
    "control characters": "\x1b[31mone\x07\r\x08two\x7f",
    "many lines": "true\n" * 5_000,
    "a megabyte": "x " * 500_000,
    "a here-document without an end": "cat <<END\none\ntwo",
    "operators alone": "&& || ; | & > < >> << <<< 2>&1",
    "words of the shell alone": "if case esac do done fi in function f() { ! [[ for while then",
    "substitutions": "$IFS ${1:-x} $((1+1)) <(true) >(true) $'\\x00' `id`",
    "another language": "for %%x in (*.txt) do @echo %%x\r\n",
}
"""Texts that no matcher may fail at, by what is odd about them."""

HOSTILE_INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "no field": {},
    "null": {"command": None},
    "a number": {"command": 7},
    "a list": {"command": ["close", "1"]},
    "an object": {"command": {"close": "1"}},
    "other fields": {"cmd": "close", "args": [None, 1.5, {"a": [{}]}], "": "", "\0": "\0"},
    "numbers as ids": {"id": 10**40, "issue": -1, "status": float("inf")},
}
"""Inputs of tools that are not what their schema says."""

RESULTS: Final[Mapping[str, ToolResult | None]] = {
    "nothing known yet": None,
    "a success that prints nothing": ToolResult(succeeded=True, response={"stdout": ""}),
    "a success without an answer": ToolResult(succeeded=True),
    "a failure": ToolResult(succeeded=False, error="Exit code 1"),
    "in the background": ToolResult(succeeded=True, background_task_id="b1"),
    "a number": ToolResult(succeeded=True, response=7),
    "a list of content": ToolResult(
        succeeded=True, response=[{"type": "text", "text": "{}"}, None, {"type": "image"}]
    ),
    "deep JSON": ToolResult(succeeded=True, response={"stdout": "[" * 5_000}),
    "odd fields": ToolResult(succeeded=True, response={"stdout": "\ud800", "stderr": 3, "x": {}}),
}
"""What may become of a call, by what it is like."""
