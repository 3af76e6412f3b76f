"""Edits of JSON text: the value changes as asked, every other byte stays."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.errors import CodecError
from grove_core.hosts import json_edits

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=4), values, max_size=4)


@st.composite
def written(draw, source=objects):
    """A value as text in any layout, with its value."""
    value = draw(source)
    gaps = draw(st.sampled_from([[""], [" "], ["", " ", "\n", "\t"], ["\r\n", " "], ["\r", ""]]))
    escapes = draw(st.booleans())

    def gap():
        return draw(st.sampled_from(gaps)) if len(gaps) > 1 else gaps[0]

    def render(one):
        if isinstance(one, dict):
            members = (
                f"{gap()}{json.dumps(key, ensure_ascii=escapes)}{gap()}:{gap()}{render(each)}{gap()}"
                for key, each in one.items()
            )
            return "{" + (",".join(members) or gap()) + "}"
        if isinstance(one, list):
            return "[" + (",".join(f"{gap()}{render(each)}{gap()}" for each in one) or gap()) + "]"
        return json.dumps(one, ensure_ascii=escapes)

    return f"{gap()}{render(value)}{gap()}", value


def paths_of(value, path=()):
    """The paths of all values inside a value."""
    steps = {dict: lambda: list(value.items()), list: lambda: list(enumerate(value))}
    for step, each in steps.get(type(value), list)():
        yield (*path, step)
        yield from paths_of(each, (*path, step))


def at(value, path):
    for step in path:
        value = value[step]
    return value


@settings(max_examples=30, deadline=None)
@given(written(), values, st.data())
def test_a_value_that_is_added_can_be_taken_out_again(case, value, data):
    text, document = case
    containers = [(), *(path for path in paths_of(document))]
    container = data.draw(
        st.sampled_from(
            [path for path in containers if isinstance(at(document, path), dict | list)]
        )
    )
    place = at(document, container)
    key = "added" if isinstance(place, dict) else None

    changed = json_edits.add(text, container, value, key)
    step = "added" if key else len(place)
    if key:
        place[key] = value
    else:
        place.append(value)
    assert json.loads(changed) == document

    back = json_edits.remove(changed, (*container, step))
    if len(place) > 1:
        assert back == text
    else:
        # What was between empty brackets is not put back.
        assert json.loads(back) == json.loads(text)


@settings(max_examples=30, deadline=None)
@given(written(), values, st.data())
def test_replacing_and_removing_touch_nothing_else(case, value, data):
    text, document = case
    paths = list(paths_of(document))
    if not paths:
        return
    path = data.draw(st.sampled_from(paths))
    *parent, step = path
    at(document, parent)[step] = value
    assert json.loads(json_edits.replace(text, path, value)) == document
    del at(document, parent)[step]
    assert json.loads(json_edits.remove(text, path)) == document


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "k": [\n    1\n  ]\n}\n'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"k": [\r\n\t\t1\r\n\t]\r\n}'),
        ('{"a":1}', '{"a":1,"k":[1]}'),
        ('{"a": 1}', '{"a": 1, "k": [1]}'),
        ("{}", '{\n  "k": [\n    1\n  ]\n}'),
    ],
)
def test_what_is_added_takes_the_layout_of_what_is_there(before, after):
    assert json_edits.add(before, (), [1], "k") == after


def test_an_array_in_one_line_stays_so_and_of_two_keys_the_last_one_counts():
    text = '{\n  "allow": ["Bash(ls)"]\n}'
    assert json_edits.add(text, ("allow",), "Read") == '{\n  "allow": ["Bash(ls)", "Read"]\n}'
    assert json_edits.add('{"a":[1],"a":[2]}', ("a",), 3) == '{"a":[1],"a":[2,3]}'


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n  "a" 1\n}', "line 2, column 7"),
        ("{\n  // words\n}", "line 2, column 3"),
        ('{"a": NaN}', "NaN"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text, where):
    with pytest.raises(CodecError, match=where):
        json_edits.parse(text)
