"""What the kit hears: its own thread and those that begin meanwhile, and nothing else."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from grove_core.testing.watching import ASKING, CHANGING, Watching


def run_a_program(folder):
    subprocess.run([sys.executable, "-S", "-c", ""], cwd=folder, check=True)


def write_a_file(folder):
    (folder / "file").write_text("text")


def make_a_folder(folder):
    os.makedirs(folder / "inner", exist_ok=True)


DEEDS = {
    "subprocess.Popen": run_a_program,
    "open": write_a_file,
    "os.mkdir": make_a_folder,
}


@pytest.mark.parametrize("event", DEEDS)
def test_what_this_thread_does_is_heard_and_what_others_do_meanwhile_is_not(event, tmp_path):
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder in (mine, theirs):
        folder.mkdir()
    with ThreadPoolExecutor(1) as others:
        others.submit(int).result()  # so that the thread is there already
        with Watching(ASKING | CHANGING) as watching:
            others.submit(DEEDS[event], theirs).result()
            assert watching.heard == []
            DEEDS[event](mine)
    assert any(one.startswith(f"{event} ") and str(mine) in one for one in watching.heard)
    assert not any(str(theirs) in one for one in watching.heard)


@pytest.mark.parametrize("event", DEEDS)
def test_threads_that_begin_meanwhile_are_heard_and_those_that_they_begin(event, tmp_path):
    def begin_another():
        with ThreadPoolExecutor(1) as another:
            another.submit(DEEDS[event], tmp_path).result()

    with Watching(ASKING | CHANGING) as watching, ThreadPoolExecutor(1) as begun:
        begun.submit(begin_another).result()
    assert any(one.startswith(f"{event} ") for one in watching.heard)
