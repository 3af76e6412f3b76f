"""The Claude Code plugin: its files, its launcher, and every command line that it shows."""

import functools
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from grove_core.health.matchers import covers

PLUGIN = Path(__file__).parents[1] / "plugin"
LAUNCHER = PLUGIN / "bin" / "grove-hook"
SHIM = PLUGIN / "bin" / "grove"
INSTALLER = PLUGIN / "install.sh"
SKILLS = sorted(PLUGIN.glob("skills/*/SKILL.md"))
TEXTS = [*SKILLS, PLUGIN / "rules" / "compound-gate.md", PLUGIN / "README.md"]
SHELLS = [shell for shell in ("sh", "dash", "bash", "busybox") if shutil.which(shell)]
GROVE = Path(sys.executable).with_name("grove")
# Unlike a checkout's, its path holds no space, so that it can stand in the first line of a script.
PYTHON = Path(sys.executable).resolve()

TOOLS = "Bash|TaskUpdate|TodoWrite|mcp__.*"
FILES = "Read|Edit|Write|MultiEdit|NotebookEdit"
# event: (argument of the launcher, seconds, matchers)
HOOKS = {
    "SessionStart": ("session-start", 10, [None]),
    "UserPromptSubmit": ("user-prompt-submit", 5, [None]),
    "PreToolUse": ("pre-tool-use", 5, [TOOLS]),
    "PostToolUse": ("post-tool-use", 5, [TOOLS, FILES]),
    "PostToolUseFailure": ("post-tool-use-failure", 5, [TOOLS]),
    "TaskCompleted": ("task-completed", 5, [None]),
    "Stop": ("stop", 10, [None]),
    "SessionEnd": ("session-end", 3, [None]),
}
GROUPS = {  # commands that have commands of their own
    "tickets": {"match"},
    "maintain": {"list", "archive", "restore", "supersede", "decay", "flush", "migrate", "repair"},
}


def shell_words(shell):
    return [shell, "sh"] if shell == "busybox" else [shell]


# --- manifest and hooks -------------------------------------------------------------------------


def test_manifest():
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["name"] == "grove"
    assert manifest["license"] == "Apache-2.0"
    assert set(manifest) == {"name", "version", "description", "author", "license", "keywords"}


def test_manifest_has_the_version_of_the_packages():
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    project = (PLUGIN.parent / "grove-core" / "pyproject.toml").read_text()
    assert f'version = "{manifest["version"]}"' in project


def test_hooks_register_each_event_once_in_exec_form():
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    found = {}
    for event, groups in hooks.items():
        ((hook,), *others) = [group["hooks"] for group in groups]
        assert all(other == [hook] for other in others)
        assert hook["type"] == "command"
        assert hook["command"] == "${CLAUDE_PLUGIN_ROOT}/bin/grove-hook"
        (argument,) = hook["args"]
        found[event] = (argument, hook["timeout"], [group.get("matcher") for group in groups])
    assert found == HOOKS


def test_no_tool_is_in_two_entries_of_one_event():
    """Each entry that fits starts the hook."""
    tools = ["Bash", "TaskUpdate", "TodoWrite", "mcp__a__b", *FILES.split("|")]
    assert [covers(TOOLS, tool) + covers(FILES, tool) for tool in tools] == [1] * len(tools)
    assert not covers(FILES, "NotebookRead")


@pytest.mark.parametrize("program", [LAUNCHER, SHIM, INSTALLER], ids=lambda path: path.name)
def test_programs_are_executable_posix_scripts(program):
    assert program.stat().st_mode & stat.S_IXUSR
    assert program.read_bytes().startswith(b"#!/bin/sh\n")
    for shell in SHELLS:
        subprocess.run([*shell_words(shell), "-n", program], check=True)


# --- launcher -----------------------------------------------------------------------------------


def write_program(program, text):
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(text)
    program.chmod(0o755)
    return program


