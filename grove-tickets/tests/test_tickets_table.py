"""Every row of the table of close commands, positive and negative, for every system."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core import CloseMatcher, ProjectContext, TicketClose, ToolCall

TABLE = Path(__file__).parent / "data" / "close-commands.tsv"
SYSTEM_OF_TABLE = {"claude": "tasks"}
AT_RUN_TIME = "*"


def matchers() -> list[CloseMatcher]:
    from importlib.metadata import entry_points

    plugins = [one.load() for one in entry_points(group="grove.tickets")]
    offering = [one for one in plugins if hasattr(one, "grove_close_matchers")]
    return [matcher for plugin in offering for matcher in plugin.grove_close_matchers()]


MATCHERS = matchers()


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
    for part in closes.split(";") if closes != "-" else ():
        name, _, ids = part.partition(":")
        known = {one.removesuffix("@merge") for one in ids.split(",")}
        systems[SYSTEM_OF_TABLE.get(name, name)] = {
            AT_RUN_TIME if one == "last" else one for one in known
        }
    return systems


def looks_at(matcher: CloseMatcher, name: str) -> bool:
    return any(
        name == tool or (tool[-1] == "*" and name.startswith(tool[:-1])) for tool in matcher.tools
    )


def closes_of(call: ToolCall) -> list[TicketClose]:
    context = ProjectContext(root=Path("/project"), cwd=Path("/project"))
    found: list[TicketClose] = []
    for matcher in MATCHERS:
        closes = matcher.match(call, context) if looks_at(matcher, call.name) else ()
        assert all(close.system == matcher.system for close in closes)
        found += [close for close in closes if not close.reopens]
    return found


def found(call: ToolCall) -> dict[str, set[str]]:
    systems: dict[str, set[str]] = {}
    for close in closes_of(call):
        systems.setdefault(close.system, set()).add(close.ticket_id or AT_RUN_TIME)
    return systems


@pytest.mark.parametrize(("command", "closes"), rows())
def test_row(command: str, closes: str) -> None:
    assert found(tool_call(command)) == expected(closes)


@pytest.mark.parametrize(("command", "closes"), [row for row in rows() if row[1] != "-"])
def test_what_takes_effect_later_is_not_certain(command: str, closes: str) -> None:
    if "@merge" in closes:
        assert not any(close.certain for close in closes_of(tool_call(command)))


@pytest.mark.parametrize(("command", "closes"), [row for row in rows() if row[1] != "-"])
def test_the_words_of_its_matcher_stand_in_every_call_that_closes(
    command: str, closes: str
) -> None:
    call = tool_call(command)
    words = set(re.findall(r"[A-Za-z0-9_-]+", json.dumps(call.input)))
    parts = set(re.findall(r"[A-Za-z0-9]+", json.dumps(call.input)))
    for system in expected(closes):
        own = [one for one in MATCHERS if one.system == system and looks_at(one, call.name)]
        entries = [entry.split() for one in own for entry in one.literals]
        assert any(words.union(parts).issuperset(entry) for entry in entries)


# --- in any dress ------------------------------------------------------------------------------

DRESSES = (
    "{}",
    "( {} )",
    "{{ {}\n}}",
    "true && {}",
    "make test; {} || true",
    "{{ {}\n}} 2>&1 | tail -3",
    "yes | {{ {}\n}} > /dev/null",
    "if make; then {}\nelse echo no; fi",
    "while ! done_yet; do {}\ndone",
    "case $1 in a|b) {}\n;; esac",
    "x=$( {} )",
    'echo "$( {} )"',
    "time {{ {}\n}}",
    "cd sub && {{ {}\n}}",
    "f() {{ {}\n}}; f",
    "# a comment\n{}",
    "{}\nls",
    "{} & wait",
)
SHELLS = ("bash -c {}", "sh -lc {}", "eval {}", "sudo -u dev bash -c {}", "timeout 5 bash -c {}")
# What cannot stand inside of something else, or means another thing there.
ALONE = re.compile(r"<<|#|^for |\$\d|\btrap\b|unterminated|`")


def dress(command: str, dresses: list[str]) -> str:
    for each in dresses:
        command = each.format(shlex.quote(command) if each in SHELLS else command)
    return command


DRESSABLE = [row for row in rows() if not row[0].startswith("TOOL ") and not ALONE.search(row[0])]


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(DRESSABLE),
    st.lists(st.sampled_from((*DRESSES, *SHELLS)), min_size=1, max_size=4),
)
def test_a_row_in_any_dress_closes_the_same(row: tuple[str, str], dresses: list[str]) -> None:
    command, closes = row
    assert found(tool_call(dress(command, dresses))) == expected(closes)
