"""`grove trust`: what a project's files name is neither run nor reached before the user agrees."""

import json
import os
import pty
import re
import subprocess
import sys
from datetime import UTC, datetime

import pytest

ABOUT_ORDERS = "OrderReport.rows() runs one query per order unless prefetched"
OF_THE_SERVER = "The export of orders streams its rows"
# A backend that a project's file describes: it is there only once the user has agreed to it.
PLUGIN = """
import json
from datetime import datetime, timezone
import grove_core as grove
from attrs import field, frozen

@frozen
class Settings:
    command: str = field(default="", metadata=grove.TRUSTED_ONLY)
    size: int = 1

class Backend:
    name = "acme"
    capabilities = frozenset({grove.Capability.ITERATE, grove.Capability.FILES})

    def __init__(self, context):
        self.path = context.root / "acme.json"

    def files(self):
        return [self.path]

    def iterate(self):
        return [grove.Learning(
            id="cl_20300102_cccccc", category=grove.Category.PITFALL, summary="SUMMARY",
            detail="It takes a generator, and never a list of rows.", session_id="earlier",
            timestamp=datetime(2030, 1, 2, tzinfo=timezone.utc))]

    def search(self, query, filters):
        return [grove.Hit(learning=one, relevance=1.0) for one in self.iterate()]

    def write(self, learning):
        raise grove.BackendError("read only")

    def ping(self):
        return grove.Health(ok=True, detail="all is well")

def trust(context):
    path = context.root / "acme.json"
    table = json.loads(path.read_text()) if path.exists() else {}
    return [grove.TrustRequest(subject=f"server {name}", source="acme.json", content=content)
            for name, content in table.items()]

def detect(context):
    (context.home / "settings").write_text(repr(context.settings))
    trusted = [one for one in trust(context) if one.digest in context.trusted]
    return grove.Detection(marker="acme.json") if trusted else None

@grove.hookimpl
def grove_memory_backends():
    return [grove.BackendSpec(name="acme", detect=detect, open=Backend, settings=Settings,
                              paths=("acme.json",), trust=trust)]
""".replace("SUMMARY", OF_THE_SERVER)
CONFIG = '[backends.acme]\ncommand = "/opt/serve"\nsize = 3\n'
SERVER = "npx -y memory-server --token ${TOKEN}"


@pytest.fixture
def project(world):
    """A cloned project whose configuration and own file each name a program."""
    world.grove_home.mkdir()
    world.initialise(CONFIG)
    world.learning("cl_20300102_aaaaaa", ABOUT_ORDERS)
    world.install_plugin("acme", PLUGIN, "grove.backends")
    servers(world, memory=SERVER)
    return world


def servers(world, **described):
    (world.project / "acme.json").write_text(json.dumps(described))


def config(world, text):
    (world.project / ".grove" / "config.toml").write_text(text)


def statuses(world):
    done = world.grove("trust", "--json")
    return {one["subject"]: one["status"] for one in done.json["requests"]}


def settings(world):
    """What the plugin was given, by a command that asks it."""
    assert world.grove("backends").code == 0
    return (world.grove_home / "settings").read_text()


def stored(world):
    return json.loads((world.grove_home / "trust.json").read_text())


