"""The Claude Code plugin: its manifest, its hooks, its launcher, its installer and its skills."""

import json
import re
import shlex
import shutil
import stat
import sys
from pathlib import Path

import jsonschema
import pytest
from core_worlds import run_program, write_program
from session_server import Lines, said
from session_server import answers as answers_of_server

from grove_core.cli.main import COMMANDS as COMMANDS_OF_GROVE
from grove_hosts.claude_code.checks import covers
from grove_hosts.claude_code.hooks import (
    PLUGIN_SERVER,
    SERVER,
    SLOTS,
    hook_groups_with_server,
    server_groups,
)

PLUGIN = Path(__file__).parents[1] / "plugin"
LAUNCHER = PLUGIN / "bin" / "grove-hook"
SERVE = PLUGIN / "bin" / "grove-serve"
SHIM = PLUGIN / "bin" / "grove"
INSTALLER = PLUGIN / "install.sh"
SKILLS = sorted(PLUGIN.glob("skills/*/SKILL.md"))
TEXTS = [
    *SKILLS,
    PLUGIN / "agents" / "reviewer.md",
    PLUGIN / "rules" / "compound-gate.md",
    PLUGIN / "README.md",
]
SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
# Unlike a checkout's, its path holds no space, so that it can stand in the first line of a script.
PYTHON = Path(sys.executable).resolve()

TOOLS = "Bash|TaskUpdate|TodoWrite|mcp__.*"
FILES = "Read|Edit|Write|MultiEdit|NotebookEdit"
TOOLS_OF_AGENT = ("reflect", "skip", "search", "ref", "observe")
# event: (argument of the launcher, seconds)
COMMANDS = {
    "SessionStart": ("session-start", 15),
    "Stop": ("stop", 50),  # after the server's 20 s, and its own 20 s if that has died
    "SubagentStop": ("subagent-stop", 25),
    "SessionEnd": ("session-end", 3),
}
# event: matchers
BY_SERVER = {
    "UserPromptSubmit": [None],
    "PreToolUse": [TOOLS],
    "PostToolUse": [TOOLS, FILES],
    "PostToolUseFailure": [TOOLS],
    "TaskCompleted": [None],
    "Stop": [None],
}


def test_manifest():
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["name"] == "grove"
    about = {"name", "version", "description", "author", "license", "keywords"}
    assert set(manifest) == {*about, "mcpServers", "hooks"}
    server = {"command": "${CLAUDE_PLUGIN_ROOT}/bin/grove-serve", "args": []}
    assert manifest["mcpServers"] == {"grove": server}
    # In a file of its own: a client that knows no such hooks leaves out the whole file.
    assert manifest["hooks"] == "./hooks/server.json"
    project = (PLUGIN.parent / "grove-core" / "pyproject.toml").read_text()
    assert f'version = "{manifest["version"]}"' in project
    for program in (LAUNCHER, SERVE, SHIM, INSTALLER):
        assert program.stat().st_mode & stat.S_IXUSR
        assert program.read_bytes().startswith(b"#!/bin/sh\n")


def hooks_of(name):
    return json.loads((PLUGIN / "hooks" / name).read_text())["hooks"]


def test_commands_are_registered_for_what_no_server_can_answer_and_below_it_at_stops():
    found = {}
    for event, groups in hooks_of("hooks.json").items():
        (group,) = groups
        (hook,) = group["hooks"]
        # Only a reviewer's stop concerns a gate, so that nobody else pays for it.
        assert group.get("matcher") == ("grove:reviewer" if event == "SubagentStop" else None)
        assert hook["type"] == "command"
        # In shell form: other clients read this file and drop `args`.
        assert set(hook) == {"type", "command", "timeout"}
        launcher, _, argument = hook["command"].partition(" ")
        assert launcher == '"${CLAUDE_PLUGIN_ROOT}/bin/grove-hook"'
        found[event] = (argument, hook["timeout"])
    assert found == COMMANDS
    assert {*COMMANDS, *BY_SERVER} == {*(slot.name for slot in SLOTS), "SubagentStop"}


def test_the_servers_hooks_are_as_the_program_reads_them():
    groups = hooks_of("server.json")
    assert groups == server_groups(PLUGIN_SERVER)
    matchers = {event: [one.get("matcher") for one in found] for event, found in groups.items()}
    assert matchers == BY_SERVER
    # Each entry that fits calls the server: no tool may be in two.
    tools = ["Bash", "TaskUpdate", "TodoWrite", "mcp__a__b", *FILES.split("|")]
    assert [covers(TOOLS, tool) + covers(FILES, tool) for tool in tools] == [1] * len(tools)


