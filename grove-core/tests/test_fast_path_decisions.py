"""The byte filter of a tool call passes over no call that the full way would look at."""

import json
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grove_core.hooks.fast import _may_close, has_nothing_to_do
from grove_core.prefilter import Prefilter

WORDS = ["bd", "tissue", "tk_close", "close-it", "completed"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True, scope="module")
def environment(home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROVE_HOME", str(home))
        Prefilter(home / "cache").write("known", WORDS, close_waits=False)
        yield


def payload(tool_input, **fields):
    return {
        "session_id": "known",
        "transcript_path": "/t.jsonl",
        "cwd": "/p",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": tool_input,
        "tool_use_id": "toolu_1",
        **fields,
    }


def encoded(document):
    """As clients write JSON: compact or not, with or without escapes of what is not ASCII."""
    for ascii_only in (True, False):
        for separators in ((",", ":"), None):
            text = json.dumps(document, ensure_ascii=ascii_only, separators=separators)
            yield text.encode("utf-8", "surrogatepass")


def _close_waits(data):
    return not has_nothing_to_do("post-tool-use-failure", data)


def may_close(tool_input, **fields):
    answers = {_may_close(data) for data in encoded(payload(tool_input, **fields))}
    assert len(answers) == 1
    return answers.pop()


def test_only_the_input_of_the_call_counts():
    """The path of a project called like a program would send every call the full way."""
    assert not may_close({"command": "ls"}, cwd="/home/bd", transcript_path="/bd/tissue.jsonl")
    assert may_close({"taskId": "1", "status": "completed"}, tool_name="TaskUpdate")
    assert may_close({"nested": [{"deep": "bd"}]}, tool_name="mcp__x__y")
    assert may_close({"bd": 1})
    # Without input all of the payload is searched.
    assert _may_close(b'{"session_id":"known","tool":"bd"}')
    assert not _may_close(b'{"session_id":"known","tool":"ls"}')


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b'{"session_id":"unknown","tool_input":{}}',
        b'{"session_id":"","tool_input":{}}',
        b'{"session_id":"../fast/known","tool_input":{}}',
        b'{"session_id":"kn\\u006fwn","tool_input":{}}',
        b'{"session_id":"known',
        b'{"session_id":"' + b"x" * 200 + b'"}',
    ],
)
def test_when_in_doubt_the_full_way_is_taken(data):
    assert _may_close(data)
    assert _close_waits(data)


def test_the_flag_decides_what_is_done_after_a_call(home):
    prefilter = Prefilter(home / "cache")
    data = json.dumps(payload({"command": "bd"}, session_id="flag")).encode()
    # Where there is no file, the flag makes none.
    prefilter.set_close_waits("flag", close_waits=False)
    assert _close_waits(data)
    prefilter.write("flag", WORDS, close_waits=True)
    for waits in (True, False, True):
        prefilter.set_close_waits("flag", close_waits=waits)
        assert _close_waits(data) is waits
        assert _may_close(data)
    prefilter.remove("flag")
    assert _close_waits(data)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("status of the bug", True),  # the order is the matcher's own affair
        ("bug\nstatus", True),
        ("git debug status", False),
        ("bug statuses", False),
        ("make close TICKET=T-1", True),
        ("make close ticket=T-1", False),
        ("git status && bd close x", True),
        ("bug; make; close", False),  # words of two literals
    ],
)
def test_all_words_of_a_literal_must_be_there(home, command, expected):
    words = ["bug status", "make close TICKET", "bd"]
    Prefilter(home / "cache").write("several", words, close_waits=False)
    assert may_close({"command": command}, session_id="several") is expected


PIECES = st.one_of(
    st.sampled_from([*WORDS, "b", "d", "é", "完", "\n", "\t", "\r", "\\", "\\n", '"', "'", "\x0b"]),
    st.sampled_from([" ", ";", "-", "_", "/", "\ud83d", "😀", "\u2028", "u0041", "\x00", "\x7f"]),
    st.text(max_size=3),
)
TEXTS = st.lists(PIECES, max_size=6).map("".join)
INPUTS = st.dictionaries(
    TEXTS, st.one_of(TEXTS, st.lists(TEXTS, max_size=2), st.none(), st.integers()), max_size=3
)
WHOLE_WORD = re.compile(
    "(?<![A-Za-z0-9_])(?:" + "|".join(map(re.escape, WORDS)) + ")(?![A-Za-z0-9])"
)


def strings_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)


@settings(max_examples=60, deadline=None)
@given(tool_input=INPUTS)
def test_no_call_with_a_word_in_its_input_is_passed_over(tool_input):
    assume(any(WHOLE_WORD.search(text) for text in strings_of(tool_input)))
    assert may_close(tool_input)


@settings(max_examples=40, deadline=None)
@given(tool_input=INPUTS, data=st.data())
def test_literals_of_several_words_pass_over_no_call_that_holds_all_of_one(home, tool_input, data):
    found = {word for text in strings_of(tool_input) for word in WHOLE_WORD.findall(text)}
    assume(found)
    held = data.draw(st.lists(st.sampled_from(sorted(found)), min_size=1))
    other = data.draw(st.lists(st.sampled_from(WORDS), min_size=1))
    Prefilter(home / "cache").write("any", [" ".join(held), " ".join(other)], close_waits=False)
    assert may_close(tool_input, session_id="any")
