"""What a client reads: events in pieces, values of any kind, words that people see."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_mcp.client.http import EventReader
from grove_backend_mcp.client.messages import Cleaner

SECRET = "hunter22"
LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)
EVENTS = st.lists(st.lists(LINES, min_size=1, max_size=3), max_size=4)


def in_pieces(data, cuts):
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(ends)]


@settings(max_examples=50)
@given(EVENTS, st.sampled_from(["\n", "\r\n", "\r"]), st.lists(st.integers(0, 400)))
def test_events_are_the_same_however_they_are_cut(events, end, cuts):
    blocks = ["".join(f"data: {line}{end}" for line in lines) + end for lines in events]
    stream = f": hello{end}{end}" + "".join(blocks)
    reader = EventReader()
    found = [data for piece in in_pieces(stream.encode(), cuts) for data in reader.feed(piece)]
    found += reader.finish()
    wanted = ["\n".join(lines).encode() for lines in events]
    assert found == [data for data in wanted if data]


@pytest.mark.parametrize(
    ("stream", "found"),
    [
        (b"event: message\ndata: 1\n\n", [b"1"]),
        (b"event: endpoint\ndata: /x\n\ndata: 2\n\n", [b"2"]),
        (b"data:no blank\ndata\ndata:  two\n\n", [b"no blank\n\n two"]),
        (b"id: 1\nretry: 10\nunknown: x\n\n", []),
        (b"data: without an empty line", [b"without an empty line"]),
        (b"\xef\xbb\xbfdata: 3\n\n", [b"3"]),
    ],
)
def test_events_are_read_as_their_standard_says(stream, found):
    reader = EventReader()
    assert [*reader.feed(stream), *reader.finish()] == found


@given(st.text())
def test_a_line_is_short_visible_and_whole(text):
    line = Cleaner((SECRET,)).line(text)
    assert line == "" or line.isprintable()
    assert len(line) <= 300
    assert Cleaner((SECRET,)).line(line) == line


@pytest.mark.parametrize("dump", [{}, {"ensure_ascii": False}])
def test_a_secret_is_masked_as_json_writes_it_too(dump):
    secret = 'pä"ss\\w/ord'
    text = json.dumps({"key": secret}, **dump)
    assert Cleaner((secret,)).line(text) == '{"key": "***"}'
    assert Cleaner((secret,)).line(text.replace("/", "\\/")) == '{"key": "***"}'
