"""The byte filter of a touched file: it goes on when a learning may name it, else it ends."""

import json

import pytest

from grove_core.hooks import fast
from grove_core.prefilter import Prefilter

ROOT = "/real/shop"
NOTED = ["a.py", "README.md", "how to", "ä.py", "lib"]
SESSION = "known"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True, scope="module")
def watched(home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROVE_HOME", str(home))
        noted = home / "noted-names"
        noted.write_text("\n".join(["mark", *NOTED, ""]), encoding="utf-8")
        prefilter = Prefilter(home / "cache")
        prefilter.watch_files(SESSION, noted)
        prefilter.let_be(SESSION, f"{ROOT}/src/seen/src/a.py")
        yield prefilter


def call(tool_input, tool="Read", **fields):
    return {
        "session_id": SESSION,
        "cwd": ROOT,
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": tool_input,
        "tool_response": {"filePath": f"{ROOT}/src/a.py"},
        **fields,
    }


def may_be_noted(document):
    """The answer to both ways in which clients write JSON."""
    answers = {
        fast._may_be_noted(json.dumps(document, ensure_ascii=False, separators=form).encode())
        for form in ((",", ":"), None)
    }
    assert len(answers) == 1
    return answers.pop()


@pytest.mark.parametrize(
    "path",
    [
        f"{ROOT}/src/a.py",
        "/elsewhere/work-tree/src/a.py",
        f"{ROOT}/docs/how to",
        f"{ROOT}/größe/ä.py",
    ],
)
def test_a_file_that_a_learning_may_name(path):
    assert may_be_noted(call({"file_path": path}))
    assert may_be_noted(call({"content": '"file_path": "/x"', "file_path": path}, "Write"))
    assert may_be_noted(call({"old_string": "file_path", "file_path": path}, "Edit"))
    assert may_be_noted(call({"edits": [], "file_path": path}, "MultiEdit"))
    assert may_be_noted(call({"notebook_path": path}, "NotebookEdit"))


@pytest.mark.parametrize(
    "path",
    [
        f"{ROOT}/src/b.py",
        f"{ROOT}/docs/how/to",
        f"{ROOT}/vendor/lib/deep/inside.c",
        f"{ROOT}/a.py.orig",
        f"{ROOT}/src/seen/src/a.py",  # nothing more to say of it
        f"{ROOT}/{'x/' * 100}b.py",
    ],
)
def test_a_file_that_none_names(path):
    assert not may_be_noted(call({"file_path": path}))


@pytest.mark.parametrize(
    "tool_input",
    [
        {},
        {"file_path": "src/b.py"},
        {"file_path": f"{ROOT}/src/../b.py"},
        {"file_path": f'{ROOT}/"b".py'},
    ],
)
def test_what_is_odd_goes_the_full_way_where_files_are_watched(tool_input):
    assert may_be_noted(call(tool_input))
    assert not may_be_noted(call(tool_input, session_id="another"))