def fake_grove(folder, name="grove", head="#!/bin/sh"):
    """A program that prints its own path, its arguments and its input."""
    body = 'printf "%s|" "$0" "$@"\nread -r line\nprintf %s "$line"\n'
    return write_program(folder / name, f"{head}\n# grove_core\n{body}")


# The beginnings of what uv and pip write, for a path of the interpreter without and with a space.
INSTALLED = {
    "uv": "#!{python}\n# -*- coding: utf-8 -*-\nimport sys\n",
    "pip": "#!{python}\n# -*- coding: utf-8 -*-\nimport re\nimport sys\n",
    "uv-space": "#!/bin/sh\n'''exec' '{python}' \"$0\" \"$@\"\n' '''\n"
    "# -*- coding: utf-8 -*-\nimport sys\n",
    "pip-space": "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n"
    "# -*- coding: utf-8 -*-\nimport re\nimport sys\n",
}

# What is no script of grove's; all but the last would answer every hook with the exit code 2.
FOREIGN = {
    "argparse": f"#!{PYTHON}\nimport argparse\nargparse.ArgumentParser().parse_args()\n",
    "shell": "#!/bin/sh\nexit 2\n",
    "no-newline": "#!/bin/sh\nexit 2",
    "named-late": "#!/bin/sh\nexit 2\n" + "#\n" * 11 + "# grove_core\n",
    "no-script": "# grove_core\nexit 2\n",
    "empty": "",
}


@pytest.fixture(params=SHELLS)
def launch(request, tmp_path):
    """Runs the launcher in one shell with nothing but HOME, PATH and what the test adds."""
    home = tmp_path / "höme with space"
    home.mkdir()

    def run(*words, path="", **variables):
        environment = {"HOME": str(home), "PATH": str(path), **variables}
        shell, *rest = shell_words(request.param)
        return subprocess.run(
            [shutil.which(shell), *rest, LAUNCHER, *words],
            env={name: str(value) for name, value in environment.items()},
            cwd=home,
            input="payload",
            capture_output=True,
            text=True,
            check=False,
        )

    run.home = home
    return run


def answers(result, program, event="stop"):
    """Whether this program was started as a hook with this event, its input untouched."""
    return (result.stdout, result.stderr, result.returncode) == (
        f"{program}|hook|{event}|payload",
        "",
        0,
    )


