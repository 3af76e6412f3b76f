"""A headless Chromium, wherever `make test-browser` could get one."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "harness"))
sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import chromium

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = chromium.find()
    if program is None:
        pytest.skip("no chromium on PATH; make test-browser says why")
    with chromium.running(program, tmp_path_factory.mktemp("chromium")) as one:
        yield one
