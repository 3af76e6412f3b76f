"""Several processes at one file, and processes that die in the middle of a write."""

import json
import subprocess
import sys
import textwrap
from signal import SIGKILL

import pytest
from core_worlds import codes_of, fork
from deadly import Changes, Moment, moments

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


OLD = "old\xff\r\n"
ACTS = {
    "append": (
        lambda path: files.append_text(path, "new" * 1000 + "\n"),
        OLD + "new" * 1000 + "\n",
    ),
    "edit": (lambda path: files.edit_text(path, lambda text: text + "new"), OLD + "new"),
    "replace": (lambda path: files.replace(path, b"new"), "new"),
}


@pytest.mark.parametrize("operation", ACTS)
def test_death_at_any_moment_leaves_the_old_or_the_new_content(tmp_path, operation):
    """Before each change of a file that the operating system is asked for, or in the middle."""
    act, new = ACTS[operation]

    def acts_until(death):
        """The path, and the changes that are counted until a process dies in making them."""
        path = tmp_path / str(death.number) / str(death.half) / "f"
        path.parent.mkdir(parents=True)
        path.write_bytes(OLD.encode("latin-1"))
        changes = Changes(death)
        return path, changes.names, changes.counted_in(lambda: act(path))

    path, names, live = acts_until(Moment())
    live()
    assert path.read_bytes().decode("latin-1") == new
    assert len(names) >= 3
    for moment in moments(names):
        path, _, live = acts_until(moment)
        (code,) = codes_of(fork(live))
        assert code == -SIGKILL, moment
        content = path.read_bytes().decode("latin-1")
        if content in (OLD, new):
            continue
        # A write that the kernel itself cuts in the middle leaves a torn last line, no more: what
        # was there before is whole, and the next append begins on a line of its own.
        assert (operation, moment.half) == ("append", True)
        assert content.startswith(OLD + "new")
        files.append_text(path, "next\n")
        assert path.read_bytes().splitlines()[-1] == b"next"
