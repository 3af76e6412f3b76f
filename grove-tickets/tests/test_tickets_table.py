"""What each system reads out of tool calls and of what tools print: tables with a line a case.

In them `\\n` is a line break and `\\e` the escape sign. A close is written as `system:id`; `*` stands
for an id that is not known yet, `^` before one for opening it again, and `@later` after one for
what takes effect later.
"""

import json
import re
import shlex
from importlib import import_module
from importlib.metadata import entry_points  # noqa: TID253 - no hook runs this
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import rows

from grove_core import Confirmation, ProjectContext, TicketClose, ToolCall, ToolResult
from grove_tickets.states import DoneSettings

PLUGINS = {one.name: one.load() for one in entry_points(group="grove.tickets")}
MATCHERS = [
    matcher
    for plugin in PLUGINS.values()
    if hasattr(plugin, "grove_close_matchers")
    for matcher in plugin.grove_close_matchers()
]
CONFIRM = {matcher.system: matcher.confirm for matcher in MATCHERS}
PROJECT = Path("/project")
CONTEXT = ProjectContext(root=PROJECT, cwd=PROJECT, environment={"HOME": "/home/dev"})
FAILURE = ToolResult(succeeded=False, error="Exit code 1")


COMMANDS = {row[0]: row[1] for row in rows("close-commands")}


def tool_call(command):
    if command.startswith("TOOL "):
        _, name, tool_input = command.split(" ", 2)
        return ToolCall(name=name, input=json.loads(tool_input), cwd=str(PROJECT))
    return ToolCall(name="Bash", input={"command": command}, cwd=str(PROJECT))


def looks_at(matcher, name):
    return any(
        name == tool or (tool[-1] == "*" and name.startswith(tool[:-1])) for tool in matcher.tools
    )


def closes_of(call):
    closes = []
    for matcher in MATCHERS:
        found = matcher.match(call, CONTEXT) if looks_at(matcher, call.name) else ()
        assert all(close.system == matcher.system for close in found)
        assert not found or a_literal_stands_in(matcher, call), call
        closes += found
    return closes


def a_literal_stands_in(matcher, call):
    """Hooks look at no other call, word by word."""
    text = re.sub(r"\\[nrt]", " ", json.dumps(call.input))
    words = {*re.findall(r"[A-Za-z0-9_-]+", text), *re.findall(r"[A-Za-z0-9]+", text)}
    return any(words.issuperset(literal.split()) for literal in matcher.literals)


def written(closes):
    systems = {}
    for one in closes:
        text = f"{'^' * one.reopens}{one.ticket_id or '*'}{'' if one.certain else '@later'}"
        systems.setdefault(one.system, []).append(text)
    return ";".join(f"{name}:{','.join(ids)}" for name, ids in sorted(systems.items())) or "-"


@pytest.mark.parametrize("part", range(8))
def test_commands_close_what_the_table_says(part):
    own = [*COMMANDS][part::8]
    found = {command: written(closes_of(tool_call(command))) for command in own}
    assert found == {command: COMMANDS[command] for command in own}


@pytest.mark.parametrize(("command", "directory"), rows("close-directories"))
def test_the_directory_of_a_close(command, directory):
    assert {close.directory or "-" for close in closes_of(tool_call(command))} == {directory}


@pytest.mark.parametrize("system", sorted({row[0] for row in rows("close-outputs")}))
def test_what_a_tool_prints_says_whether_it_closed(system, make_context):
    wrong = []
    for name, ticket_id, text, answer in rows("close-outputs"):
        if name != system:
            continue
        close = TicketClose(system=name, ticket_id=None if ticket_id == "*" else ticket_id)
        result = ToolResult(succeeded=True, response={"stdout": text, "stderr": ""})
        if text.startswith("FAILED "):
            result = ToolResult(succeeded=False, error=text.removeprefix("FAILED "))
        found = CONFIRM[name](close, result, make_context())
        if found is not Confirmation[answer.upper()]:
            wrong.append((text, ticket_id, found))
    assert wrong == []


@pytest.mark.parametrize("ticket_id", ["x-1", None])
@pytest.mark.parametrize("system", sorted(PLUGINS.keys() - {"reader", "session", "tasks"}))
def test_without_a_store_and_a_word_of_the_tool_only_a_failure_is_certain(
    system, ticket_id, make_context
):
    close, confirm = TicketClose(system=system, ticket_id=ticket_id), CONFIRM[system]
    silent = ToolResult(succeeded=True, response={"stdout": "", "stderr": ""})
    assert confirm(close, silent, make_context()) is Confirmation.UNKNOWN
    assert confirm(close, None, make_context()) is Confirmation.UNKNOWN
    assert confirm(close, FAILURE, make_context()) is Confirmation.NO
    content = [{"type": "text", "text": "not found"}]
    refused = ToolResult(succeeded=True, response={"content": content, "isError": True})
    if any("mcp__*" in one.tools for one in MATCHERS if one.system == system):
        assert confirm(close, refused, make_context()) is Confirmation.NO


def test_a_message_may_come_from_a_file(project):
    context = ProjectContext(root=project, cwd=project)
    (project / "sub").mkdir()
    (project / "message.txt").write_text("Parser\n\nFixes #7\n")
    for command, expected in (
        ("git commit -F message.txt", "github:#7@later"),
        ("git -C sub commit -F ../message.txt", "github:#7@later"),
        ("git commit -F sub", "-"),
    ):
        call = ToolCall(name="Bash", input={"command": command}, cwd=str(project))
        assert written(PLUGINS["github"].closes(call, context)) == expected


@pytest.mark.parametrize("system", ["jira", "linear"])
def test_the_names_of_done_states_are_configured(system):
    module = import_module(f"grove_tickets.{system}")
    settings = DoneSettings(done=("Shipped",))
    context = ProjectContext(root=PROJECT, cwd=PROJECT, settings=settings)
    command = {"jira": "jira issue move A-1 {}", "linear": "linear issue update A-1 -s {}"}[system]
    for state, expected in (("SHIPPED", "A-1"), ("Done", "^A-1")):
        call = tool_call(command.format(state))
        assert written(module.closes(call, context)) == f"{system}:{expected}"


DRESSES = (
    "( {} )",
    "{{ {}\n}}",
    "true && {{ {}\n}}",
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
ALONE = re.compile(r"<<|#|^for |\$\d|\btrap\b|unterminated|`|^TOOL ")
DRESSABLE = [command for command in COMMANDS if not ALONE.search(command)]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(DRESSABLE),
    st.lists(st.sampled_from((*DRESSES, *SHELLS)), min_size=1, max_size=4),
)
def test_a_command_in_any_dress_closes_the_same(command, dresses):
    dressed = command
    for each in dresses:
        dressed = each.format(shlex.quote(dressed) if each in SHELLS else dressed)
    assert written(closes_of(tool_call(dressed))) == COMMANDS[command]
