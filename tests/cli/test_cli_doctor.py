"""`grove doctor` as a process, in a project where all is well and in one that is broken in each way."""

import json
import os
import re
import shutil
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from attrs import frozen

PLUGIN = Path(__file__).parents[2] / "plugin"
PROGRAM = Path(sys.executable).with_name("grove")
EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "PreToolUse": "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "PostToolUseFailure": "post-tool-use-failure",
    "TaskCompleted": "task-completed",
    "Stop": "stop",
    "SessionEnd": "session-end",
}
TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
MATCHER = "Bash|TaskUpdate|TodoWrite|mcp__.*"
FILES = "Read|Edit|Write|MultiEdit|NotebookEdit"
KEY = "-----BEGIN RSA PRIVATE KEY-----"


def hooks(program=PROGRAM, matcher=MATCHER, without=(), conditions=None, files=FILES):
    """grove's hooks as they stand in the client's settings."""
    found = {}
    for event, name in EVENTS.items():
        hook = {"type": "command", "command": str(program), "args": ["hook", name]}
        group = {"hooks": [hook]}
        if event in TOOL_EVENTS:
            group["matcher"] = matcher
        if event in TOOL_EVENTS and conditions:
            narrowed = [{**hook, "if": condition} for condition in conditions]
            rest = {"matcher": "TaskUpdate|TodoWrite|mcp__.*", "hooks": [hook]}
            found[event] = [{"matcher": "Bash", "hooks": narrowed}, rest]
        elif event not in without:
            found[event] = [group]
        if event == "PostToolUse" and event in found and files:
            found[event].append({"matcher": files, "hooks": [hook]})
    return {"hooks": found}


def settings(world, content, name="settings.local.json"):
    path = world.project / ".claude" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def script(world, text, name="grove"):
    """A program outside of what grove may write to."""
    path = world.others / "programs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def changes_settings(world, *words):
    """Runs a command that is meant to write into the client's settings, or git's."""
    process = world.start(*words)
    out, err = process.communicate(b"", timeout=60)
    assert process.returncode == 0, (out, err)


def record(world, program):
    world.grove_home.mkdir(exist_ok=True)
    (world.grove_home / "program").write_text(f"{program}\n")


def make_healthy(world):
    world.environment["PATH"] = f"{PROGRAM.parent}{os.pathsep}{world.environment['PATH']}"
    world.use_beads()
    world.make_git()
    changes_settings(world, "init")
    settings(world, hooks())
    agent = world.agent()
    agent.starts()
    agent.ends()


@pytest.fixture(scope="module")
def made():
    """The project that the others are copies of, once there is one."""
    return []


@pytest.fixture
def healthy(world, made, tmp_path_factory):
    """A project in which everything is as it should be, and a session has run."""
    if not made:
        made.append(type(world)(tmp_path_factory.mktemp("healthy").resolve()))
        make_healthy(made[0])
    (original,) = made
    shutil.copytree(original.folder, world.folder, symlinks=True, dirs_exist_ok=True)
    for path in (world.grove_home / "sessions").iterdir():
        path.write_text(path.read_text().replace(str(original.folder), str(world.folder)))
    world.environment["PATH"] = original.environment["PATH"]
    return world


@frozen
class Report:
    """What `grove doctor --json` says."""

    code: int
    checks: list

    def of(self, name):
        return [check for check in self.checks if check["name"] == name]

    def not_ok(self):
        return {check["name"]: check["status"] for check in self.checks if check["status"] != "ok"}


def everything(world):
    """Every file of a world, with its bytes, its mode and the time it was written."""
    found = {}
    for path in sorted(world.folder.rglob("*")):
        if world.others in path.parents:
            continue  # Python itself leaves bytecode beside a plugin
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[path] = (status.st_mode, status.st_mtime_ns, content)
    return found


def examine(world, **variables):
    """Runs doctor, and asserts that it changes nothing and keeps to its form."""
    before = everything(world)
    done = world.grove("doctor", "--json", **variables)
    assert everything(world) == before
    assert "Traceback" not in done.stderr
    assert done.stderr == ""
    document = done.json
    assert set(document) == {"ok", "checks"}
    for check in document["checks"]:
        assert set(check) == {"name", "status", "detail", "mend"}
        assert check["detail"]
        assert bool(check["mend"]) is (check["status"] != "ok"), check
        assert "\n" not in check["detail"] + check["mend"]
    broken = any(check["status"] == "broken" for check in document["checks"])
    assert document["ok"] is not broken
    assert done.code == (1 if broken else 0)
    return Report(done.code, document["checks"])


def finds(world, name, status, *words, **variables):
    """Asserts that doctor says this of one thing, in these words."""
    report = examine(world, **variables)
    found = [check for check in report.of(name) if check["status"] == status]
    assert found, (name, report.not_ok())
    text = " ".join(f"{check['detail']} {check['mend']}" for check in found)
    for word in words:
        assert str(word) in text, (word, text)
    return report


# --- all is well --------------------------------------------------------------------------------


def test_a_healthy_project_has_nothing_to_mend(healthy):
    report = examine(healthy)
    assert report.not_ok() == {}
    assert {check["name"] for check in report.checks} == {
        "python", "installation", "program of hooks", "program of agents", "memory backends",
        "ticket systems", "hooks registered", "registered program", "tools of ticket systems",
        "hooks running", "session state", "debts", "grove's own directory", "permissions",
        "free space", "project", "git attributes", "merge driver", "git", "primary backend",
        "personal backend",
        "event log", "personal event log", "statistics cache", "decay", "markdown learnings",
        "total recall", "secrets", "outbox", "configuration", "clock", "crashes", "errors",
    }  # fmt: skip


