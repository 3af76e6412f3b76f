"""Every row of the table of close commands, positive and negative, for every system here."""

import csv
import json
from pathlib import Path

import pytest

from grove_core import ProjectContext, ToolCall
from grove_tickets import beads, tasks, tissue

TABLE = Path(__file__).parent / "data" / "close-commands.tsv"
SYSTEM_OF_TABLE = {"tissue": "tissue", "beads": "beads", "claude": "tasks"}
MATCHERS = [
    matcher for module in (tissue, beads, tasks) for matcher in module.grove_close_matchers()
]


def rows() -> list[tuple[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as stream:
        table = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(unescape(command), closes) for command, closes, _why in table[1:]]


def unescape(command: str) -> str:
    return "\\".join(part.replace("\\n", "\n") for part in command.split("\\\\"))


def tool_call(command: str) -> ToolCall:
    if command.startswith("TOOL "):
        _, name, tool_input = command.split(" ", 2)
        return ToolCall(name=name, input=json.loads(tool_input), cwd="/project")
    return ToolCall(name="Bash", input={"command": command}, cwd="/project")


def expected(closes: str) -> dict[str, set[str]]:
    systems: dict[str, set[str]] = {}
    for part in closes.split(";"):
        name, _, ids = part.partition(":")
        if name in SYSTEM_OF_TABLE:
            known = {"*" if one == "last" else one for one in ids.split(",")}
            systems[SYSTEM_OF_TABLE[name]] = known
    return systems


def looks_at(tools: tuple[str, ...], name: str) -> bool:
    return any(name == tool or (tool[-1] == "*" and name.startswith(tool[:-1])) for tool in tools)


def found(call: ToolCall) -> dict[str, set[str]]:
    context = ProjectContext(root=Path("/project"), cwd=Path("/project"))
    systems: dict[str, set[str]] = {}
    for matcher in MATCHERS:
        closes = matcher.match(call, context) if looks_at(matcher.tools, call.name) else ()
        for close in closes:
            assert close.system == matcher.system
            systems.setdefault(close.system, set()).add(close.ticket_id or "*")
    return systems


@pytest.mark.parametrize(("command", "closes"), rows())
def test_row(command, closes):
    assert found(tool_call(command)) == expected(closes)


def test_the_table_is_whole():
    all_rows = rows()
    positives = [expected(closes) for _, closes in all_rows]
    assert len(all_rows) == 163
    assert sum("beads" in row for row in positives) == 50
    assert sum("tissue" in row for row in positives) == 8
    assert sum("tasks" in row for row in positives) == 2


@pytest.mark.parametrize(("command", "closes"), [row for row in rows() if expected(row[1])])
def test_a_literal_of_the_matcher_stands_in_every_call_it_matches(command, closes):
    text = json.dumps(dict(tool_call(command).input)).replace("\\n", " ")
    words = "".join(letter if letter.isalnum() or letter in "-_" else " " for letter in text)
    for matcher in MATCHERS:
        if matcher.system in expected(closes):
            assert not set(matcher.literals).isdisjoint(words.split())
