"""Files of a repository and other programs are read and asked with limits, whatever someone has put there."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest
from core_worlds import write_file, write_program

from grove_tickets import backlog, beads, br, gitbug, linear, taskmaster, tissue, tk
from grove_tickets.asking import ask
from grove_tickets.places import (
    exists,
    find_repository,
    first_line,
    is_directory,
    read_file,
    read_last_lines,
    real_path,
)
from grove_tickets.records import read_document, records

READERS = [
    lambda path: read_file(path, 100),
    lambda path: read_last_lines(path, 100),
    lambda path: first_line(path) or None,
    read_document,
    lambda path: next(records(path), None),
]


@pytest.fixture(params=["pipe", "device", "directory", "missing", "long", "circle", "null"])
def strange(request, tmp_path) -> Path:
    path = tmp_path / "strange"
    match request.param:
        case "pipe":
            os.mkfifo(tmp_path / "fifo")
            path.symlink_to("fifo")
        case "device":
            path.symlink_to("/dev/zero")
        case "directory":
            path.mkdir()
        case "long":
            path = tmp_path / ("x" * 5000)
        case "circle":
            path.symlink_to("strange")
        case "null":
            path = tmp_path / "a\0b"
    return path


@pytest.mark.parametrize("read", READERS)
def test_nothing_is_read_from_what_is_no_file(read, strange):
    assert read(strange) is None


def test_looking_at_strange_paths_never_raises(strange):
    assert is_directory(strange) == (strange.name == "strange" and strange.is_dir())
    assert exists(strange / "x") is False


@pytest.mark.parametrize(("size", "is_read"), [(0, True), (100, True), (101, False)])
def test_a_file_over_the_limit(size, is_read, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    assert read_file(path, 100) == (b"x" * size if is_read else None)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", b""),
        (b"aa\nbb\ncc\n", b"aa\nbb\ncc\n"),
        (b"1\naa\nbb\ncc\n", b"bb\ncc\n"),
        (b"123aa\nbb\ncc\n", b"bb\ncc\n"),
        (b"x" * 30, b""),
    ],
)
def test_the_last_lines_of_a_long_file(content, expected, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert read_last_lines(path, 9) == expected


def test_a_record_that_is_too_deep_is_skipped(tmp_path):
    path = tmp_path / "file"
    path.write_text("[" * 100_000 + '\n{"id": "a"}\n')
    assert list(records(path)) == [{"id": "a"}]


STORES = [
    # What makes a store, and what is called its marker.
    (tissue, ".tissue/issues.jsonl", ".tissue"),
    (tk, ".tickets/a-1.md", ".tickets"),
    (backlog, "backlog.config.yml", "backlog.config.yml"),
    (backlog, "backlog/config.yml", "backlog/config.yml"),
    (backlog, "backlog/config.yaml", "backlog/config.yaml"),
    (backlog, ".backlog/config.yml", ".backlog/config.yml"),
    (backlog, ".backlog/config.yaml", ".backlog/config.yaml"),
    (taskmaster, ".taskmaster/tasks/tasks.json", ".taskmaster/tasks"),
    (taskmaster, ".taskmaster/config.json", ".taskmaster/config.json"),
    (taskmaster, ".taskmaster/state.json", ".taskmaster/state.json"),
    (taskmaster, ".taskmasterconfig", ".taskmasterconfig"),
    (taskmaster, "tasks/tasks.json", "tasks/tasks.json"),
]


@pytest.mark.parametrize(("system", "name", "marker"), STORES)
def test_a_store_is_found_from_a_sub_directory(system, name, marker, project, make_context):
    deep = project / "a" / "b"
    # A folder may be somebody's work, a tool's login is no project, and a file no folder.
    for folder in (deep, project / "backlog", project.parent / ".taskmaster"):
        folder.mkdir(parents=True)
    for file in ("a/.tissue", "a/.tickets", "../.taskmaster/auth.json"):
        (project / file).write_text("{}")
    assert system.detect(make_context(deep)) is None
    write_file(project / name, "{}")
    assert system.detect(make_context(deep)).marker == str(project / marker)


@pytest.mark.parametrize(("system", "own"), [(tissue, ".tissue"), (tk, ".tickets")])
def test_what_a_system_writes_is_its_own(system, own):
    (probe,) = system.grove_ticket_probes()
    assert probe.paths == (own,)


def test_a_redirection_in_a_circle(project, make_context):
    store = project / ".beads"
    store.mkdir()
    (store / "redirect").write_text("circle")
    for directory in (project, store):
        (directory / "circle").symlink_to("circle")
    assert real_path(project / "circle") == project / "circle"
    assert beads.detect(make_context()) is None
    assert br.detect(make_context()) is None


def test_a_repository_whose_pointer_is_a_pipe(project):
    os.mkfifo(project / ".git")
    assert find_repository(project) is not None


@pytest.mark.parametrize("system", [backlog, beads, br, gitbug, linear, taskmaster, tissue, tk])
@pytest.mark.parametrize("name", ["x" * 300, ("x" * 200 + "/") * 25])
def test_stores_with_impossible_names(system, name, project, make_context):
    variables = ("BEADS_DIR", "TISSUE_STORE", "TICKETS_DIR", "BACKLOG_CWD", "BEADS_JSONL")
    context = make_context(**dict.fromkeys(variables, name))
    assert system.detect(context) is None
    assert system.current_ticket(context) is None


def test_a_store_of_pipes(project, make_context):
    store = project / ".beads"
    store.mkdir()
    names = ("metadata.json", "last-touched", "issues.jsonl", "redirect", "interactions.jsonl")
    for name in names:
        os.mkfifo(store / name)
    assert beads.detect(make_context()) is not None
    assert beads.current_ticket(make_context()) is None


SYSTEM_PATH = "/usr/bin:/bin"
ASKING = """
import os, sys, threading
from pathlib import Path
from grove_tickets.asking import ask
path, seconds, way = sys.argv[1], float(sys.argv[2]), sys.argv[3]
asked = (path, (), Path("/"), {"PATH": os.path.dirname(path) + ":/usr/bin:/bin"}, seconds)
threading.Thread(target=ask, args=("asked", *asked[1:]), daemon=True).start()
sys.stdin.readline()
if way == "at once":
    os._exit(0)