def test_people_get_one_line_a_check_and_a_summary(healthy):
    done = healthy.grove("doctor")
    assert (done.code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    number = len(examine(healthy).checks)
    assert lines[-1] == f"All is well: {number} checks."
    assert sum(line.startswith("ok      ") for line in lines) == number
    assert "\x1b" not in done.stdout
    assert healthy.grove("doctor", "-q") == type(done)(0, "", "")


def test_what_is_broken_comes_last_with_its_mend_below(healthy):
    (healthy.project / ".grove" / ".gitattributes").write_text("")
    record(healthy, "/nowhere/grove")
    settings(healthy, "{broken")
    done = healthy.grove("doctor")
    assert done.code == 1
    marks = [line[:8].strip() for line in done.stdout.splitlines() if line[:1] not in ("", " ")][
        :-1
    ]
    assert marks == sorted(marks, key=["ok", "warning", "broken"].index)
    assert set(marks) == {"ok", "warning", "broken"}
    lines = done.stdout.splitlines()
    for line, below in pairwise(lines):
        assert below.startswith("          → ") is line.startswith(("warning ", "broken "))
    assert lines[-1].endswith("checks.")
    assert "1 broken, 3 warnings" in lines[-1]
    quiet = healthy.grove("doctor", "--quiet")
    assert (quiet.code, quiet.stdout) == (1, "client's settings\n")


def test_a_machine_that_grove_has_never_seen_stays_as_it_is(world):
    report = examine(world)
    assert not world.grove_home.exists()
    assert list(world.project.iterdir()) == []
    assert report.code == 1
    assert report.not_ok() == {
        "program of hooks": "warning",
        "program of agents": "warning",
        "hooks registered": "broken",
        "hooks running": "warning",
        "project": "warning",
    }


def test_doctor_has_a_session_of_its_own_project_only(healthy):
    other = healthy.project / "elsewhere"
    (other / ".grove").mkdir(parents=True)
    done = healthy.grove("doctor", "--json", "-C", other)
    (check,) = [one for one in done.json["checks"] if one["name"] == "hooks running"]
    assert check["status"] == "warning"
    assert "other projects: 1" in check["detail"]


# --- programs -----------------------------------------------------------------------------------


def test_a_recorded_program_that_is_gone_is_passed_over(healthy):
    record(healthy, "/nowhere/bin/grove")
    report = finds(
        healthy, "recorded program", "warning", "/nowhere/bin/grove", "not exist", "init"
    )
    assert report.of("program of hooks")[0]["status"] == "ok"


def test_no_program_is_left(healthy):
    record(healthy, "/nowhere/bin/grove")
    path = healthy.environment["PATH"].partition(os.pathsep)[2]
    finds(healthy, "program of hooks", "broken", "no grove", "init", PATH=path)


STARTS = {
    "fails": ("#!/bin/sh\n# grove_core\necho bad luck >&2\nexit 7\n", "bad luck"),
    "is silent": ("#!/bin/sh\n# grove_core\n", "exit code 0"),
    "hangs": ("#!/bin/sh\n# grove_core\nexec sleep 20\n", "did not end"),
}


@pytest.mark.parametrize("case", STARTS)
def test_the_program_of_hooks_does_not_start(healthy, case):
    text, word = STARTS[case]
    record(healthy, script(healthy, text))
    finds(healthy, "program of hooks", "broken", "does not start", word)


def test_the_program_of_hooks_has_lost_its_interpreter(healthy):
    record(healthy, script(healthy, "#!/nowhere/python\nimport grove_core\n"))
    finds(healthy, "recorded program", "warning", "/nowhere/python is gone")


def test_hooks_start_another_installation(healthy):
    record(healthy, script(healthy, "#!/bin/sh\n# grove_core\necho grove 0.0.1\n"))
    finds(healthy, "program of hooks", "warning", "another installation", "grove 0.0.1", PROGRAM)


def test_another_program_of_the_name_is_on_path(healthy):
    other = script(healthy, "#!/bin/sh\necho I plant trees\n")
    path = f"{other.parent}{os.pathsep}{healthy.environment['PATH']}"
    finds(healthy, "program of agents", "warning", other, "another program", PATH=path)


def test_hooks_look_further_than_the_first_program_of_the_name(healthy):
    """As the launcher does; whoever types `grove` starts the other one."""
    other = script(healthy, "#!/bin/sh\necho I plant trees\n")
    record(healthy, "")
    path = f"{other.parent}{os.pathsep}{healthy.environment['PATH']}"
    report = examine(healthy, PATH=path)
    assert report.not_ok() == {"program of agents": "warning"}
    assert str(PROGRAM) in report.of("program of hooks")[0]["detail"]


def test_the_variable_names_no_program(healthy):
    finds(healthy, "GROVE_PROGRAM", "warning", "is no absolute path", GROVE_PROGRAM="bin/grove")


# --- plugins ------------------------------------------------------------------------------------


def test_a_plugin_that_cannot_be_imported_is_broken(healthy):
    healthy.install_plugin("acme", 'raise RuntimeError("no luck")\n')
    finds(healthy, "plugin acme", "broken", "acme 1.0", "no luck", "upgrade")


def test_a_plugin_for_a_newer_grove_is_broken(healthy):
    healthy.install_plugin("acme", "grove_api = 99\n")
    finds(healthy, "plugin acme", "broken", "refused", "99")


def test_a_name_that_two_plugins_provide_is_a_warning(healthy):
    healthy.install_plugin("markdown", "", group="grove.backends")
    finds(healthy, "plugin markdown", "warning", "shadowed", "grove-backend-markdown")


def test_a_plugin_that_says_nothing_sensible_is_a_warning(healthy):
    source = "from grove_core import hookimpl\n@hookimpl\ndef grove_commands():\n    return 7\n"
    healthy.install_plugin("acme", source)
    finds(healthy, "plugin acme", "warning", "grove_commands", "returned int")


def test_plugins_that_the_environment_switches_off_are_not_missing(healthy):
    report = finds(
        healthy, "memory backends", "broken", "blocked by GROVE_PLUGINS", GROVE_PLUGINS=""
    )
    for name in ("memory backends", "ticket systems", "primary backend"):
        (check,) = report.of(name)
        assert check["status"] == "broken"
        assert "unset GROVE_PLUGINS" in check["mend"]
        assert "pip install" not in check["mend"]


def test_plugins_that_the_command_line_switches_off_are_not_missing(healthy):
    done = healthy.grove("--no-plugins", "doctor", "--json")
    for check in done.json["checks"]:
        assert "pip install" not in check["mend"]
        if check["name"] in ("memory backends", "ticket systems", "primary backend"):
            assert "blocked by --no-plugins" in check["detail"]
            assert "without --no-plugins" in check["mend"]


def test_a_plugin_that_the_configuration_blocks_is_not_missing(healthy):
    path = healthy.project / ".grove" / "config.toml"
    path.write_text("[backends.overrides]\nmarkdown = false\n")
    key = "backends.overrides.markdown"
    report = finds(
        healthy, "primary backend", "broken", f"blocked by {key}", f"{key} out of {path}"
    )
    assert "pip install" not in report.of("primary backend")[0]["mend"]
    path.write_text(
        "[backends.overrides]\nmarkdown = false\nmcp = false\ntotal-recall = false\npostgres = false\n"
    )
    report = finds(
        healthy, "memory backends", "broken", f"blocked by {key}", f"{key} out of {path}"
    )
    assert "pip install" not in report.of("memory backends")[0]["mend"]


def test_the_backend_of_personal_learnings_is_blocked(healthy):
    healthy.install_plugin("acme", BACKEND.format(ping="return None", open="pass"))
    path = healthy.project / ".grove" / "config.toml"
    path.write_text("[backends.overrides]\nmarkdown = false\n")
    key = "backends.overrides.markdown"
    report = finds(
        healthy, "personal backend", "warning", f"blocked by {key}", f"{key} out of {path}"
    )
    assert "pip install" not in report.of("personal backend")[0]["mend"]


CHECKS = """
import time
from grove_core import Health, HealthCheck, hookimpl

def run(context):
    {body}

@hookimpl
def grove_health_checks():
    return [HealthCheck(name="acme store", run=run)]
"""


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (
            "return Health(ok=True, detail='all shelves are full', location='/shelf')",
            "ok",
            "/shelf",
        ),
        ("return Health(ok=False, detail='the shelf is gone')", "broken", "the shelf is gone"),
        ("raise OSError('no shelf')", "broken", "no shelf"),
        ("raise SystemExit(0)", "broken", "SystemExit"),
        ("return 'fine'", "broken", "no health"),
        ("time.sleep(20)", "broken", "longer than 2 seconds"),
        ("return Health(ok=False, detail='\\x1b[31mred\\nalert')", "broken", "red"),
    ],
)
def test_plugins_have_checks_of_their_own(healthy, body, status, word):
    healthy.install_plugin("acme", CHECKS.format(body=body))
    report = finds(healthy, "acme store", status, word)
    assert "\x1b" not in report.of("acme store")[0]["detail"]