def on_terminal(world, *words, answers="", **variables):
    """Runs `grove trust` on a terminal; gives its exit code and all that it shows."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "grove_core._entry", "trust", *words],
        cwd=world.project,
        env={**world.environment, "TERM": "dumb", "COLUMNS": "60", **variables},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    os.write(main, answers.encode())
    shown = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(main)
    return process.wait(timeout=60), re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())


# --- before and after ---------------------------------------------------------------------------


def test_nothing_is_asked_for_where_nothing_is_named(world):
    world.initialise()
    done = world.grove("trust")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout == "Nothing in this project asks for trust.\n"
    assert not (world.grove_home / "trust.json").exists()


def test_everything_is_listed_in_full_with_how_to_agree(project):
    done = project.grove("trust")
    assert done.code == 1
    assert f"server memory (acme.json)  not trusted\n  | {SERVER}\n" in done.stdout
    assert (
        'backends.acme.command (.grove/config.toml)  not trusted\n  | "/opt/serve"' in done.stdout
    )
    assert "2 requests not trusted" in done.stderr
    assert "grove trust --yes" in done.stderr
    assert not (project.grove_home / "trust.json").exists()


def test_a_value_counts_once_the_user_has_agreed(project):
    assert settings(project) == "Settings(command='', size=3)"
    done = project.grove("trust", "--yes")
    assert (done.code, done.stderr) == (0, "")
    assert settings(project) == "Settings(command='/opt/serve', size=3)"
    assert project.grove("trust").code == 0
    assert project.grove("trust", "--revoke").code == 0
    assert settings(project) == "Settings(command='', size=3)"


def test_the_users_own_value_counts_while_the_projects_does_not(project):
    (project.grove_home / "config.toml").write_text('[backends.acme]\ncommand = "mine"\n')
    assert settings(project) == "Settings(command='mine', size=3)"
    shown = project.grove("config", "get", "backends.acme.command", "--json").json
    assert shown["origin"]["source"] == "user"
    project.grove("trust", "--yes")
    assert settings(project) == "Settings(command='/opt/serve', size=3)"


def test_what_needs_trust_is_named_and_is_no_mistake(project):
    found = project.grove("config", "validate", "--json")
    assert (found.code, found.json["valid"], found.json["problems"]) == (0, True, [])
    (warning,) = found.json["warnings"]
    assert "backends.acme.command needs `grove trust`" in warning
    assert warning in project.grove("config", "validate").stderr
    project.grove("trust", "--yes")
    assert project.grove("config", "validate", "--json").json["warnings"] == []


def test_doctor_names_what_is_not_trusted(project):
    def checks():
        found = project.grove("doctor", "--json").json["checks"]
        return [one for one in found if one["name"] == "trust"]

    first, second = checks()
    assert first["status"] == second["status"] == "warning"
    assert "backends.acme.command" in first["detail"]
    assert "server memory" in second["detail"]
    assert "grove trust" in second["mend"]
    project.grove("trust", "--yes")
    assert [one["status"] for one in checks()] == ["ok"]
    servers(project, memory="another")
    assert "changed" in checks()[0]["detail"]


# --- what has been agreed to --------------------------------------------------------------------


def test_the_record_is_by_project_and_digest_and_for_the_user_alone(project):
    done = project.grove("trust", "--yes", "--json")
    digests = [one["digest"] for one in done.json["requests"]]
    assert done.json["agreed"] == digests
    assert project.grove("trust", "-q").stdout.split() == digests
    document = stored(project)
    assert document["version"] == 1
    (entries,) = [document["projects"][str(project.project.resolve())]]
    assert set(entries) == set(digests)
    entry = entries[digests[1]]
    assert (entry["subject"], entry["source"]) == ("server memory", "acme.json")
    assert datetime.fromisoformat(entry["at"]).tzinfo == UTC
    assert (project.grove_home / "trust.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda world: servers(world, memory=f"{SERVER} "), "changed"),
        (lambda world: servers(world, other=SERVER), "new"),
        (lambda world: config(world, CONFIG.replace("serve", "other")), "changed"),
    ],
    ids=["another content", "another name", "another value"],
)
def test_what_has_changed_is_not_trusted_any_more(project, change, expected):
    project.grove("trust", "--yes")
    assert set(statuses(project).values()) == {"trusted"}
    change(project)
    assert sorted(statuses(project).values()) == sorted([expected, "trusted"])
    assert project.grove("trust").code == 1


def test_how_the_file_is_written_does_not_matter(project):
    project.grove("trust", "--yes")
    config(project, "[backends]\nacme = { size = 4, command = '/opt/serve' }\n")
    assert set(statuses(project).values()) == {"trusted"}


def test_an_agreement_takes_the_place_of_the_earlier_one(project):
    project.grove("trust", "--yes")
    servers(project, memory="another")
    project.grove("trust", "--yes")
    servers(project, memory=SERVER)
    assert statuses(project)["server memory"] == "changed"


def test_another_project_is_asked_for_itself(project):
    project.grove("trust", "--yes")
    other = project.others / "clone"
    (other / ".grove").mkdir(parents=True)
    (other / ".grove" / "config.toml").write_text(CONFIG)
    assert project.grove("trust", cwd=other).code == 1
    assert project.grove("trust").code == 0
    # By another path it is the same project.
    (project.others / "link").symlink_to(project.project)
    assert project.grove("trust", cwd=project.others / "link").code == 0


def test_revoking_takes_back_everything_of_this_project_alone(project):
    other = project.others / "clone"
    (other / ".grove").mkdir(parents=True)
    (other / ".grove" / "config.toml").write_text(CONFIG)
    project.grove("trust", "--yes")
    project.grove("trust", "--yes", cwd=other)
    servers(project)
    done = project.grove("trust", "--revoke")
    assert done.code == 0
    assert done.stdout.count("no longer trusted") == 2
    assert list(stored(project)["projects"]) == [str(other.resolve())]
    assert "Nothing was trusted" in project.grove("trust", "--revoke").stdout
    assert project.grove("trust", "--revoke", "--yes").code == 2


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"version": 2, "projects": {}}', '{"version": 1, "projects": {"/": 1}}']
)
def test_while_the_record_is_broken_nothing_is_trusted(project, content):
    project.grove("trust", "--yes")
    path = project.grove_home / "trust.json"
    path.write_text(content)
    done = project.grove("trust")
    assert (done.code, str(path) in done.stderr) == (1, True)
    assert settings(project) == "Settings(command='', size=3)"
    assert "trust.json cannot be understood" in project.log()
    assert "trust.json" in project.grove("doctor").stdout
    assert project.grove("trust", "--revoke").code == 1
    assert path.read_text() == content
    done = project.grove("trust", "--yes")
    assert (done.code, "trust.json.corrupt-1" in done.stderr) == (0, True)
    assert (project.grove_home / "trust.json.corrupt-1").read_text() == content
    assert settings(project) == "Settings(command='/opt/serve', size=3)"


def test_agreements_at_the_same_time_are_all_kept(project):
    clones = []
    for number in range(6):
        clone = project.others / f"clone-{number}"
        (clone / ".grove").mkdir(parents=True)
        (clone / ".grove" / "config.toml").write_text(CONFIG)
        clones.append(clone)
    running = [project.start("trust", "--yes", cwd=clone) for clone in clones]
    for process in running:
        process.communicate(timeout=60)
    assert set(stored(project)["projects"]) == {str(clone.resolve()) for clone in clones}


# --- who agrees ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "expected"), [("y", "trusted"), ("n", "new"), ("", "new")])
def test_on_a_terminal_one_question_is_asked(project, answer, expected):
    code, shown = on_terminal(project, answers=f"{answer}\n")
    assert code == 0
    assert f"| {SERVER}" in shown
    question = "Trust all of these: backends.acme.command (.grove/config.toml), server memory"
    assert shown.count("[y/N]") == 1
    assert question in shown
    assert set(statuses(project).values()) == {expected}


def test_on_a_terminal_nothing_is_asked_when_all_is_trusted(project):
    project.grove("trust", "--yes")
    code, shown = on_terminal(project)
    assert (code, "[y/N]" in shown) == (0, False)


@pytest.mark.parametrize("words", [("--yes",), ("--yes", "--json")])
def test_an_agent_cannot_agree(project, words):
    done = project.grove("trust", *words, CLAUDECODE="1")
    assert done.code == 1
    assert "terminal of their own" in done.stderr
    assert not (project.grove_home / "trust.json").exists()


def test_an_agent_is_not_asked_on_a_terminal_either(project):
    code, shown = on_terminal(project, answers="y\n", CLAUDECODE="1")
    assert code == 1
    assert "[y/N]" not in shown
    assert "--yes" not in shown
    assert not (project.grove_home / "trust.json").exists()


# --- strangers' text ----------------------------------------------------------------------------


def test_nothing_of_a_strangers_text_is_hidden_or_looks_like_ours(project):
    text = (
        "run\x1b[2K\rsafe \u202edrowkcab \u200bzero\ufe0f\xa0\n\nAll of it is trusted.\n"
        + "木" * 90
    )
    servers(project, **{"a\n  | b\x1b]0;x\x07": text})
    for shown in (project.grove("trust").stdout, on_terminal(project, answers="n\n")[1]):
        lines = shown.replace("\r\n", "\n").split("\n")
        start = next(index for index, line in enumerate(lines) if line.startswith("server a"))
        assert lines[start].startswith(r"server a\n  | b\x1b]0;x\x07 (acme.json)  not trusted")
        framed = [line for line in lines[start + 1 :] if line.startswith("  | ")]
        whole = "".join(line.removeprefix("  | ") for line in framed)
        assert r"run\x1b[2K\rsafe \u202edrowkcab \u200bzero\ufe0f\xa0" in whole
        assert whole.count("木") == 90
        assert "All of it is trusted." not in lines
        assert not set(shown) & set("\x1b\x07\u202e\u200b\ufe0f\xa0")


def test_a_backend_that_cannot_say_is_named(project):
    broken = PLUGIN.replace("def trust(context):", "def trust(context):\n    return [1]")
    (project.others / "site" / "acme.py").write_text(broken)
    done = project.grove("trust", "--yes")
    assert done.code == 1
    assert "the backend acme could not say" in done.stderr
    assert statuses(project) == {"backends.acme.command": "trusted"}


# --- hooks --------------------------------------------------------------------------------------


def lives(world, number):
    agent = world.agent(f"session-{number}")
    shown = agent.starts()
    agent.ends()
    return shown


def notes(world):
    found = world.grove_home.glob("cache/starts/*.json")
    return [(path.stat().st_ino, path.read_bytes()) for path in found]


def settle(world, first):
    """Sessions until starts go the short way, which leaves the note of the one before."""
    for number in range(first, first + 20):
        before = notes(world)
        lives(world, number)
        if before and notes(world) == before:
            return number + 1
    raise AssertionError("no start went the short way")


def test_hooks_see_at_once_what_is_trusted_and_what_is_not_any_more(project):
    number = settle(project, 0)
    assert OF_THE_SERVER not in lives(project, number)
    project.grove("trust", "--yes")
    assert OF_THE_SERVER in lives(project, number + 1)
    number = settle(project, number + 2)
    assert OF_THE_SERVER in lives(project, number)
    agent = project.agent("session-asks")
    agent.starts()
    project.grove("trust", "--revoke")
    shown = lives(project, number + 1)
    assert (ABOUT_ORDERS in shown, OF_THE_SERVER in shown) == (True, False)
    assert OF_THE_SERVER not in agent.asks("Does the export of orders stream its rows?")
