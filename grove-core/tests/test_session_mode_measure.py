"""Session mode against real repositories: what counts as changed since the baseline."""

import json
import os
import shutil
import stat
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_core import dirty_files
from grove_core.codec import session_from_json, session_to_json
from grove_core.flow import session_mode
from grove_core.flow.own_files import own_paths
from grove_core.flow.session_mode import applies, measure, renew_baseline, take_baseline
from grove_core.gitstatus import without
from grove_core.model.memory import Detection
from grove_core.model.session import Session
from grove_core.plugins.descriptors import BackendSpec, TicketProbe
from grove_core.workspace import Workspace

LATIN = os.fsdecode(b"caf\xe9.txt")


def found(_):
    return Detection(marker="x")


DESCRIPTORS = (
    TicketProbe(name="beads", detect=lambda _: None, paths=(".beads",)),
    TicketProbe(name="session", detect=found, per_session=True),
    BackendSpec(name="files", detect=lambda _: None, open=lambda _: None, paths=("memory/",)),
)


@pytest.fixture(autouse=True)
def own_settings_only(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Dev")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "dev@example.org")
    # How patient the hook is does not belong here; this machine may be busy.
    monkeypatch.setattr(session_mode, "STATUS_SECONDS", 30.0)
    monkeypatch.setattr(session_mode, "DIFF_SECONDS", 30.0)


def numbered(first, count):
    return "".join(f"line {number}\n" for number in range(first, first + count))


class Project:
    """A project with a session in it."""

    def __init__(self, root, home, plugins, *, top=None, initialised=True):
        self.root, self.top = root, top or root
        self._home, self._plugins = home, plugins
        root.mkdir(parents=True, exist_ok=True)
        if initialised:
            (root / ".grove").mkdir(exist_ok=True)
        self.session = None

    def workspace(self, config=""):
        if config:
            (self.root / ".grove" / "config.toml").write_text(config)
        now = datetime.now(UTC).replace(microsecond=0)
        workspace = Workspace(self.root, {"GROVE_HOME": str(self._home)}, now)
        workspace.plugins = self._plugins
        return workspace

    def git(self, *arguments):
        done = subprocess.run(["git", "-C", self.top, *arguments], capture_output=True, check=True)
        return done.stdout.decode().strip()

    def write(self, path, content):
        full = self.top / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "c")

    def begin(self, **fields):
        """Take the baseline, and keep the session as its file would."""
        workspace = self.workspace()
        session = Session(
            id="s",
            host="h",
            cwd=str(self.root),
            project_root=str(self.root),
            created_at=workspace.now,
            updated_at=workspace.now,
            **fields,
        )
        session = evolve(session, baseline=take_baseline(workspace, session))
        self.session = session_from_json(session_to_json(session))
        return self.session

    def log(self):
        return (self._home / "grove.log").read_text()

    def measured(self):
        change, measurement = measure(self.workspace(), self.session)
        if measurement is not None:
            assert measurement.lines == change.lines
        return "git cannot tell" if change is None else change.lines


@pytest.fixture
def make(tmp_path, plugins_of):
    plugins = plugins_of(*DESCRIPTORS)

    def project(name="project", *, repository=True, **options):
        root = tmp_path / name
        made = Project(root, tmp_path / "home" / ".grove", plugins, **options)
        if repository:
            made.git("init", "-q", "-b", "main")
        return made

    return project


@pytest.fixture
def project(make):
    made = make()
    made.write("a.txt", numbered(0, 10))
    made.write(".gitignore", "*.noise\n")
    made.commit()
    return made


# What counts.


def test_nothing_changed(project):
    project.begin()
    assert project.measured() == 0


def test_edits_and_commits_since_the_baseline(project):
    project.begin()
    project.write("a.txt", numbered(0, 8))
    assert project.measured() == 2
    project.commit()
    assert project.measured() == 2
    project.write("a.txt", numbered(0, 8) + "x\n")
    project.write("b.txt", numbered(100, 4))
    assert project.measured() == 7
    project.git("add", "-A")
    assert project.measured() == 7
    project.commit()
    assert project.measured() == 7
    project.git("reset", "-q", "--hard", "HEAD~2")
    assert project.measured() == 0


def test_untracked_text_counts_and_binary_and_ignored_files_do_not(project):
    project.begin()
    project.write("new.txt", "no newline at the end")
    project.write("deep/new.txt", numbered(0, 3))
    project.write("empty", "")
    project.write("picture", b"\0\1\n\n\n")
    project.write("a.noise", numbered(0, 99))
    assert project.measured() == 4
    project.commit()
    assert project.measured() == 4