# --- hooks --------------------------------------------------------------------------------------


def test_an_event_is_not_registered(healthy):
    settings(healthy, hooks(without=("Stop", "SessionEnd")))
    finds(healthy, "hooks registered", "broken", "Stop, SessionEnd", "init --hooks")


def test_no_hook_is_registered_and_none_has_run(healthy):
    settings(healthy, {})
    for path in (healthy.grove_home / "sessions").iterdir():
        path.unlink()
    report = finds(healthy, "hooks registered", "broken", "no hook", "init --hooks")
    assert report.of("hooks running")[0]["status"] == "warning"


def test_hooks_that_ran_and_stand_in_no_file(healthy):
    """A plugin that is given on the client's command line stands in no settings."""
    settings(healthy, {})
    words = ("in no file", "last ran at", "command line", "grove init --hooks")
    finds(healthy, "hooks registered", "warning", *words)


def test_after_uninstall_nothing_is_registered(healthy):
    settings(healthy, {})
    changes_settings(healthy, "init", "--hooks")
    changes_settings(healthy, "init", "--uninstall")
    finds(healthy, "hooks registered", "warning", "in no file", "grove init --hooks")


def test_hooks_of_plugin_and_settings_run_twice(healthy):
    path = f"{PLUGIN / 'bin'}{os.pathsep}{healthy.environment['PATH']}"
    finds(healthy, "registered twice", "warning", "Stop", "settings.local.json", PATH=path)


