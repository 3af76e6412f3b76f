"""Several processes at one file, and processes that die in the middle of a write."""

import json
import subprocess
import sys
import textwrap

import pytest

from grove_core import files
from grove_core.errors import StorageError

PREAMBLE = """
    import json, os, pathlib, signal, sys, time
    from grove_core import files
    from grove_core.errors import StorageError
    folder = pathlib.Path(sys.argv[1])

    def fork(work):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work()
                code = 0
            finally:
                os._exit(code)
        return child

    def wait(*children):
        return [os.waitpid(child, 0)[1] for child in children]
"""


def run(script, folder, *arguments):
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent(PREAMBLE) + textwrap.dedent(script),
            folder,
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Contention.


EIGHT_APPEND = """
    def work(number):
        for turn in range(25):
            files.append_text(folder / "log", f"{number}-{turn} " + "x" * (number * 700) + "\\n")

    print(json.dumps(wait(*[fork(lambda: work(number)) for number in range(8)])))
"""


def test_eight_processes_that_append_lose_nothing(tmp_path):
    (tmp_path / "log").write_text("the beginning without a newline")
    assert run(EIGHT_APPEND, tmp_path) == [0] * 8
    first, *lines = (tmp_path / "log").read_text().splitlines()
    assert first == "the beginning without a newline"
    assert {line.split()[0] for line in lines} == {
        f"{number}-{turn}" for number in range(8) for turn in range(25)
    }
    assert all(line.count("x") == int(line.split("-")[0]) * 700 for line in lines)
    assert len(lines) == 200


EIGHT_EDIT = """
    def work():
        for _ in range(20):
            files.edit_text(folder / "number", lambda text: str(int(text) + 1))

    def append():
        for _ in range(20):
            files.append_text(folder / "number", lambda text: "")

    print(json.dumps(wait(*[fork(work) for _ in range(7)], fork(append))))
"""


def test_eight_processes_that_edit_lose_no_change(tmp_path):
    """Each edit gives the file a new inode, on which the others must lock anew."""
    (tmp_path / "number").write_text("0")
    assert run(EIGHT_EDIT, tmp_path) == [0] * 8
    assert (tmp_path / "number").read_text() == "140"
    assert [one.name for one in tmp_path.iterdir()] == ["number"]


HOLD = """
    ready, told = os.pipe()
    done, finished = os.pipe()

    def hold():
        with files.locked(folder / "f"):
            os.write(told, b"x")
            os.read(done, 1)

    child = fork(hold)
    os.read(ready, 1)
    try:
        with files.locked(folder / "f", timeout=0.05):
            outcome = "locked"
    except StorageError as error:
        outcome = str(error)
    {ending}
    wait(child)
    with files.locked(folder / "f", timeout=0.05):
        print(json.dumps([outcome, sorted(os.listdir(folder))]))
"""


@pytest.mark.parametrize("ending", ["os.write(finished, b'x')", "os.kill(child, signal.SIGKILL)"])
def test_a_lock_keeps_other_processes_out_and_dies_with_its_holder(tmp_path, ending):
    outcome, left = run(HOLD.format(ending=ending), tmp_path)
    assert f"{tmp_path / 'f'} is locked by another process" in outcome
    assert left == ["f"]


def test_a_lock_is_had_in_time_by_the_next(tmp_path):
    with (
        files.locked(tmp_path / "f"),
        pytest.raises(StorageError),
        files.locked(tmp_path / "f", timeout=0),
    ):
        pass
    with files.locked(tmp_path / "f", timeout=0):
        pass


# Death. Every function of the operating system that the modules call is counted, and the process
# kills itself before the n-th call, after it, or in the middle of a write, for every n.


