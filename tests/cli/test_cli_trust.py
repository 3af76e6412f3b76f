"""`grove trust`: what a project's files name is neither run nor reached before the user agrees."""

import json

import pytest
from terminal import on_terminal

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


@pytest.mark.parametrize(("answer", "expected"), [("y", "trusted"), ("", "new")])
def test_on_a_terminal_one_question_is_asked(project, answer, expected):
    code, shown = on_terminal(project, "trust", answers=[(r"\[y/N\]", f"{answer}\n")])
    assert code == 0
    assert f"| {SERVER}" in shown
    question = "Trust all of these: backends.acme.command (.grove/config.toml), server memory"
    assert shown.count("[y/N]") == 1
    assert question in shown
    assert set(statuses(project).values()) == {expected}


@pytest.mark.parametrize("words", [("--yes",), ("--yes", "--json")])
def test_an_agent_cannot_agree(project, words):
    done = project.grove("trust", *words, CLAUDECODE="1")
    assert done.code == 1
    assert "terminal of their own" in done.stderr
    assert not (project.grove_home / "trust.json").exists()


def test_nothing_of_a_strangers_text_is_hidden_or_looks_like_ours(project):
    text = (
        "run\x1b[2K\rsafe \u202edrowkcab \u200bzero\ufe0f\xa0\n\nAll of it is trusted.\n"
        + "木" * 90
    )
    servers(project, **{"a\n  | b\x1b]0;x\x07": text})
    narrow = on_terminal(project, "trust", answers=[(r"\[y/N\]", "n\n")], COLUMNS="60")[1]
    for shown in (project.grove("trust").stdout, narrow):
        lines = shown.split("\n")
        start = next(index for index, line in enumerate(lines) if line.startswith("server a"))
        assert lines[start].startswith(r"server a\n  | b\x1b]0;x\x07 (acme.json)  not trusted")
        framed = [line for line in lines[start + 1 :] if line.startswith("  | ")]
        whole = "".join(line.removeprefix("  | ") for line in framed)
        assert r"run\x1b[2K\rsafe \u202edrowkcab \u200bzero\ufe0f\xa0" in whole
        assert whole.count("木") == 90
        assert "All of it is trusted." not in lines
        assert not set(shown) & set("\x1b\x07\u202e\u200b\ufe0f\xa0")


def lives(world, number):
    agent = world.agent(f"session-{number}")
    shown = agent.starts()
    agent.ends()
    return shown


def test_hooks_see_at_once_what_is_trusted_and_what_is_not_any_more(project):
    # Later starts remember what the first ones have found out.
    assert [OF_THE_SERVER in lives(project, number) for number in range(3)] == [False] * 3
    project.grove("trust", "--yes")
    assert [OF_THE_SERVER in lives(project, number) for number in range(3, 6)] == [True] * 3
    agent = project.agent("session-asks")
    agent.starts()
    project.grove("trust", "--revoke")
    shown = lives(project, 6)
    assert (ABOUT_ORDERS in shown, OF_THE_SERVER in shown) == (True, False)
    assert OF_THE_SERVER not in agent.asks("Does the export of orders stream its rows?")
