"""Session mode against real repositories: what counts as changed since the baseline."""

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve
from core_worlds import a_session, own_git_only
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scale import turned_up

from grove_core.codec import session_from_json, session_to_json
from grove_core.model.memory import Detection
from grove_core.plugins.descriptors import BackendSpec, TicketProbe
from grove_core.plugins.hosts import HostAbilities, HostSpec
from grove_core.project import Project
from grove_core.services import session_mode
from grove_core.services.session_mode import (
    is_work,
    measure,
    take_baseline,
    with_environment,
)


def found(_):
    return Detection(marker="x")


def edited_files(path, _):
    return Path(path).read_text().splitlines()


HOST = HostSpec(
    name="h",
    title="H",
    parse=lambda *_: None,
    answer=lambda *_: None,
    abilities=HostAbilities(),
    setup=lambda _: None,
    registered=lambda _: (),
    events=(),
    edited_files=edited_files,
)
DESCRIPTORS = (
    HOST,
    TicketProbe(name="beads", detect=lambda _: None, paths=(".beads",)),
    TicketProbe(name="session", detect=found, per_session=True),
    BackendSpec(name="files", detect=lambda _: None, open=lambda _: None, paths=("memory/",)),
)


@pytest.fixture(autouse=True)
def own_settings_only(tmp_path, monkeypatch):
    own_git_only(monkeypatch, tmp_path / "home")
    # How patient the hook is does not belong here; this machine may be busy.
    monkeypatch.setattr(session_mode, "STATUS_SECONDS", 30.0)
    monkeypatch.setattr(session_mode, "DIFF_SECONDS", 30.0)


def numbered(first, count):
    return "".join(f"line {number}\n" for number in range(first, first + count))


class Sample:
    """A project with a session in it."""

    def __init__(self, root, home, plugins, *, top=None, initialised=True):
        self.root, self.top = root, top or root
        self._home, self._plugins = home, plugins
        root.mkdir(parents=True, exist_ok=True)
        if initialised:
            (root / ".grove").mkdir(exist_ok=True)
        self.session = None

    def project(self, config=""):
        if config:
            (self.root / ".grove" / "config.toml").write_text(config)
        now = datetime.now(UTC).replace(microsecond=0)
        project = Project(self.root, {"GROVE_HOME": str(self._home)}, now)
        project.plugins = self._plugins
        return project

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
        project = self.project()
        root = str(self.root)
        times = {"created_at": project.now, "updated_at": project.now}
        session = a_session(cwd=root, project_root=root, **times, **fields)
        session = evolve(session, baseline=take_baseline(project, session))
        self.session = session_from_json(session_to_json(session))
        return self.session

    def log(self):
        return (self._home / "grove.log").read_text()

    def measured(self):
        change = measure(self.project(), self.session)
        return "git cannot tell" if change is None else change.lines


@pytest.fixture
def make(tmp_path, plugins_of):
    plugins = plugins_of(*DESCRIPTORS)

    def project(name="project", *, repository=True, **options):
        root = tmp_path / name
        made = Sample(root, tmp_path / "home" / ".grove", plugins, **options)
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


def test_only_lines_of_text_that_git_does_not_ignore_count(project, tmp_path):
    (tmp_path / "far").write_text(numbered(0, 500))
    project.write("old picture", b"\0" * 50)
    (project.top / "old").symlink_to(tmp_path / "far")
    project.begin()
    project.write("new.txt", "no newline at the end")
    project.write("deep/new.txt", numbered(0, 3))
    project.write("empty", "")
    project.write("picture", b"\0\1\n\n\n")
    project.write("old picture", b"\0\1\2\n" * 80)
    project.write("a.noise", numbered(0, 99))
    (project.top / "a.txt").chmod(0o755)
    os.mkfifo(project.top / "pipe")
    (tmp_path / "far").write_text(numbered(0, 900))
    assert project.measured() == 4
    # Links count as what they say.
    (project.top / "dangling").symlink_to("nowhere")
    (project.top / "endless").symlink_to("/dev/zero")
    assert project.measured() == 6


@pytest.mark.parametrize("known", [True, False])
def test_what_grove_tickets_and_backends_write_never_counts(project, known):
    own = (".grove/learnings.md", ".grove/stats.log", ".beads/issues.jsonl", "memory/x.md")
    if known:
        for path in own:
            project.write(path, "1\n")
        project.commit()
    project.begin()
    for path in own:
        project.write(path, numbered(0, 50))
    assert project.measured() == 0
    project.commit()
    assert project.measured() == 0
    for path in (".groves", "memory.md", "sub/.grove/x", "x.beads/issues.jsonl"):
        project.write(path, "1\n")
    assert project.measured() == 4