def test_hooks_of_two_settings_files_run_twice(healthy):
    """What is told to be done ends it."""
    settings(healthy, hooks(), "settings.json")
    words = ("settings.json", "settings.local.json", "grove init --uninstall --shared")
    finds(healthy, "registered twice", "warning", *words, "then: grove init --hooks --shared")
    changes_settings(healthy, "init", "--uninstall", "--shared")
    changes_settings(healthy, "init", "--hooks", "--shared")
    assert examine(healthy).not_ok() == {}


def test_the_plugin_alone_is_complete(healthy):
    settings(healthy, {})
    path = f"{PLUGIN / 'bin'}{os.pathsep}{healthy.environment['PATH']}"
    assert examine(healthy, PATH=path).not_ok() == {}


def test_a_registered_program_is_missing(healthy):
    path = settings(healthy, hooks(program="/nowhere/bin/grove"))
    finds(
        healthy, "registered program", "broken", "/nowhere/bin/grove does not exist",
        f"grove init --hooks writes {path} anew",
    )  # fmt: skip
    changes_settings(healthy, "init", "--hooks")
    assert examine(healthy).not_ok() == {}


def test_a_program_of_the_shared_settings_is_missing(healthy):
    """What is told to be done mends it, and registers nothing twice."""
    settings(healthy, {})
    path = settings(healthy, hooks(program="/nowhere/bin/grove"), "settings.json")
    finds(
        healthy, "registered program", "broken", f"grove init --hooks --shared writes {path} anew"
    )
    changes_settings(healthy, "init", "--hooks", "--shared")
    assert examine(healthy).not_ok() == {}


def test_a_program_of_the_users_settings_is_missing(healthy):
    settings(healthy, {})
    path = healthy.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(hooks(program="/nowhere/bin/grove")))
    report = finds(
        healthy, "registered program", "broken", f"Edit {path}",
        f"name {PROGRAM} instead of /nowhere/bin/grove",
    )  # fmt: skip
    assert "init" not in report.of("registered program")[0]["mend"]


def test_dead_hooks_beside_working_ones_are_to_be_removed(healthy):
    settings(healthy, hooks(program="/nowhere/bin/grove"), "settings.json")
    words = ("grove init --uninstall --shared", "then: grove init --hooks")
    report = finds(healthy, "registered twice", "warning", *words)
    assert not report.of("registered twice")[0]["mend"].endswith("--shared")
    finds(healthy, "registered program", "broken", *words)
    changes_settings(healthy, "init", "--uninstall", "--shared")
    changes_settings(healthy, "init", "--hooks")
    assert examine(healthy).not_ok() == {}


def test_dead_hooks_of_the_user_beside_working_ones(healthy):
    path = healthy.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(hooks(program="/nowhere/bin/grove")))
    report = finds(healthy, "registered twice", "warning", f"take grove's hooks out of {path}")
    assert "init" not in report.of("registered twice")[0]["mend"]


def test_hooks_of_the_shared_settings_lack_an_event(healthy):
    settings(healthy, {})
    settings(healthy, hooks(without=("Stop",)), "settings.json")
    finds(healthy, "hooks registered", "broken", "Stop", "grove init --hooks --shared")


def test_a_registered_program_is_never_run(healthy):
    """A project's settings are a stranger's text."""
    trap = script(healthy, f"#!/bin/sh\n# grove_core\ntouch {healthy.others}/sprung\n")
    settings(healthy, hooks(program=trap))
    examine(healthy)
    assert not (healthy.others / "sprung").exists()


def test_a_registered_program_is_not_executable(healthy):
    program = script(healthy, "#!/bin/sh\n")
    program.chmod(0o644)
    settings(healthy, hooks(program=program))
    finds(healthy, "registered program", "broken", "is not executable")


def test_all_hooks_are_switched_off(healthy):
    path = settings(healthy, {**hooks(), "disableAllHooks": True})
    finds(healthy, "client's settings", "broken", path, "disableAllHooks")


def test_a_settings_file_is_no_json(healthy):
    path = settings(healthy, '{\n  "hooks": nonsense}\n', "settings.json")
    finds(healthy, "client's settings", "broken", path, "cannot be used", "line 2, column 12")


@pytest.mark.parametrize(("text", "why"), [('{"hooks": []}', "hooks"), ("[]", "JSON object")])
def test_settings_that_are_something_else(healthy, text, why):
    path = settings(healthy, text)
    finds(healthy, "client's settings", "broken", path, "cannot be used", why)


def test_hooks_that_run_another_installation(healthy):
    other = script(healthy, "#!/bin/sh\nexit 0  # grove_core\n")
    settings(healthy, hooks(program=other))
    finds(healthy, "registered program", "warning", other, "another installation")


@pytest.mark.parametrize(
    ("matcher", "missed"),
    [
        ("Bash", "mcp__* (beads"),
        ("Bash|mcp__.*", "TaskUpdate (tasks; PreToolUse, PostToolUse, PostToolUseFailure)"),
        ("TaskUpdate|TodoWrite|mcp__.*", "Bash (tissue, beads"),
        ("bash|TaskUpdate|TodoWrite|mcp__.*", "; PreToolUse, PostToolUse, PostToolUseFailure)"),
    ],
)
def test_tools_that_no_matcher_covers_are_named(healthy, matcher, missed):
    settings(healthy, hooks(matcher=matcher))
    finds(healthy, "tools of ticket systems", "broken", missed)