def record(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program").write_text(text)


@pytest.mark.parametrize(
    "folder", ["plain", "with space", "größe 木"], ids=["plain", "space", "non-ascii"]
)
def test_launcher_finds_grove_on_path(launch, tmp_path, folder):
    program = fake_grove(tmp_path / folder)
    path = f"/nonexistent:{tmp_path}/*:{program.parent}"
    assert answers(launch("stop", path=path), program)


@pytest.mark.parametrize("newline", ["", "\n", "\nanother line\n"])
def test_launcher_prefers_the_recorded_program(launch, tmp_path, newline):
    program = fake_grove(tmp_path / "venv ä" / "bin")
    other = fake_grove(tmp_path / "other")
    record(launch.home / ".grove", f"{program}{newline}")
    assert answers(launch("stop", path=other.parent), program)


def test_launcher_reads_the_record_in_grove_home(launch, tmp_path):
    program = fake_grove(tmp_path / "bin")
    record(tmp_path / "data home", f"{program}\n")
    assert answers(launch("stop", GROVE_HOME=tmp_path / "data home"), program)


def test_launcher_prefers_grove_program_to_all(launch, tmp_path):
    program = fake_grove(tmp_path / "mine", "my grove")
    record(launch.home / ".grove", f"{fake_grove(tmp_path / 'recorded')}\n")
    path = fake_grove(tmp_path / "path").parent
    assert answers(launch("stop", path=path, GROVE_PROGRAM=program), program)


def test_launcher_finds_the_users_own_programs(launch):
    program = fake_grove(launch.home / ".local" / "bin")
    assert answers(launch("stop"), program)


@pytest.mark.parametrize(
    "recorded",
    ["", "/nonexistent/grove", "bin/grove", "{folder}", "{plain_file}", "{stale_script}"],
)
def test_launcher_passes_over_a_record_that_cannot_start(launch, tmp_path, recorded):
    fake_grove(launch.home / "bin")  # what the relative record would reach
    plain_file = tmp_path / "plain"
    plain_file.write_text("#!/bin/sh\n")
    stale_script = fake_grove(tmp_path / "gone", head="#!/nonexistent/venv/bin/python")
    text = recorded.format(folder=tmp_path, plain_file=plain_file, stale_script=stale_script)
    record(launch.home / ".grove", f"{text}\n")
    program = fake_grove(tmp_path / "path")
    assert answers(launch("stop", path=program.parent), program)


@pytest.mark.parametrize("head", INSTALLED.values(), ids=INSTALLED)
def test_launcher_knows_the_scripts_of_installers(launch, tmp_path, head):
    body = 'print(*sys.argv, input(), sep="|", end=""); sys.exit()'
    text = f"{head.format(python=PYTHON)}{body}; from grove_core._entry import main\n"
    program = write_program(tmp_path / "bin ä" / "grove", text)
    assert answers(launch("stop", path=program.parent), program)


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_launcher_passes_over_another_program_of_the_name(launch, tmp_path, text):
    """Wherever it is: an exit code 2 of the wrong program would block every tool call."""
    other = write_program(tmp_path / "other" / "grove", text)
    write_program(launch.home / ".local" / "bin" / "grove", text)
    record(launch.home / ".grove", f"{other}\n")
    result = launch("pre-tool-use", path=other.parent)
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
    program = fake_grove(tmp_path / "ours")
    assert answers(launch("stop", path=f"{other.parent}:{program.parent}"), program)


def test_launcher_passes_over_a_binary_of_the_name(launch, tmp_path):
    binary = tmp_path / "binary" / "grove"
    binary.parent.mkdir()
    shutil.copy(shutil.which("true"), binary)
    record(launch.home / ".grove", f"{binary}\n")
    program = fake_grove(tmp_path / "ours")
    assert answers(launch("stop", path=f"{binary.parent}:{program.parent}"), program)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_launcher_passes_over_a_script_that_cannot_be_read(launch, tmp_path):
    """Python, too, ends with 2 when it cannot open its script."""
    program = fake_grove(tmp_path / "bin")
    program.chmod(0o311)
    result = launch("pre-tool-use", path=program.parent, GROVE_PROGRAM=program)
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)


def test_launcher_takes_grove_program_at_its_word(launch, tmp_path):
    program = write_program(tmp_path / "wrapper", '#!/bin/sh\nprintf "%s " "$@"\n')
    assert launch("stop", GROVE_PROGRAM=program).stdout == "hook stop "


@pytest.mark.parametrize("path", ["", ".", "bin", ":", "bin::./bin"])
def test_launcher_never_runs_a_program_of_the_working_folder(launch, path):
    fake_grove(launch.home)
    fake_grove(launch.home / "bin")
    result = launch("stop", path=path)
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)


def run_shim(home, path, *words):
    return subprocess.run(
        ["grove", *words],
        executable=SHIM,
        env={"HOME": str(home), "PATH": str(path)},
        input="payload",
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )


def test_shim_lets_the_agents_shell_find_grove_outside_its_path(tmp_path):
    program = fake_grove(tmp_path / "venv ä" / "bin")
    record(tmp_path / ".grove", f"{program}\n")
    result = run_shim(tmp_path, SHIM.parent, "reflect", "--brief")
    assert result.stdout == f"{program}|reflect|--brief|payload"


