"""A headless Chromium, wherever `make real-tools` could get one."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "harness"))
import chromium


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = chromium.find()
    if program is None:
        pytest.skip("no chromium on PATH: run make real-tools")
    with chromium.running(program, tmp_path_factory.mktemp("chromium")) as one:
        yield one