@pytest.mark.parametrize(
    "path", [".grove/learnings.md", ".grove/stats.log", ".beads/issues.jsonl", "memory/x.md"]
)
@pytest.mark.parametrize("known", [True, False])
def test_what_grove_tickets_and_backends_write_never_counts(project, path, known):
    if known:
        project.write(path, "1\n")
        project.commit()
    project.begin()
    project.write(path, numbered(0, 50))
    assert project.measured() == 0
    project.commit()
    assert project.measured() == 0
    project.write(f"x{path}", "1\n2\n")
    assert project.measured() == 2


def test_a_file_of_a_like_name_counts(project):
    project.begin()
    project.write(".groves", "1\n")
    project.write("memory.md", "1\n")
    project.write("sub/.grove/x", "1\n")
    assert project.measured() == 3


def test_files_dirty_at_the_baseline_count_for_what_changed_since(project):
    project.write("a.txt", numbered(0, 30))
    project.write("untracked", numbered(0, 40))
    project.git("rm", "-q", "--cached", ".gitignore")
    (project.top / ".gitignore").unlink()
    project.begin()
    assert project.measured() == 0
    project.write("a.txt", numbered(0, 31))
    project.write("untracked", numbered(0, 38))
    assert project.measured() == 3
    project.commit()
    assert project.measured() == 3
    project.write(".gitignore", "*.noise\n")
    assert project.measured() == 4
    (project.top / "untracked").unlink()
    assert project.measured() == 1 + 40 + 1


def test_what_the_baseline_keeps_of_dirty_files_is_bounded_in_all(project, monkeypatch):
    monkeypatch.setattr(dirty_files, "MOST_LINES_IN_ALL", 50)
    for name, count in (("b", 30), ("c", 21), ("d", 20), ("e", 1)):
        project.write(name, numbered(0, count))
    kept = {file.path: file.line_hashes is not None for file in project.begin().baseline.dirty}
    assert kept == {"b": True, "c": False, "d": True, "e": False}
    assert project.measured() == 0
    project.write("b", numbered(5, 30))
    assert project.measured() == 10
    project.write("c", numbered(0, 25))
    assert project.measured() == 14


def test_a_commit_of_what_was_dirty_is_no_change(project):
    project.write("a.txt", "rewritten\n")
    project.write("new", numbered(0, 60))
    project.begin()
    project.commit()
    assert project.measured() == 0


def test_a_binary_file_that_was_dirty_never_counts(project):
    project.write("picture", b"\0" * 50)
    project.begin()
    project.write("picture", b"\0\1\2\n" * 80)
    assert project.measured() == 0
    (project.top / "picture").unlink()
    assert project.measured() == 0


def test_a_renamed_file_counts_as_deleted_and_added(project):
    project.begin()
    project.git("mv", "a.txt", "b.txt")
    assert project.measured() == 20
    project.commit()
    assert project.measured() == 20


def test_modes_and_times_are_no_lines(project):
    project.begin()
    (project.top / "a.txt").chmod(0o755)
    os.utime(project.top / ".gitignore", (1, 1))
    assert project.measured() == 0


def test_links_count_as_what_they_say(project, tmp_path):
    (tmp_path / "far").write_text(numbered(0, 500))
    (project.top / "old").symlink_to(tmp_path / "far")
    project.begin()
    (tmp_path / "far").write_text(numbered(0, 900))
    assert project.measured() == 0
    (project.top / "new").symlink_to(tmp_path / "far")
    (project.top / "dangling").symlink_to("nowhere")
    (project.top / "endless").symlink_to("/dev/zero")
    assert project.measured() == 3


def test_a_pipe_in_the_work_tree_stops_nothing(project):
    os.mkfifo(project.top / "pipe")
    project.begin()
    os.mkfifo(project.top / "other")
    assert project.measured() == 0


# Bounds.


def test_a_large_text_file_counts_at_least_what_was_read(project, monkeypatch):
    monkeypatch.setattr(dirty_files, "MOST_FILE_BYTES", 2000)
    project.write("old", "x\n" * 4000)
    project.begin()
    project.write("new", "y\n" * 4000)
    assert project.measured() == 1000
    project.write("old", "z\n" * 4000)
    assert project.measured() == 1001
    project.write("film", b"\0" * 9000)
    assert project.measured() == 1001


def test_files_beyond_the_room_of_the_baseline_count_only_once_they_are_touched(
    project, monkeypatch
):
    monkeypatch.setattr(dirty_files, "MOST_FILES", 3)
    for number in range(8):
        project.write(f"u{number}", numbered(0, 9))
        old(project.top / f"u{number}")
    project.write("a.txt", "dirty before\n")
    old(project.top / "a.txt")
    project.begin()
    assert len(project.session.baseline.dirty) == 3
    assert project.measured() == 0
    project.write("u7", numbered(0, 5))
    assert project.measured() == 5


def old(path):
    os.utime(path, (1_600_000_000, 1_600_000_000))


