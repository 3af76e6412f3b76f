"""Files of a repository are read with bounds, whatever someone has put there."""

import os
from pathlib import Path

import pytest

from grove_tickets import backlog, beads, br, gitbug, linear, taskmaster, tissue, tk
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
