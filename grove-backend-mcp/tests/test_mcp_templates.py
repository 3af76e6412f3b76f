"""Templates of arguments: what is put in, what is left out, and what is refused with words."""

import pytest

from grove_backend_mcp.mappings.templates import (
    LEARNING_PLACEHOLDERS,
    check_template,
    fill,
)
from grove_core import BackendError

_VALUES = {
    "id": "cl_1",
    "content": "text with {braces} and {id}",
    "labels": ["grove", "a"],
    "metadata": {"v": 1, "é": [1]},
    "limit": 7,
    "handle": None,
    "status": "active",
}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{id}", "cl_1"),
        ("{limit}", 7),
        ("{labels}", ["grove", "a"]),
        ("{metadata}", {"v": 1, "é": [1]}),
        ("grove:{id}:{limit}", "grove:cl_1:7"),
        (" {metadata}", ' {"v":1,"é":[1]}'),
        ("{{id}}", "{id}"),
        ("{{{id}}}", "{cl_1}"),
        ("<{content}>", "<text with {braces} and {id}>"),
        ({"a": "{handle}", "b": 1}, {"b": 1}),
        ({"a": ["{handle}", "{id}"]}, {"a": ["cl_1"]}),
        ({"{id}": "{id}"}, {"{id}": "cl_1"}),
        ([True, None, 1.5, {"a": ()}], [True, None, 1.5, {"a": []}]),
    ],
)
def test_values_are_put_in(template, filled):
    assert fill(template, _VALUES) == filled


def test_a_placeholder_without_a_value_is_refused():
    with pytest.raises(BackendError, match="summary"):
        fill({"a": "{summary}"}, _VALUES)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{contnt}", "did you mean {content}?"),
        ("{query}", "unknown placeholder {query}"),
        ("a { b", "single '{'"),
        ({"a": ["x}"]}, "single '}'"),
        ({"a": {"b": object()}}, "JSON cannot say"),
    ],
)
def test_what_is_wrong_is_said(template, words):
    (fault,) = check_template(template, LEARNING_PLACEHOLDERS)
    assert words in fault