DEATH = """
    operation = sys.argv[2]
    NAMES = "open write fsync fchmod close ftruncate replace rename unlink mkdir pread".split()
    real = {{name: getattr(os, name) for name in NAMES}}

    def count_down(left, moment):
        def wrap(name):
            def call(*arguments, **options):
                nonlocal left
                left -= 1
                if left == 0 and moment == "half" and name == "write":
                    real["write"](arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                if left == 0 and moment != "after":
                    os.kill(os.getpid(), signal.SIGKILL)
                result = real[name](*arguments, **options)
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return result
            return call
        for name in NAMES:
            setattr(os, name, wrap(name))

    {operations}

    outcomes = []
    for moment in ("before", "after", "half"):
        number = 0
        while True:
            number += 1
            path = folder / f"{{moment}}-{{number}}" / "f"
            path.parent.mkdir()
            prepare(path)
            def work():
                count_down(number, moment)
                act(path)
            (status,) = wait(fork(work))
            outcomes.append([moment, number, status, look(path)])
            if status == 0:
                break
    print(json.dumps(outcomes))
"""

FILES = """
    def prepare(path):
        path.write_bytes(b"old\\xff\\r\\n")

    def act(path):
        if operation == "append":
            files.append_text(path, "new" * 1000 + "\\n")
        elif operation == "edit":
            files.edit_text(path, lambda text: text + "new")
        else:
            files.replace(path, b"new")

    def look(path):
        return path.read_bytes().decode("latin-1")
"""
OLD = "old\xff\r\n"
NEW = {"append": OLD + "new" * 1000 + "\n", "edit": OLD + "new", "replace": "new"}


@pytest.mark.parametrize("operation", list(NEW))
def test_death_at_any_moment_leaves_the_old_or_the_new_content(tmp_path, operation):
    outcomes = run(DEATH.format(operations=textwrap.indent(FILES, "").strip()), tmp_path, operation)
    killed = [one for one in outcomes if one[2] != 0]
    assert len(killed) >= 9
    torn = set()
    for moment, number, status, content in outcomes:
        assert status in (0, 9)
        if content not in (OLD, NEW[operation]):
            torn.add((moment, number))
        if status == 0:
            assert content == NEW[operation]
    # A write that the kernel itself cuts in the middle leaves a torn last line, no more: what was
    # there before is whole, and the next append begins on a line of its own.
    for moment, number in torn:
        assert (operation, moment) == ("append", "half")
        path = tmp_path / f"{moment}-{number}" / "f"
        assert path.read_bytes().startswith(OLD.encode("latin-1") + b"new")
        files.append_text(path, "next\n")
        assert path.read_bytes().splitlines()[-1] == b"next"
    assert {OLD, NEW[operation]} <= {content for *_, content in outcomes}


SESSIONS = """
    from datetime import UTC, datetime
    from attrs import evolve
    from grove_core.model.session import Session
    from grove_core.sessions import FileSessionStore
    NOW = datetime(2026, 2, 6, tzinfo=UTC)
    OLD = Session(id="s", host="h", cwd="/old", project_root="/", created_at=NOW, updated_at=NOW)

    def prepare(path):
        if operation == "known":
            FileSessionStore(path.parent).put(OLD)

    def act(path):
        FileSessionStore(path.parent).update("s", lambda stored: evolve(stored or OLD, cwd="/new"))

    def look(path):
        store = FileSessionStore(path.parent)
        session = store.get("s")
        listed = [one.cwd for one in store.list()]
        again = store.update("s", lambda stored: evolve(stored or OLD, cwd="/later"))
        return [session and session.cwd, listed, again.cwd, len(store.set_aside)]
"""


@pytest.mark.parametrize(("operation", "old"), [("known", "/old"), ("unknown", None)])
def test_a_session_survives_death_at_any_moment(tmp_path, operation, old):
    outcomes = run(DEATH.format(operations=SESSIONS.strip()), tmp_path, operation)
    assert len(outcomes) >= 12
    for *_, status, (found, listed, later, aside) in outcomes:
        assert found in (old, "/new") if status else found == "/new"
        assert listed == ([found] if found else [])
        assert (later, aside) == ("/later", 0)
    assert {one[3][0] for one in outcomes} == {old, "/new"}