@pytest.mark.parametrize("matcher", ["", "*", ".*"])
def test_matchers_that_cover_every_tool(healthy, matcher):
    settings(healthy, hooks(matcher=matcher))
    assert "tools of ticket systems" not in examine(healthy).not_ok()


@pytest.mark.parametrize(
    ("files", "missed"),
    [
        (None, "Read, Edit, Write, MultiEdit, NotebookEdit: what learnings say"),
        ("Edit|Write", "Read, MultiEdit, NotebookEdit:"),
        ("read|Edit|Write|MultiEdit|NotebookEdit", "Read:"),
    ],
)
def test_hooks_of_an_older_grove_know_nothing_of_files(healthy, files, missed):
    path = settings(healthy, hooks(files=files))
    words = (missed, f"grove init --hooks writes {path} anew", "retrieval.on_file = false")
    report = finds(healthy, "tools that touch files", "warning", *words)
    assert list(report.not_ok()) == ["tools that touch files"]
    assert examine(healthy, GROVE_RETRIEVAL_ON_FILE="false").not_ok() == {}
    changes_settings(healthy, "init", "--hooks")
    assert examine(healthy).not_ok() == {}


SHELLS = ("Bash(*bash*)", "Bash(sh *)")


@pytest.mark.parametrize("shells", [(), SHELLS, ("Bash(*sh*)",)])
def test_hooks_are_narrowed_to_another_ticket_system(healthy, shells):
    settings(healthy, hooks(conditions=("Bash(*tissue*)", *shells)))
    finds(healthy, "conditions of hooks", "broken", "beads", "Bash(*tissue*)")
    settings(healthy, hooks(conditions=("Bash(*tissue*)", "Bash(*bd*)", *shells)))
    report = examine(healthy)
    assert report.not_ok() == {}
    (check,) = report.of("conditions of hooks")
    assert "Bash(*tissue*)" in check["detail"]


@pytest.mark.parametrize("shells", [SHELLS, ("Bash(*sh*)",)])
def test_hooks_are_narrowed_to_a_ticket_system_that_is_gone(healthy, shells):
    path = settings(healthy, hooks(conditions=("Bash(*bd*)", *shells)))
    assert examine(healthy).not_ok() == {}
    shutil.rmtree(healthy.project / ".beads")
    words = ("Bash(*bd*)", "beads is not used here", f"grove init --hooks writes {path} anew")
    report = finds(healthy, "conditions of hooks", "warning", *words)
    (check,) = report.of("conditions of hooks")
    assert not any(shell in check["detail"] for shell in shells)


def test_hooks_are_narrowed_by_the_words_of_a_pattern_as_well(healthy):
    """What the configuration has come to define, the hooks that stand there may not see."""
    (healthy.project / ".grove" / "config.toml").write_text(
        '[[ticketing.patterns]]\nname = "acme"\ncommand = "acme close {id}"\n'
    )
    settings(healthy, hooks(conditions=("Bash(*bd*)", *SHELLS)))
    finds(healthy, "conditions of hooks", "broken", "closes of acme are not seen")
    changes_settings(healthy, "init", "--hooks")
    assert examine(healthy).not_ok() == {}


# --- sessions -----------------------------------------------------------------------------------


def test_a_debt_is_named(healthy):
    agent = healthy.agent("monday")
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    agent.ends()
    finds(healthy, "debts", "warning", "monday", "bd-1", "grove reflect --session-id monday")


def test_the_debt_of_a_session_that_goes_on_is_its_own_affair(healthy):
    agent = healthy.agent("monday")
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    assert "debts" not in examine(healthy).not_ok()


def test_state_that_cannot_be_read_is_named(healthy):
    path = healthy.grove_home / "sessions" / "tuesday.json"
    path.write_text("{torn")
    words = (path, "If it goes on, its next hook sets it aside", "grove clean --orphans deletes it")
    finds(healthy, "session state", "warning", *words, "24 hours after it was written")


def test_state_of_a_session_that_is_over_is_deleted_by_what_is_told(healthy):
    path = healthy.grove_home / "sessions" / "tuesday.json"
    path.write_text("{torn")
    os.utime(path, (path.stat().st_mtime - 90_000,) * 2)
    report = finds(healthy, "session state", "warning", path, "grove clean --orphans deletes it")
    assert "next hook" not in report.of("session state")[0]["mend"]
    assert healthy.grove("clean", "--orphans").code == 0
    assert "session state" not in examine(healthy).not_ok()


def test_state_that_is_no_plain_file_is_left_to_people(healthy):
    path = healthy.grove_home / "sessions" / "tuesday.json"
    path.mkdir()
    finds(healthy, "session state", "warning", path, "no plain file", f"Look at {path}")


def test_state_that_was_set_aside_is_named(healthy):
    path = healthy.grove_home / "sessions" / "tuesday.json"
    path.write_text("{torn")
    healthy.agent("tuesday").stops()
    aside = path.with_name("tuesday.json.corrupt-1")
    assert aside.exists()
    finds(healthy, "session state", "warning", aside, "set aside")


# --- grove's own directory ----------------------------------------------------------------------


def test_the_directory_is_a_file(healthy):
    home = healthy.folder / "no-directory"
    home.write_text("")
    finds(healthy, "grove's own directory", "broken", home, "no directory", GROVE_HOME=home)


def test_a_directory_in_it_is_a_file(healthy):
    (healthy.grove_home / "outbox").write_text("")
    path = healthy.grove_home / "outbox"
    finds(healthy, "grove's own directory", "broken", path)