def test_what_others_did_and_where_it_only_moved_does_not_count(project):
    project.git("switch", "-qc", "theirs")
    project.write("b.txt", numbered(100, 300))
    project.commit()
    project.git("switch", "-q", "main")
    project.begin()
    project.git("merge", "-q", "--ff-only", "theirs")
    assert project.measured() == 0
    project.git("mv", "a.txt", "c.txt")
    assert project.measured() == 0
    project.commit()
    (project.top / "b.txt").rename(project.top / "d.txt")
    assert project.measured() == 0
    project.write("c.txt", numbered(0, 13))
    assert project.measured() == 3
    project.commit()
    project.git("commit", "-q", "--amend", "-m", "better")
    assert project.measured() == 3
    project.git("checkout", "-q", "theirs")
    assert project.measured() == 0


def test_what_lies_outside_of_the_projects_folder_does_not_count(make, tmp_path):
    project = make("mono/app", repository=False, top=tmp_path / "mono")
    project.git("init", "-q", "-b", "main")
    project.write("lib/a.txt", numbered(0, 3))
    project.commit()
    project.begin()
    project.write("lib/a.txt", numbered(0, 90))
    project.write("other/b.txt", numbered(0, 90))
    # Nor do files of grove's own in it.
    project.write("app/.grove/learnings.md", numbered(0, 70))
    project.write("app/.beads/x", numbered(0, 70))
    assert project.measured() == 0
    project.commit()
    project.write("app/c.txt", numbered(0, 7))
    assert project.measured() == 7


def test_a_broken_repository_holds_nobody_up_and_leaves_a_line(project):
    session = project.begin()
    project.session = evolve(session, baseline=evolve(session.baseline, head="1" * 40))
    assert project.measured() == "git cannot tell"
    project.session = session
    shutil.rmtree(project.top / ".git" / "refs")
    (project.top / ".git" / "HEAD").write_text("broken")
    assert project.measured() == "git cannot tell"
    assert "session=s git failed or was late" in project.log()


def test_outside_git_edits_of_own_files_do_not_count(make, tmp_path):
    project = make(repository=False)
    project.begin()
    assert project.session.baseline.head is None
    assert project.measured() == 0
    transcript = tmp_path / "edited"
    project.begin(transcript_path=str(transcript))
    for path, lines in ((".grove/config.toml", 0), ("memory/x", 0), ("app.py", None)):
        transcript.write_text(str(project.root / path))
        assert project.measured() == lines


def test_a_remembered_measurement_counts_only_while_nothing_has_changed(project):
    project.begin()
    for lines in (2, 2, 3):
        project.write("a.txt", numbered(0, 10 + lines))
        measurement = measure(project.project(), project.session)
        project.session = evolve(project.session, measurement=measurement)
        assert measurement.lines == lines
    project.commit()
    assert project.measured() == 3


@pytest.mark.parametrize(
    ("mode", "initialised", "expected"),
    [
        ("initialized", True, True),
        ("initialized", False, False),
        ("always", False, True),
        ("never", True, False),
    ],
)
def test_where_session_mode_applies(make, tmp_path, mode, initialised, expected):
    project = make(initialised=initialised, repository=False)
    home = tmp_path / "home" / ".grove"
    home.mkdir(parents=True)
    (home / "config.toml").write_text(f'[gate]\nsession = "{mode}"\n')
    assert with_environment(project.project(), project.begin()).session_mode is expected


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "cut", "create", "remove", "stage", "commit", "baseline"]),
        st.sampled_from(["a", "b/c", 'a\nline "quoted"', os.fsdecode(b"caf\xe9.txt"), "? x"]),
        st.integers(0, 5),
    ),
    min_size=3,
    max_size=10,
)


@settings(
    max_examples=turned_up(8, 200),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
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


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("{root}/app.py", True),
        ("{root}/.groves", True),
        ("app.py", True),
        ("{root}/.grove/learnings.md", False),
        ("{root}/src/../.grove/x", False),
        ("{link}/.grove/x", False),
        ("{root}/memory/deep/x", False),
        ("{root}/../elsewhere.py", False),
        ("{root}-2/app.py", False),
    ],
)
def test_only_work_in_the_project_counts(tmp_path, path, counts):
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "link").symlink_to("project")
    named = path.format(root=root, link=tmp_path / "link")
    assert is_work(named, str(root), (".grove/", "memory/")) is counts