def test_the_state_of_a_session_stays_small(project, monkeypatch):
    for number in range(400):
        project.write(f"u{number}", numbered(0, 5))
    session = project.begin()
    assert len(session.baseline.dirty) == dirty_files.MOST_FILES
    assert len(session_to_json(session)) < 100_000


# Kinds of repositories.


def test_a_repository_without_commits(make):
    project = make()
    project.write("before", numbered(0, 5))
    project.begin()
    assert project.session.baseline.head == ""
    assert project.measured() == 0
    project.write("after", numbered(0, 3))
    assert project.measured() == 3
    project.git("add", "-A")
    assert project.measured() == 3
    project.commit()
    assert project.measured() == 3


def test_a_detached_head(project):
    project.commit()
    project.git("checkout", "-q", "--detach", "HEAD~1")
    project.begin()
    project.write("a.txt", numbered(0, 12))
    assert project.measured() == 2
    project.commit()
    assert project.measured() == 2


def test_a_linked_work_tree(project, make, tmp_path):
    project.git("worktree", "add", "-q", tmp_path / "linked")
    linked = make("linked", repository=False)
    linked.begin()
    project.write("a.txt", "elsewhere\n")
    assert linked.measured() == 0
    linked.write("a.txt", numbered(0, 11))
    assert linked.measured() == 1


def test_a_project_in_a_subdirectory(make, tmp_path):
    project = make("mono/pkg/app", repository=False, top=tmp_path / "mono")
    project.git("init", "-q", "-b", "main")
    project.write("pkg/app/a.txt", numbered(0, 3))
    project.commit()
    project.begin()
    project.write("pkg/app/.grove/learnings.md", numbered(0, 70))
    project.write("pkg/app/.beads/x", numbered(0, 70))
    assert project.measured() == 0
    project.write("pkg/app/a.txt", numbered(0, 5))
    project.write("pkg/app/b.txt", numbered(0, 2))
    assert project.measured() == 4


@pytest.mark.parametrize(
    "name", ["with blanks", "new\nline", "ünïcödé/文件", LATIN, '"quoted"', "-n", "? x"]
)
def test_odd_names(project, name):
    project.write(f"dirty-{name}", "1\n")
    project.begin()
    project.write(f"dirty-{name}", "1\n2\n")
    project.write(name, "1\n")
    assert project.measured() == 2
    project.commit()
    assert project.measured() == 2
    (project.top / name).unlink()
    assert project.measured() == 1


def test_a_project_whose_own_name_is_no_utf_8(make):
    project = make(f"project-{LATIN}")
    project.write("a", "1\n")
    project.begin()
    project.write("a", "1\n2\n")
    project.write(".grove/x", "1\n")
    assert project.measured() == 1


def test_a_broken_repository_holds_nobody_up_and_leaves_a_line(project):
    project.begin()
    shutil.rmtree(project.top / ".git" / "refs")
    (project.top / ".git" / "HEAD").write_text("broken")
    assert project.measured() == "git cannot tell"
    assert "session=s git failed or was late" in project.log()


def test_a_lost_baseline_commit_holds_nobody_up(project):
    project.begin()
    baseline = evolve(project.session.baseline, head="1" * 40)
    project.session = evolve(project.session, baseline=baseline)
    assert project.measured() == "git cannot tell"


# Outside git, the transcript.


def edit_line(**arguments):
    blocks = [{"type": "tool_use", "name": "Edit", "input": arguments}]
    return json.dumps({"message": {"content": blocks}}) + "\n"


def test_outside_git_edits_in_the_transcript_are_of_unknown_size(make, tmp_path):
    project = make(repository=False)
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(edit_line())
    project.begin(transcript_path=str(transcript))
    assert project.session.baseline.head is None
    project.write("a", "1\n")
    assert project.measured() == 0
    with transcript.open("a") as file:
        file.write(edit_line())
    assert project.measured() is None


@pytest.mark.parametrize(
    ("path", "lines"), [("app.py", None), (".grove/config.toml", 0), ("memory/x", 0)]
)
def test_outside_git_edits_of_own_files_do_not_count(make, tmp_path, path, lines):
    project = make(repository=False)
    transcript = tmp_path / "t.jsonl"
    project.begin(transcript_path=str(transcript))
    transcript.write_text(edit_line(file_path=str(project.root / path)))
    assert project.measured() == lines


def test_outside_git_without_a_transcript_nothing_is_known_to_change(make):
    project = make(repository=False)
    project.begin()
    assert project.measured() == 0


def test_without_a_baseline_nothing_changed(project):
    project.begin()
    project.session = evolve(project.session, baseline=None)
    project.write("a.txt", "")
    assert project.measured() == 0