def test_everybody_may_write_to_the_directory(healthy):
    healthy.grove_home.chmod(0o777)
    finds(healthy, "permissions", "broken", "every user", f"chmod o-w {healthy.grove_home}")


# --- the project --------------------------------------------------------------------------------


def test_the_directory_leads_out_of_the_project(healthy):
    outside = healthy.others / "grove"
    outside.parent.mkdir(exist_ok=True)
    (healthy.project / ".grove").rename(outside)
    (healthy.project / ".grove").symlink_to(outside)
    finds(healthy, "project", "broken", "leads out of the project", outside)


@pytest.mark.parametrize(
    ("text", "word"),
    [(None, "is missing"), ("", "stats.log"), ("stats.log merge=union\n", "learnings.md")],
)
def test_git_does_not_know_how_to_merge(healthy, text, word):
    path = healthy.project / ".grove" / ".gitattributes"
    path.unlink()
    if text is not None:
        path.write_text(text)
    finds(healthy, "git attributes", "warning", path, word, "grove init")


def test_a_clone_has_no_merge_driver(healthy):
    healthy.git("config", "--unset", "merge.grove.driver")
    finds(healthy, "merge driver", "warning", "not registered in this clone", "grove init")


def test_git_ignores_learnings(healthy):
    (healthy.project / ".gitignore").write_text(".grove\n")
    finds(healthy, "git", "warning", ".grove/learnings.md", ".gitignore")


def test_what_git_tracks_is_not_ignored(healthy):
    healthy.git("add", "-f", ".grove")
    (healthy.project / ".gitignore").write_text(".grove/*.md\n")
    assert "git" not in examine(healthy).not_ok()


def test_a_broken_repository_is_no_fault_of_groves(healthy):
    (healthy.project / ".git" / "HEAD").write_text("nonsense")
    assert "git" not in examine(healthy).not_ok()


# --- memory -------------------------------------------------------------------------------------


def test_the_primary_backend_cannot_write(healthy):
    path = healthy.project / ".grove" / "learnings.md"
    path.unlink()
    path.mkdir()
    finds(healthy, "primary backend", "broken", path, "outbox")


BACKEND = """
import time
from grove_core import BackendSpec, Detection, Health, hookimpl

class Backend:
    name = "acme"
    capabilities = frozenset()
    write = search = get = iterate = set_status = None
    def write(self, learning): raise OSError("full")
    def search(self, query, filters): return []
    def get(self, learning_id): return None
    def iterate(self): return []
    def set_status(self, learning_id, status, note=""): raise OSError
    def ping(self):
        {ping}

def open_(context):
    {open}
    return Backend()

@hookimpl
def grove_memory_backends():
    return [BackendSpec(name="acme", detect=lambda context: Detection(marker="acme"), open=open_)]
"""


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ({"ping": "return Health(ok=False, detail='the server is down')"}, "the server is down"),
        ({"ping": "raise OSError"}, "did not answer"),
        ({"ping": "time.sleep(20)"}, "did not answer"),
        ({"open": "raise OSError"}, "does not open"),
    ],
)
def test_a_backend_of_somebody_else_fails(healthy, lines, word):
    source = BACKEND.format(**{"ping": "return None", "open": "pass", **lines})
    healthy.install_plugin("acme", source, group="grove.backends")
    finds(healthy, "further backend", "warning", "acme", word)
    (healthy.project / ".grove" / "config.toml").write_text('[backends]\nprimary = "acme"\n')
    finds(healthy, "primary backend", "broken", "acme", word)


def test_learnings_wait_for_their_backend(healthy, candidate):
    path = healthy.project / ".grove" / "learnings.md"
    path.unlink()
    path.mkdir()
    agent = healthy.agent("monday")
    agent.starts()
    assert agent.reflects(candidate()).code == 0
    finds(healthy, "outbox", "warning", "wait for their backend: 1", "delivers")


def test_an_entry_of_the_outbox_cannot_be_read(healthy):
    path = healthy.grove_home / "outbox" / "cl_20300101_aaaaaa.json"
    path.parent.mkdir()
    path.write_text("{torn")
    finds(healthy, "outbox", "broken", path)


def test_a_log_has_lines_that_cannot_be_read(healthy):
    path = healthy.project / ".grove" / "stats.log"
    written = {"v": 1, "ts": "2030-01-02T10:00:00Z", "grove": "0.1.0"}
    event = {**written, "event": "rated", "learning_id": "cl_1", "useful": True}
    lines = [
        "<<<<<<< ours",
        json.dumps(event),
        "=======",
        json.dumps({**event, "useful": False}),
        ">>>>>>> theirs",
        json.dumps({**written, "event": "celebrated"}),
        json.dumps({**written, "v": 2, "event": "rated", "id": "cl_1"}),
        "nonsense",
        json.dumps(event)[:30],
    ]
    before = len(path.read_text().splitlines()) if path.exists() else 0
    with path.open("a") as file:
        file.write("\n".join(lines))
    report = examine(healthy)
    found = [check["detail"] for check in report.of("event log")]
    assert {check["status"] for check in report.of("event log")} == {"warning"}
    for first, words in (
        (f"{before + 1}, {before + 3}, {before + 5}", "3 markers of a merge conflict"),
        (before + 6, "only a newer grove knows"),
        (before + 7, "newer version of the format"),
        (before + 8, "no event"),
        (before + 9, "not written to its end"),
    ):
        (detail,) = [each for each in found if words in each]
        assert detail.startswith(f"{path}:{first}: ")
    assert len(found) == 5