def test_a_project_with_a_server_of_its_own_has_the_same_hooks():
    """What ``grove init --hooks --server`` registers."""
    both = json.dumps([hooks_of("server.json"), hooks_of("hooks.json")])
    launcher = json.dumps('"${CLAUDE_PLUGIN_ROOT}/bin/grove-hook" ')[1:-1]
    both = both.replace(launcher, "/opt/grove hook ").replace(PLUGIN_SERVER, SERVER)
    expected = {}
    for groups in json.loads(both):
        for event, found in groups.items():
            expected[event] = [*expected.get(event, []), *found]
    assert (
        hook_groups_with_server("/opt/grove") | {"SubagentStop": expected["SubagentStop"]}
        == expected
    )


def fake_grove(folder, name="grove", head="#!/bin/sh"):
    """A program that prints its own path, its arguments and its input, and blocks."""
    body = 'printf "%s|" "$0" "$@"\nread -r line\nprintf %s "$line"\necho why >&2\nexit 2\n'
    return write_program(folder / name, f"{head}\n# grove_core\n{body}")


@pytest.fixture
def launch(tmp_path):
    """Runs the launcher with nothing but HOME, PATH and what the test adds."""
    home = tmp_path / "höme with space"
    home.mkdir()

    def run(*words, path="", program=LAUNCHER, shell="sh", stdin="payload", **variables):
        environment = {"HOME": str(home), "PATH": str(path), **variables}
        return run_program(
            [shutil.which(shell), program, *words],
            env={name: str(value) for name, value in environment.items()},
            cwd=home,
            input=stdin,
        )

    run.home = home
    return run


def answers(result, program, event="stop"):
    """Whether this program was started as a hook, its input and its answer untouched."""
    said = (result.stdout, result.stderr, result.returncode)
    return said == (f"{program}|hook|{event}|payload", "why\n", 2)


def is_silent(result):
    return (result.stdout, result.stderr, result.returncode) == ("", "", 0)


def record(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program").write_text(text)


@pytest.mark.parametrize("shell", SHELLS)
def test_launcher_finds_grove_in_the_order_of_what_is_surest(launch, tmp_path, shell):
    """In ~/.local, on PATH, where `grove init` has recorded it, where a variable says."""
    local = fake_grove(launch.home / ".local" / "bin")
    assert answers(launch("stop", shell=shell), local)
    on_path = fake_grove(tmp_path / "größe 木")
    path = f"/nonexistent:{tmp_path}/*:{on_path.parent}"
    assert answers(launch("stop", path=path, shell=shell), on_path)
    recorded = fake_grove(tmp_path / "venv ä" / "bin")
    record(launch.home / ".grove", f"{recorded}\nanother line\n")
    assert answers(launch("stop", path=path, shell=shell), recorded)
    elsewhere = fake_grove(tmp_path / "bin")
    record(tmp_path / "data home", str(elsewhere))
    home = {"GROVE_HOME": tmp_path / "data home"}
    assert answers(launch("stop", path=path, shell=shell, **home), elsewhere)
    named = fake_grove(tmp_path / "mine", "my grove")
    assert answers(launch("stop", path=path, shell=shell, GROVE_PROGRAM=named, **home), named)


def test_launcher_knows_the_scripts_of_installers(launch, tmp_path):
    """The beginnings of what uv and pip write, for a path of the interpreter without and with a space."""
    plain = f"#!{PYTHON}\n# -*- coding: utf-8 -*-\nimport sys\n"
    spaced = f"#!/bin/sh\n'''exec' \"{PYTHON}\" \"$0\" \"$@\"\n' '''\nimport re\nimport sys\n"
    body = 'print(*sys.argv, input(), sep="|", end=""); print("why", file=sys.stderr); sys.exit(2)'
    for head in (plain, spaced):
        text = f"{head}{body}; from grove_core._entry import main\n"
        program = write_program(tmp_path / "bin ä" / "grove", text)
        assert answers(launch("stop", path=program.parent), program)


def test_launcher_without_grove_says_so_at_the_start_only(launch):
    result = launch("session-start")
    assert result.stdout.startswith("grove is not installed")
    assert (result.stdout.count("\n"), result.stderr, result.returncode) == (1, "", 0)
    for event in ("stop", "session-end"):
        assert is_silent(launch(event))


def test_without_grove_the_server_answers_that_there_is_nothing(launch):
    """The client would name a failed hook at each tool call."""
    lines = Lines()
    lines.request("server/discover")
    lines.request("initialize", protocolVersion="2025-11-25")
    lines.request("tools/list")
    lines.hook("PreToolUse", tool_input={"command": 'echo \'"id": 7, "method":"initialize"\''})
    lines.hook("Stop", last_assistant_message='{"id":9}')
    notice = '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    for shell in SHELLS:
        # As the client writes it: the number of a call comes last.
        data = [
            {**{k: v for k, v in one.items() if k != "id"}, "id": one["id"]} for one in lines.sent
        ]
        text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in data)
        result = launch(program=SERVE, shell=shell, stdin=notice + text)
        assert (result.stderr, result.returncode) == ("", 0)
        found = answers_of_server(result.stdout)
        assert found[0]["code"] == -32601
        assert found[1]["protocolVersion"] == "2025-11-25"
        assert found[2] == {"tools": []}
        assert [said(found[number]) for number in (3, 4)] == ["{}", "{}"]