def test_shim_knows_the_script_of_this_environment(tmp_path):
    result = run_shim(tmp_path, GROVE.parent, "--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("grove ")


def test_shim_never_runs_itself_or_another_copy_of_the_plugin(tmp_path):
    shutil.copytree(PLUGIN, tmp_path / "copy")
    result = run_shim(tmp_path, f"{SHIM.parent}:{tmp_path / 'copy' / 'bin'}", "reflect")
    assert result.returncode == 127
    assert "not installed" in result.stderr


def test_launcher_hands_on_the_exit_code_and_stderr(launch, tmp_path):
    text = "#!/bin/sh\n# grove_core\necho one step left >&2\nexit 2\n"
    program = write_program(tmp_path / "bin" / "grove", text)
    result = launch("stop", path=program.parent)
    assert (result.stdout, result.stderr, result.returncode) == ("", "one step left\n", 2)


@pytest.mark.parametrize("event", [argument for argument, _, _ in HOOKS.values()])
def test_launcher_without_grove_says_so_at_the_start_only(launch, event):
    result = launch(event)
    assert result.returncode == 0
    assert result.stderr == ""
    if event == "session-start":
        assert result.stdout.startswith("grove is not installed")
        assert result.stdout.count("\n") == 1
    else:
        assert result.stdout == ""


def test_launcher_works_without_home_and_path():
    result = subprocess.run(
        [LAUNCHER, "stop"], env={}, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, b"")


# --- installer ----------------------------------------------------------------------------------


@pytest.fixture
def install(tmp_path):
    """Runs the installer where only the named installers exist, each of which prints its call."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for tool in ("sh", "cat", "sed"):
        (programs / tool).symlink_to(shutil.which(tool))

    def run(*words, installers=(), fails=False):
        for name in installers:
            program = programs / name
            program.write_text(f"#!/bin/sh\nprintf '<%s>' {name} \"$@\"\nexit {int(fails)}\n")
            program.chmod(0o755)
        return subprocess.run(
            [shutil.which("sh"), INSTALLER, *words],
            env={"PATH": str(programs), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("installers", "calls"),
    [
        (
            ["uv", "pipx", "python3"],
            ["uv|tool|install|grove-core[markdown,tickets]"],
        ),
        (
            ["pipx", "python3"],
            [
                "pipx|install|grove-core[markdown,tickets]",
            ],
        ),
        (
            ["python3"],
            ["python3|-m|pip|install|--user|grove-core[markdown,tickets]"],
        ),
    ],
)
def test_installer_uses_the_first_installer_and_says_what_it_does(install, installers, calls):
    result = install(installers=installers)
    assert result.returncode == 0, result.stderr
    for call in calls:
        words = call.split("|")
        said = result.stdout.index("+ " + shlex.join(words))
        done = result.stdout.index("".join(f"<{word}>" for word in words))
        assert said < done


@pytest.mark.parametrize("installer", ["uv", "pipx", "python3"])
def test_installer_takes_wheels_from_a_folder_only(install, tmp_path, installer):
    wheels = tmp_path / "wheels of 'ours'"
    wheels.mkdir()
    result = install("--from", wheels, installers=[installer])
    assert result.returncode == 0, result.stderr
    calls = [line for line in result.stdout.splitlines() if line.startswith("<")]
    assert any("install" in call for call in calls)
    for call in calls:
        if "<-c>" in call:  # the look at Python's version
            continue
        if installer == "pipx":
            arguments = re.search("<--pip-args><(.*?)>", call).group(1)
            assert shlex.split(arguments) == ["--no-index", "--find-links", str(wheels)]
        else:
            assert f"<--no-index><--find-links><{wheels}>" in call


@pytest.mark.parametrize("installer", ["uv", "pipx"])
def test_installer_dry_run_runs_nothing(install, installer):
    result = install("--dry-run", installers=[installer])
    assert result.returncode == 0
    assert f"+ {installer} " in result.stdout
    assert "<" not in result.stdout


@pytest.mark.parametrize(
    ("words", "code"),
    [(["--nonsense"], 2), (["--from"], 2), (["--from", "/nonexistent"], 1), ([], 1)],
)
def test_installer_refuses_what_it_cannot_do(install, words, code):
    result = install(*words)
    assert result.returncode == code
    assert "install.sh: " in result.stderr


def test_installer_ends_where_an_installer_fails(install):
    result = install(installers=["pipx"], fails=True)
    assert result.returncode == 1
    assert "<inject>" not in result.stdout
    assert "Done" not in result.stdout


# --- skills and texts ---------------------------------------------------------------------------


def frontmatter(path):
    head = re.match(r"---\n(.*?)\n---\n", path.read_text(), re.DOTALL).group(1)
    return dict(line.split(": ", 1) for line in head.splitlines())


def test_all_skills_are_there():
    names = ("maintain", "observe", "ref", "reflect", "search", "skip", "status")
    assert [path.parent.name for path in SKILLS] == [f"compound-{name}" for name in names]


@pytest.mark.parametrize("skill", SKILLS, ids=lambda path: path.parent.name)
def test_skill_frontmatter(skill):
    fields = frontmatter(skill)
    assert set(fields) == {"name", "description", "allowed-tools"}
    assert fields["name"] == skill.parent.name
    assert fields["allowed-tools"] == "Bash(grove *)"
    assert 40 < len(fields["description"]) < 400
    assert ": " not in fields["description"]  # YAML would read a mapping


def test_readme_names_every_hook_and_skill():
    readme = (PLUGIN / "README.md").read_text()
    for name in [*HOOKS, *(path.parent.name for path in SKILLS)]:
        assert name in readme


def command_lines():
    """Every `grove …` that the plugin's texts show, in fences and in the running text."""
    found = {f"grove hook {argument}" for argument, _, _ in HOOKS.values()}
    for path in TEXTS:
        text = path.read_text()
        found.update(re.findall(r"^ *(grove [a-z].*?)(?: <<.*)?$", text, re.MULTILINE))
        found.update(re.findall(r"`(grove [a-z][^`]*)`", text))
    found.update(re.findall(r"then run: (grove \w+)", LAUNCHER.read_text()))
    found.update(re.findall(r"in your project: (grove \w+)", INSTALLER.read_text()))
    # A line of prose that begins with the name is no command line.
    return sorted(each for each in found if not each.startswith("grove is "))


@functools.cache
def help_of(*command):
    return subprocess.run(
        [GROVE, *command, "--help"],
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_command_lines_are_found():
    lines = command_lines()
    for command in ("init", "reflect --schema", "skip", "observe", "ref", "search", "list", "show"):
        assert any(line.startswith(f"grove {command}") for line in lines), command


@pytest.mark.parametrize("line", command_lines())
def test_command_line_exists(line):
    words = shlex.split(line)[1:]
    if "--" in words:
        words = words[: words.index("--")]
    nested = len(words) > 1 and words[1] in GROUPS.get(words[0], ())
    answer = help_of(*words[: 2 if nested else 1])
    assert answer.returncode == 0, answer.stderr
    for option in (word for word in words if word.startswith("--")):
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", answer.stdout), f"no {option}"


def reflections():
    """Every JSON that a skill hands to `grove reflect`."""
    found = []
    for path in SKILLS:
        shown = re.findall(
            r"^grove reflect <<< \"\$\(cat <<'EOF'\n(.*?)\nEOF\n\)\"$",
            path.read_text(),
            re.DOTALL | re.MULTILINE,
        )
        found += [(path.parent.name, text) for text in shown]
    return found


def test_every_reflection_has_the_form_that_needs_no_prompt():
    shown = sum(path.read_text().count("grove reflect <<") for path in SKILLS)
    assert len(reflections()) == shown == 4


@pytest.mark.parametrize("text", [pytest.param(text, id=skill) for skill, text in reflections()])
def test_reflection_fits_the_schema(text):
    schema = subprocess.run([GROVE, "reflect", "--schema"], capture_output=True, check=True).stdout
    jsonschema.validate(json.loads(text), json.loads(schema))