"""


def install(directory: Path, script: str) -> Path:
    return write_program(directory / "asked", script)


def read_ready(descriptor: int) -> bytes:
    """Read what a pipe holds within a minute; nothing at its end."""
    assert select.select([descriptor], [], [], 60)[0], "nothing was written, and it is still open"
    return os.read(descriptor, 100)


@pytest.mark.parametrize(
    ("script", "answer"),
    [
        ("echo yes", "yes\n"),
        ("echo yes; exit 1", ""),
        ("echo yes; exec sleep 20", ""),
        ("echo yes; sleep 20 & exit 0", ""),
        ("exec >&-; exec sleep 20", ""),
        ("head -c 5000000 /dev/zero", ""),
    ],
)
def test_what_a_program_answers(script, answer, tmp_path):
    install(tmp_path, script)
    environment = {"PATH": f"{tmp_path}:{SYSTEM_PATH}"}
    # Only where an answer comes is its time not waited for.
    assert ask("asked", (), tmp_path, environment, 60 if answer else 0.3) == answer


def test_a_program_without_a_limiter_is_killed_too(tmp_path):
    install(tmp_path, "while :; do :; done")
    assert ask("asked", (), tmp_path, {"PATH": str(tmp_path)}, 0.2) == ""


def test_a_long_answer_is_read_whole(tmp_path):
    install(tmp_path, "head -c 3000000 /dev/zero")
    environment = {"PATH": f"{tmp_path}:{SYSTEM_PATH}"}
    assert len(ask("asked", (), tmp_path, environment, 60)) == 3_000_000


@pytest.mark.parametrize("mark", [".git", ".grove", ".beads"])
def test_a_program_of_the_project_is_not_run(mark, tmp_path):
    for folder in ("project/bin", "project/deep", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "project" / mark).mkdir()
    install(tmp_path / "project/bin", "echo evil")
    path = f"{tmp_path}/project/bin:{tmp_path}/elsewhere:{SYSTEM_PATH}"
    assert ask("asked", (), tmp_path / "project/deep", {"PATH": path}, 1) == ""
    install(tmp_path / "elsewhere", "echo yes")
    assert ask("asked", (), tmp_path / "project/deep", {"PATH": path}, 60) == "yes\n"


@pytest.mark.parametrize("path", [".", "", "bin", f".:{SYSTEM_PATH}", f":{SYSTEM_PATH}"])
def test_a_program_of_the_current_directory_is_not_run(path, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    for directory in (tmp_path, tmp_path / "bin"):
        install(directory, "echo yes")
    monkeypatch.chdir(tmp_path)
    assert ask("asked", (), tmp_path, {"PATH": path}, 1) == ""


@pytest.mark.parametrize("cwd", ["missing", "x" * 5000, "asked"])
def test_a_directory_that_is_none(cwd, tmp_path):
    install(tmp_path, "echo yes")
    assert ask("asked", (), tmp_path / cwd, {"PATH": f"{tmp_path}:{SYSTEM_PATH}"}, 1) == ""


@pytest.mark.parametrize(("way", "seconds"), [("in order", "60"), ("at once", "1")])
def test_nothing_outlives_the_process_that_asked(way, seconds, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    program = install(tmp_path, f"exec 3>'{pipe}'; echo started >&3; sleep 600; echo late >&3")
    command = [sys.executable, "-c", ASKING, str(program), seconds, way]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert read_ready(reading) == b"started\n"
        process.communicate(b"\n", timeout=60)
    assert process.returncode == 0
    assert read_ready(reading) == b""
    os.close(reading)