def test_a_log_of_many_files_is_read_whole(healthy):
    folder = healthy.project / ".grove" / "stats"
    folder.mkdir()
    (folder / "0123456789abcdef.jsonl").write_text("<<<<<<< ours\n")
    finds(healthy, "event log", "warning", f"{folder}/0123456789abcdef.jsonl:1: 1 marker")


def test_a_personal_log_is_read_as_well(healthy):
    path = healthy.grove_home / "personal-stats.log"
    path.write_text('{"v": 1')
    finds(healthy, "personal event log", "warning", f"{path}:1:", "not written to its end")


def test_a_cache_that_cannot_be_used_is_made_anew(healthy):
    shutil.rmtree(healthy.grove_home / "cache")
    assert "first needed" in examine(healthy).of("statistics cache")[0]["detail"]
    healthy.grove("list")
    (path,) = healthy.grove_home.glob("cache/*/stats.sqlite")
    path.write_bytes(b"no database at all, and long enough to be read as a header" * 100)
    finds(healthy, "statistics cache", "warning", path, "made anew")
    assert healthy.grove("list").code == 0
    assert examine(healthy).of("statistics cache")[0]["status"] == "ok"


def test_decay_that_no_longer_runs_is_named(healthy):
    shutil.rmtree(healthy.grove_home / "cache")
    assert "has not run here yet" in examine(healthy).of("decay")[0]["detail"]
    healthy.learning("cl_20300102_aaaaaa", "OrderStore.export() runs one query per order")
    healthy.agent("session-2").starts()
    (stamp,) = healthy.grove_home.glob("cache/*/decayed")
    assert "last ran at" in examine(healthy).of("decay")[0]["detail"]
    stamp.write_text("2020-01-02T10:00:00Z")
    finds(healthy, "decay", "warning", "2020-01-02T10:00:00Z", "grove maintain decay")


def test_a_log_is_no_file(healthy):
    path = healthy.project / ".grove" / "stats.log"
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    finds(healthy, "event log", "broken", path, "no plain file")


def test_learnings_that_cannot_be_read_are_named(healthy):
    with healthy.learnings_file.open("a") as file:
        file.write("### [cl_20300101_aaaaaa] Too short\n\n")
    report = finds(healthy, "markdown learnings", "broken", "learnings.md line", "maintain repair")
    (backend,) = report.of("primary backend")
    assert backend["status"] == "warning"
    assert "grove maintain repair" in backend["mend"]
    assert "0 learnings; 1 fault (" in backend["detail"]


def test_what_repair_mends_is_sent_there(healthy):
    learning = "cl_20300101_aaaaaa"
    healthy.learning(learning, "OrderStore.export() runs one query per order")
    healthy.learning(learning, "OrderStore.export() runs one query per order, again")
    with healthy.learnings_file.open("a") as file:
        file.write("<<<<<<< HEAD\n=======\n>>>>>>> theirs\n")
    with (healthy.project / ".grove" / "stats.log").open("a") as file:
        file.write("<<<<<<< HEAD\n=======\n>>>>>>> theirs\n")
    repair = "grove maintain repair"
    finds(healthy, "markdown learnings", "broken", "conflict marker", "already; the first", repair)
    finds(healthy, "event log", "warning", "markers of a merge conflict", repair)
    shown = healthy.grove("status").stdout
    assert "markdown (primary) works: 1 learning; 4 faults\n" in shown
    (line,) = [one for one in shown.splitlines() if "first one counts" in one]
    assert line.startswith("Check     markdown learnings: learnings.md line ")
    assert len(line) < 220
    assert healthy.grove("maintain", "repair").code == 0
    assert examine(healthy).of("markdown learnings")[0]["status"] == "ok"


def test_what_is_wrong_with_the_own_learnings_is_no_work_for_repair(healthy):
    healthy.learning("cl_20300101_aaaaaa", "I prefer short names", personal=True)
    with (healthy.grove_home / "personal-learnings.md").open("a") as file:
        file.write("<<<<<<< HEAD\n")
    report = finds(healthy, "personal backend", "warning", "line", "by hand")
    assert "repair" not in report.of("personal backend")[0]["mend"]


def test_a_private_key_is_named_and_not_shown(healthy):
    body = "MIIEowIBAAKCAQEAv7qk3Zs0p1XnQ8rWm5tYh2LdBc9fGj"
    healthy.learning("cl_20300102_aaaaaa", "Deploys need this key", detail=f"{KEY}\n{body}")
    line = next(
        number
        for number, text in enumerate(healthy.learnings_file.read_text().splitlines(), start=1)
        if KEY in text
    )
    report = finds(healthy, "secrets", "broken", f"learnings.md:{line}: ")
    assert "MIIE" not in json.dumps(report.checks).replace("MIIE***", "")


def test_a_token_in_a_log_is_named_until_it_is_allowed(healthy):
    token = "ghp_" + "1234567890abcdefghijABCDEFGHIJ123456"
    path = healthy.project / ".grove" / "stats.log"
    event = {"v": 1, "ts": "2030-01-02T10:00:00Z", "event": "skip", "grove": "0.1.0"}
    event |= {"session_id": "s", "reason": f"It is only {token}", "decider": "user"}
    with path.open("a") as file:
        file.write(json.dumps(event) + "\n")
    line = len(path.read_text().splitlines())
    report = finds(healthy, "secrets", "broken", f"{path}:{line}: GitHub token", "secrets.allow")
    assert token not in json.dumps(report.checks)
    (digest,) = re.findall('"([0-9a-f]{16})"', report.of("secrets")[0]["mend"])
    config = healthy.project / ".grove" / "config.toml"
    config.write_text(f'[secrets]\nallow = ["{digest}"]\n')
    assert examine(healthy).of("secrets")[0]["status"] == "ok"


