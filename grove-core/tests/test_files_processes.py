"""Several processes at one file, and processes that die in the middle of a write."""

import json
import subprocess
import sys
import textwrap

import pytest

from grove_core.storage import files

PREAMBLE = """
    import json, os, pathlib, signal, sys, time
    from grove_core.storage import files
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
    program = textwrap.dedent(PREAMBLE) + textwrap.dedent(script)
    command = [sys.executable, "-c", program, folder, *arguments]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


EIGHT = """
    from datetime import UTC, datetime
    from attrs import evolve
    from grove_core.model.session import Session
    from grove_core.storage.sessions import SessionStore
    NOW = datetime(2026, 2, 6, tzinfo=UTC)
    store = SessionStore(folder / "sessions")
    store.update("s", lambda _: Session(
        id="s", host="h", cwd="0", project_root="/", created_at=NOW, updated_at=NOW
    ))

    def append(number):
        for turn in range(15):
            files.append_text(folder / "log", f"{number}-{turn} " + "x" * (number * 700) + "\\n")

    def edit():
        for _ in range(15):
            files.edit_text(folder / "number", lambda text: str(int(text) + 1))
            files.append_text(folder / "number", lambda text: "")
            store.update("s", lambda stored: evolve(stored, cwd=str(int(stored.cwd) + 1)))

    children = [fork(lambda: append(number)) for number in range(4)]
    print(json.dumps([wait(*children, *[fork(edit) for _ in range(4)]), store.get("s").cwd]))
"""


def test_eight_processes_that_append_and_edit_lose_nothing(tmp_path):
    """Each edit gives the file a new inode, on which the others must lock anew."""
    (tmp_path / "log").write_text("the beginning without a newline")
    (tmp_path / "number").write_text("0")
    assert run(EIGHT, tmp_path) == [[0] * 8, "60"]
    first, *lines = (tmp_path / "log").read_text().splitlines()
    assert first == "the beginning without a newline"
    written = sorted(f"{number}-{turn}" for number in range(4) for turn in range(15))
    assert sorted(line.split()[0] for line in lines) == written
    assert all(line.count("x") == int(line.split("-")[0]) * 700 for line in lines)
    assert (tmp_path / "number").read_text() == "60"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["log", "number", "sessions"]


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


# Death. Every function of the operating system that the modules call is counted, and the process
# kills itself before the n-th call, after it, or in the middle of a write, for every n.


DEATH = """
    operation = sys.argv[2]
    NAMES = "open write fsync fchmod close ftruncate replace rename unlink mkdir pread".split()
    real = {name: getattr(os, name) for name in NAMES}

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

    outcomes = []
    for moment in ("before", "after", "half"):
        number = 0
        while True:
            number += 1
            path = folder / f"{moment}-{number}" / "f"
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
OLD = "old\xff\r\n"
NEW = {"append": OLD + "new" * 1000 + "\n", "edit": OLD + "new", "replace": "new"}


@pytest.mark.parametrize("operation", list(NEW))
def test_death_at_any_moment_leaves_the_old_or_the_new_content(tmp_path, operation):
    outcomes = run(DEATH, tmp_path, operation)
    killed = [one for one in outcomes if one[2] != 0]
    assert len(killed) >= 9
    for moment, number, status, content in outcomes:
        assert status in (0, 9)
        if content == NEW[operation] or (status and content == OLD):
            continue
        # A write that the kernel itself cuts in the middle leaves a torn last line, no more: what
        # was there before is whole, and the next append begins on a line of its own.
        assert (operation, moment) == ("append", "half")
        path = tmp_path / f"{moment}-{number}" / "f"
        assert path.read_bytes().startswith(OLD.encode("latin-1") + b"new")
        files.append_text(path, "next\n")
        assert path.read_bytes().splitlines()[-1] == b"next"
    assert {OLD, NEW[operation]} <= {content for *_, content in outcomes}