# Calls of git.


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The git calls made so far, by a program of that name that comes first on the path."""
    log, real = tmp_path / "calls", shutil.which("git")
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {real} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    def count(action):
        log.write_text("")
        action()
        return len(log.read_text().splitlines())

    return count


def remembered(project):
    _, measurement = measure(project.workspace(), project.session)
    project.session = evolve(project.session, measurement=measurement)


def test_the_number_of_git_calls(project, calls):
    project.write("dirty", "1\n")
    assert calls(project.begin) == 1
    assert calls(project.measured) == 1
    project.write("dirty", "1\n2\n")
    project.write("untracked", "1\n")
    assert calls(project.measured) == 1
    project.write("a.txt", "1\n")
    assert calls(lambda: remembered(project)) == 2


def test_the_same_state_is_measured_once(project, calls):
    project.begin()
    project.write("a.txt", numbered(0, 12))
    assert calls(lambda: remembered(project)) == 2
    assert calls(lambda: remembered(project)) == 1
    assert project.session.measurement.lines == 2
    project.write(".grove/stats.log", "an event of our own\n")
    assert calls(lambda: remembered(project)) == 1
    project.write("a.txt", numbered(0, 13))
    assert calls(lambda: remembered(project)) == 2
    assert project.session.measurement.lines == 3
    project.commit()
    assert calls(lambda: remembered(project)) == 2
    assert project.session.measurement.lines == 3


def test_outside_git_no_git_is_called(make, calls):
    project = make(repository=False)
    assert calls(project.begin) == 0
    assert calls(project.measured) == 0


# The baseline moves.


def test_the_baseline_is_taken_anew(project):
    session = project.begin()
    workspace = project.workspace()
    workspace.sessions.put(session)
    project.write("a.txt", numbered(0, 30))
    project.session = renew_baseline(workspace, session)
    assert project.session.measurement.lines == 0
    assert workspace.sessions.get("s") == project.session
    assert project.measured() == 0


def test_no_baseline_is_made_where_there_was_none(project):
    session = evolve(project.begin(), baseline=None)
    assert renew_baseline(project.workspace(), session) is session


# Where session mode applies.


@pytest.mark.parametrize(
    ("mode", "initialised", "expected"),
    [
        ("initialized", True, True),
        ("initialized", False, False),
        ("always", True, True),
        ("always", False, True),
        ("never", True, False),
        ("never", False, False),
    ],
)
def test_where_session_mode_applies(make, tmp_path, mode, initialised, expected):
    project = make(initialised=initialised)
    home = tmp_path / "home" / ".grove"
    home.mkdir(parents=True)
    (home / "config.toml").write_text(f'[gate]\nsession = "{mode}"\n')
    assert applies(project.workspace(), project.begin()) is expected


def test_a_ticket_system_turns_session_mode_off(make, plugins_of):
    project = make()
    project._plugins = plugins_of(TicketProbe(name="beads", detect=found), *DESCRIPTORS[1:])
    assert not applies(project.workspace(), project.begin())
    project._plugins = plugins_of()
    assert not applies(project.workspace(), project.begin())


def test_paths_that_are_no_work(make):
    workspace = make().workspace()
    assert own_paths(workspace) == (".grove", ".beads", "memory/")
    paths = (".grove", ".grove/x", ".grovex", "a/.grove/x", "memory", "memory/a/b", "memo", "x")
    assert without(own_paths(workspace), paths) == (".grovex", "a/.grove/x", "memo", "x")
    assert without((), paths) == paths


# Histories.


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "cut", "create", "remove", "stage", "commit", "baseline"]),
        st.sampled_from(["a", "b/c", "d e"]),
        st.integers(0, 5),
    ),
    min_size=3,
    max_size=10,
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_any_history(make, tmp_path_factory, steps):
    """Every line is unique, so that what changed is the difference of sets of lines."""
    project = make(tmp_path_factory.mktemp("history").name)
    files, before, lines = {}, {}, iter(range(10_000))
    project.begin()
    for step, name, number in steps:
        if step in ("add", "create"):
            kept = files.get(name, []) if step == "add" else []
            fresh = [f"line {next(lines)}\n" for _ in range(number + 1)]
            files[name] = kept[:number] + fresh + kept[number:]
        elif step == "cut" and len(files.get(name, [])) > 1:
            files[name].pop(number % len(files[name]))
        elif step == "remove" and name in files:
            del files[name]
            (project.top / name).unlink()
        elif step == "stage":
            project.git("add", "-A")
        elif step == "commit":
            project.commit()
        elif step == "baseline":
            project.begin()
            before = {path: set(content) for path, content in files.items()}
        for path, content in files.items():
            project.write(path, "".join(content))
    expected = sum(
        len(before.get(path, set()) ^ set(files.get(path, ()))) for path in {*before, *files}
    )
    assert project.measured() == expected


def test_time_is_taken_from_the_baseline_and_not_from_the_clock(project):
    session = project.begin()
    assert abs(session.baseline.taken_at - datetime.now(UTC)) < timedelta(minutes=5)