# --- configuration, clock, logs -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "status", "word"),
    [
        ("[gate\n", "broken", "TOML"),
        ('[gate]\nsession = "maybe"\n', "warning", "gate.session"),
        ("[gate]\nsesion = 1\n", "warning", "gate.sesion"),
        ('[backends]\nprimary = "postgres"\n', "warning", "postgres"),
        ("[backends.overrides]\nmarkdwn = false\n", "warning", "backends.overrides.markdwn"),
        ("[ticketing.overrides]\nbugzilla = true\n", "warning", "ticketing.overrides.bugzilla"),
        ('[[ticketing.patterns]]\nname = "acme"\n', "warning", "(acme) needs a command"),
    ],
)
def test_mistakes_in_the_configuration_are_named(healthy, text, status, word):
    path = healthy.project / ".grove" / "config.toml"
    path.write_text(text)
    finds(healthy, "configuration", status, path, word)


def test_a_mistake_in_the_environment_is_named(healthy):
    finds(healthy, "configuration", "warning", "GROVE_GATE_SESSION", GROVE_GATE_SESSION="maybe")


SETTINGS = """
from attrs import frozen
from grove_core import TicketProbe, hookimpl

@frozen
class Settings:
    number: int = 1

@hookimpl
def grove_ticket_probes():
    return [TicketProbe(name="acme", detect=lambda context: None, settings=Settings)]
"""


def test_a_mistake_in_a_plugins_section_is_named(healthy):
    healthy.install_plugin("acme", SETTINGS, group="grove.tickets")
    (healthy.project / ".grove" / "config.toml").write_text('[tickets.acme]\nnumber = "many"\n')
    finds(healthy, "configuration", "warning", "tickets.acme.number")


def test_a_session_comes_from_the_future(healthy):
    path = healthy.grove_home / "sessions" / "session-1.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "updated_at": "2199-01-01T00:00:00Z"}))
    finds(healthy, "clock", "warning", "session session-1", "2199-01-01")


def test_a_file_comes_from_the_future(healthy):
    path = healthy.grove_home / "program"
    os.utime(path, (7_226_582_400, 7_226_582_400))
    finds(healthy, "clock", "warning", path, "2199-01-01")


def test_faults_of_hooks_are_told(healthy):
    healthy.install_plugin("acme", 'raise RuntimeError("no luck")\n', group="grove.tickets")
    healthy.agent("monday").starts()
    assert "ERROR" in healthy.log()
    words = ("no luck", "grove.log", "of all projects", "goes away a day after the last one")
    finds(healthy, "errors", "warning", *words)


# --- the same words elsewhere -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "variables", "cause", "mend"),
    [
        ((), {}, "backends.overrides.markdown", "backends.overrides.markdown out of"),
        (("--no-plugins",), {}, "--no-plugins", "without --no-plugins"),
        ((), {"GROVE_PLUGINS": ""}, "GROVE_PLUGINS", "unset GROVE_PLUGINS"),
    ],
)
@pytest.mark.parametrize("command", ["status", "backends"])
def test_blocked_plugins_are_not_missing(healthy, command, words, variables, cause, mend):
    if not words and not variables:
        text = "[backends.overrides]\nmarkdown = false\nmcp = false\ntotal-recall = false\n"
        (healthy.project / ".grove" / "config.toml").write_text(text)
    done = healthy.grove(*words, command, **variables)
    assert done.code == 0
    assert "pip install" not in done.stdout
    assert f"blocked by {cause}" in done.stdout
    assert mend in done.stdout


def test_one_blocked_backend_stands_in_the_list(healthy):
    text = "[backends.overrides]\nmcp = false\n"
    (healthy.project / ".grove" / "config.toml").write_text(text)
    lines = healthy.grove("backends").stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("mcp ")]
    assert "blocked by backends.overrides.mcp" in line
    backends = healthy.grove("backends", "--json").json["backends"]
    (blocked,) = [one for one in backends if one["name"] == "mcp"]
    assert (blocked["active"], blocked["primary"], blocked["health"]) == (False, False, None)
    assert blocked["why"].startswith("blocked by backends.overrides.mcp")
    assert "grove-backend-mcp" in blocked["plugin"]


def test_a_backend_that_is_named_and_blocked(healthy):
    text = '[backends]\nprimary = "markdown"\n[backends.overrides]\nmarkdown = false\n'
    (healthy.project / ".grove" / "config.toml").write_text(text)
    (warning,) = healthy.grove("status", "--json").json["warnings"]
    assert "names markdown, which is blocked by backends.overrides.markdown" in warning


def test_status_and_sessions_say_the_same_of_a_session_that_died(healthy):
    agent = healthy.agent("monday")
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    path = healthy.grove_home / "sessions" / "monday.json"
    document = {**json.loads(path.read_text()), "updated_at": "2026-01-01T00:00:00Z"}
    path.write_text(json.dumps(document))
    assert "monday  died" in healthy.grove("sessions").stdout
    (debt,) = healthy.grove("status", "--json").json["debts"]
    assert debt.startswith("grove: session monday died without the reflection it owed (bd-1)")