def test_the_server_is_started_by_the_same_search(launch, tmp_path):
    program = fake_grove(tmp_path / "venv ä" / "bin")
    record(launch.home / ".grove", f"{program}\n")
    assert launch(program=SERVE).stdout == f"{program}|serve|payload"


def test_shim_lets_the_agents_shell_find_grove_outside_its_path(launch, tmp_path):
    """It never runs itself or another copy of the plugin."""
    copy = shutil.copytree(PLUGIN / "bin", tmp_path / "copy")
    path = f"{SHIM.parent}:{copy}"
    result = launch("reflect", path=path, program=SHIM)
    assert result.returncode == 127
    assert "not installed" in result.stderr
    program = fake_grove(tmp_path / "venv ä" / "bin")
    record(launch.home / ".grove", f"{program}\n")
    result = launch("reflect", "--brief", path=path, program=SHIM)
    assert result.stdout == f"{program}|reflect|--brief|payload"


@pytest.mark.parametrize(
    "call", ["uv tool install", "pipx install", "python3 -m pip install --user"]
)
def test_installer_says_and_runs_the_first_installer_there_is(tmp_path, call):
    for tool in ("sh", "cat", "sed"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    words = [*call.split(), "grove-core[markdown,tickets,hosts]"]
    order = ["uv", "pipx", "python3"]
    for name in order[order.index(words[0]) :]:
        write_program(tmp_path / name, f"printf '<%s>' {name} \"$@\"")
    done = run_program(
        [shutil.which("sh"), INSTALLER],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        check=True,
    )
    said = done.stdout.index("+ " + shlex.join(words))
    assert said < done.stdout.index("".join(f"<{word}>" for word in words))


def test_all_skills_are_there_and_described():
    names = ["add", "observe", "ref", "reflect", "review", "reviewer", "search", "skip", "status"]
    assert [path.parent.name for path in SKILLS] == names
    assert set(names) - {"reviewer"} <= set(COMMANDS_OF_GROVE)
    for skill in SKILLS:
        head = re.match(r"---\n(.*?)\n---\n", skill.read_text(), re.DOTALL).group(1)
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        assert set(fields) == {"name", "description", "allowed-tools"}
        assert fields["name"] == skill.parent.name
        tool = fields["name"]
        tools = [f"mcp__plugin_grove_grove__{tool}"] if tool in TOOLS_OF_AGENT else []
        assert fields["allowed-tools"].split(", ") == ["Bash(grove *)", *tools]
        assert 40 < len(fields["description"]) < 400
        assert ": " not in fields["description"]  # YAML would read a mapping


def test_every_command_that_the_plugin_shows_is_there(world):
    """With its options, in fences and in the running text."""
    shown = r"^ *(grove [a-z].*?)(?: <<.*)?$|`(grove [a-z][^`]*)`"
    found = re.findall(shown, "".join(path.read_text() for path in TEXTS), re.MULTILINE)
    lines = {one or other for one, other in found if not one.startswith("grove is ")}
    assert len(lines) > 20
    for line in sorted(lines):
        words = shlex.split(line.partition(" -- ")[0])[1:]
        nested = (
            words[0] in ("maintain", "reviewer") and words[1:2] and not words[1].startswith("-")
        )
        done = world.grove(*words[: 2 if nested else 1], "--help", COLUMNS="200")
        assert done.code == 0, line
        for option in (word for word in words if word.startswith("--")):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", done.stdout), line


def test_every_reflection_that_a_skill_shows_fits_the_schema(world):
    form = r"^grove reflect <<< \"\$\(cat <<'EOF'\n(.*?)\nEOF\n\)\"$"
    texts = [path.read_text() for path in SKILLS]
    shown = [one for text in texts for one in re.findall(form, text, re.DOTALL | re.MULTILINE)]
    assert len(shown) == sum(text.count("grove reflect <<") for text in texts) == 3
    schema = world.grove("reflect", "--schema").json
    for text in shown:
        jsonschema.validate(json.loads(text), schema)
