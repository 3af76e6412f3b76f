"""`grove stats --json` has a shortcut, and nobody can tell whether it was taken, but by the clock."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

# The installed script: with `python -m` the project itself would be a place of plugins, and after
# each change of it they would be looked at anew.
PROGRAM = Path(sys.executable).with_name("grove")
# The same question in other words goes the full way.
FULL_WAY = ("stats", "--json", "--project", ".")
SHORTCUT = ("stats", "--json")


def event(name="surfaced", session="s1", learning="cl_20300101_aaaaaa", **fields):
    head = {"v": 1, "ts": "2026-02-05T10:00:00Z", "event": name, "grove": "0.1.0"}
    return json.dumps({**head, "learning_id": learning, "session_id": session, **fields}) + "\n"


class Project:
    """A project whose numbers were asked for once, so that the shortcut is open."""

    def __init__(self, world):
        self.world = world
        world.initialise()
        world.learning("cl_20300101_aaaaaa", "Retry the export of orders", created=CREATED)
        world.learning("cl_20300101_bbbbbb", "Index orders", personal=True, created=CREATED)
        self.log.write_text(event() + event("referenced"))
        self.before = self.ask()[2]

    @property
    def log(self):
        return self.world.project / ".grove" / "stats.log"

    def run(self, command, cwd=None, **variables):
        with self.world.watched():
            return subprocess.run(
                [str(word) for word in command],
                cwd=cwd or self.world.project,
                env={**self.world.environment, **variables},
                capture_output=True,
                text=True,
                check=False,
            )

    def ask(self, *words, **options):
        done = self.run([PROGRAM, *(words or SHORTCUT)], **options)
        return done.returncode, done.stderr, document(done.stdout)

    def agree(self, **variables):
        """First whichever way it goes by itself, then the full one."""
        code, complaints, found = self.ask(**variables)
        again = self.ask(*FULL_WAY, **variables)
        assert (code, complaints) == again[:2]
        different = {name for name in found | again[2] if found.get(name) != again[2].get(name)}
        assert {name: (found[name], again[2][name]) for name in different} == {}
        return found

    def takes_shortcut(self, **variables):
        """Whether the process ends without the command line."""
        script = (
            "import os, sys\n"
            "end = os._exit\n"
            "os._exit = lambda code: (sys.stderr.write('short\\n'), end(code))\n"
            f"sys.path.insert(0, {str(PROGRAM.parent)!r})\n"
            "sys.argv = ['grove', 'stats', '--json']\n"
            "from grove_core._entry import main\n"
            "main()\n"
        )
        return "short" in self.run([sys.executable, "-P", "-c", script], **variables).stderr


CREATED = "2026-01-02T10:00:00Z"


def document(text):
    found = json.loads(text) if text else {}
    found.pop("generated_at", None)
    # Instants are to the second; so near to now nothing else moves.
    return found


@pytest.fixture
def project(world):
    return Project(world)


def nothing(project):
    pass


def append(project):
    with project.log.open("a") as file:
        file.write(event(session="s2"))


def append_to_the_personal_log(project):
    with (project.world.grove_home / "personal-stats.log").open("a") as file:
        file.write(event(session="s3", learning="cl_20300101_bbbbbb"))


def tear(project):
    with project.log.open("a") as file:
        file.write(event(session="s2")[:30])


def edit_learnings(project):
    path = project.world.learnings_file
    path.write_text(path.read_text().replace("pitfall", "pattern"))


def edit_learnings_and_keep_their_time(project):
    path = project.world.learnings_file
    times = path.stat()
    path.write_text(path.read_text().replace("pattern", "process"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def edit_personal_learnings(project):
    project.world.learning("cl_20300101_cccccc", "Cache prices", personal=True, created=CREATED)


def add_a_learning(project):
    project.world.learning("cl_20300101_dddddd", "Cache prices", created=CREATED)


def add_a_learning_in_its_own_file(project):
    folder = project.world.project / ".grove" / "learnings"
    folder.mkdir()
    text = project.world.learnings_file.read_text().replace("aaaaaa", "eeeeee")
    (folder / "cl_20300101_eeeeee.md").write_text(text)


def add_a_log(project):
    folder = project.world.project / ".grove" / "stats"
    folder.mkdir()
    (folder / "a.jsonl").write_text(event(session="s9"))


def set_the_decay(project):
    path = project.world.project / ".grove" / "config.toml"
    path.write_text("[decay]\npassive_duration_days = 1\n")


def set_the_decay_for_the_user(project):
    path = project.world.grove_home / "config.toml"
    path.write_text("[decay]\npassive_duration_days = 36500\n")


def archive(project):
    done = project.world.grove("maintain", "archive", "cl_20300101_aaaaaa")
    assert done.code == 0, done.stderr


def remove_the_log(project):
    project.log.unlink()


def remove_learnings(project):
    project.world.learnings_file.unlink()


def remove_grove(project):
    for path in (project.world.project / ".grove").iterdir():
        path.unlink()
    (project.world.project / ".grove").rmdir()


def remove_grove_inside_git(project):
    """The project is now another one: the repository around it."""
    (project.world.folder / ".git").mkdir()
    remove_grove(project)


def put_a_file_there(project):
    remove_grove(project)
    (project.world.project / ".grove").write_text("")


def remove_the_cache(project):
    for path in (project.world.grove_home / "cache").glob("*/stats.sqlite*"):
        path.unlink()


def damage_the_cache(project):
    for path in (project.world.grove_home / "cache").glob("*/stats.sqlite"):
        path.write_bytes(b"nonsense" * 1000)


def damage_a_page_of_the_cache(project):
    for path in (project.world.grove_home / "cache").glob("*/stats.sqlite"):
        connection = sqlite3.connect(path)
        find = (
            "SELECT rootpage FROM sqlite_master WHERE name IN ('catalogue', 'counter', 'learning')"
        )
        pages = [page for (page,) in connection.execute(find)]
        connection.close()
        content = bytearray(path.read_bytes())
        for page in pages:
            content[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
        path.write_bytes(content)


def damage_the_note(project):
    for path in (project.world.grove_home / "cache").glob("stats-*.json"):
        path.write_text(path.read_text()[:50])


def forge_the_note(project):
    for path in (project.world.grove_home / "cache").glob("stats-*.json"):
        content = json.loads(path.read_text())
        path.write_text(json.dumps({**content, "sources": 7, "settings": [None]}))


def make_an_old_note(project):
    for path in (project.world.grove_home / "cache").glob("stats-*.json"):
        os.utime(path, (1, 1))


def forget_that_no_plugin_is_offered(project):
    for path in (project.world.grove_home / "cache").glob("insights*"):
        path.unlink()


# One after the other in the same project.
HISTORIES = {
    "logs": [nothing, append, append_to_the_personal_log, add_a_log, tear, nothing, remove_the_log],
    "learnings": [
        *(edit_learnings, edit_learnings_and_keep_their_time, edit_personal_learnings),
        *(add_a_learning, add_a_learning_in_its_own_file, archive, remove_learnings),
    ],
    "settings": [set_the_decay_for_the_user, set_the_decay],
    "cache": [remove_the_cache, damage_the_cache, damage_a_page_of_the_cache, append],
    "note": [damage_the_note, forge_the_note, make_an_old_note, forget_that_no_plugin_is_offered],
    "gone": [remove_grove],
    "gone-inside-git": [remove_grove_inside_git],
    "a-file": [put_a_file_there],
}
CHANGES_NOTHING = {
    *(nothing, remove_the_cache, damage_the_cache, damage_a_page_of_the_cache, damage_the_note),
    *(forge_the_note, make_an_old_note, forget_that_no_plugin_is_offered),
}


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_the_same_numbers(project, history):
    before = project.before
    assert before["learnings"]["total"] == 2
    for change in history:
        change(project)
        after = project.agree()
        assert (after == before) == (change in CHANGES_NOTHING), change.__name__
        before = after


def test_the_shortcut_is_taken(project):
    assert project.takes_shortcut()
    append(project)
    assert project.takes_shortcut()
    add_a_learning(project)
    assert not project.takes_shortcut()
    assert project.takes_shortcut()


@pytest.mark.parametrize(
    "variable",
    [
        {"GROVE_DECAY_PASSIVE_DURATION_DAYS": "36500"},
        {"GROVE_PLUGINS_DISABLED": "[]"},
    ],
    ids=lambda variable: next(iter(variable)),
)
def test_variables(project, variable):
    assert not project.takes_shortcut(**variable)
    project.agree(**variable)
    project.agree()


def test_no_variable_is_written_down(project):
    secret = "postgresql://grove:hush@db.example.org/team"
    project.agree(GROVE_BACKENDS_POSTGRES_URL=secret)
    assert project.takes_shortcut(GROVE_BACKENDS_POSTGRES_URL=secret)
    assert not project.takes_shortcut()
    cache = Path(project.world.environment["GROVE_HOME"]) / "cache"
    notes = [path.read_text() for path in cache.rglob("*.json")]
    assert notes
    assert not any("hush" in note for note in notes)


def test_a_learning_goes_stale_while_nothing_else_happens(project):
    """Decay is judged by the time of the question, not by that of the note."""
    stale = project.agree(GROVE_DECAY_PASSIVE_DURATION_DAYS="1")["going_stale"]["count"]
    assert stale == 2
    assert project.agree(GROVE_DECAY_PASSIVE_DURATION_DAYS="36500")["going_stale"]["count"] == 0


def test_from_a_folder_of_the_project(project):
    folder = project.world.project / "sub"
    folder.mkdir()
    expected = project.ask()
    assert project.ask(cwd=folder) == expected


def test_a_folder_of_the_project_becomes_a_project(project):
    folder = project.world.project / "sub"
    folder.mkdir()
    for _ in range(2):
        assert project.ask(cwd=folder)[2]["log"]["events"] == 2
    (folder / ".grove").mkdir()
    for _ in range(2):
        assert project.ask(cwd=folder)[2]["log"]["events"] == 0
    (folder / ".grove").rmdir()
    for _ in range(2):
        assert project.ask(cwd=folder)[2]["log"]["events"] == 2


def test_a_folder_without_grove_around_which_a_project_begins(world):
    """Its numbers were asked for before there was a project, and now it is a part of one."""
    folder = world.project / "sub"
    folder.mkdir()
    world.grove_home.mkdir()
    for _ in range(2):
        subprocess.run([PROGRAM, *SHORTCUT], cwd=folder, env=world.environment, check=True)
    world.initialise()
    (world.project / ".grove" / "stats.log").write_text(event())
    done = subprocess.run(
        [PROGRAM, *SHORTCUT], cwd=folder, env=world.environment, check=True, stdout=subprocess.PIPE
    )
    assert document(done.stdout)["log"]["events"] == 1


def test_by_a_link(project):
    link = project.world.folder / "others" / "link"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(project.world.project)
    expected = project.ask()
    assert project.ask(cwd=link) == expected


@pytest.mark.parametrize("words", [SHORTCUT, FULL_WAY], ids=["shortcut", "full"])
def test_nobody_listens(project, words):
    for output in (">&-", "> /dev/full", "| true"):
        done = subprocess.run(
            ["sh", "-c", f'"$@" {output}', "sh", str(PROGRAM), *words],
            cwd=project.world.project,
            env=project.world.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") == (output != "| true"), done.stderr
        assert (done.returncode == 0) == (output == "| true")


def test_a_slow_reader_gets_all_of_it(project):
    """The reader's pipe takes little at a time and, as some programs leave it, never waits."""
    with project.log.open("a") as file:
        for number in range(300):
            cut = event("skip", learning="", decider=f"decider {number:0200}", reason="r")
            file.write(cut)
    expected = project.ask()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = subprocess.Popen(
        [PROGRAM, *SHORTCUT],
        cwd=project.world.project,
        env=project.world.environment,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    assert process.communicate()[1] == ""
    assert (process.returncode, document(text)) == (0, expected[2])


def test_a_plugin_that_is_installed_meanwhile(project):
    project.agree()
    source = (
        "from grove_core import hookimpl\n"
        "from grove_core.model.statistics import Insight\n"
        "@hookimpl\n"
        "def grove_insights(statistics):\n"
        "    return [Insight('own_kind', 'Seen.', 'Look.', {'n': 1})]\n"
    )
    project.world.install_plugin("acme", source)
    found = project.agree()
    assert "own_kind" in {one["kind"] for one in found["insights"]}


def test_without_a_home(world):
    world.initialise()
    (world.project / ".grove" / "stats.log").write_text(event())
    for _ in range(2):
        done = world.grove(*SHORTCUT)
        assert document(done.stdout)["log"]["events"] == 1
    assert not world.grove_home.exists()
