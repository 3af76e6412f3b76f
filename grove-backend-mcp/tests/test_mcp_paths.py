import pytest

from grove_backend_mcp.speaking.paths import leads_somewhere, steps_of, values_at

DOCUMENT = {"entities": [{"name": "a", "observations": ["x", "y"]}, {"name": "b"}, 3], "ids": [[1]]}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$", [DOCUMENT]),
        ("", [DOCUMENT]),
        ("$.entities[*].name", ["a", "b"]),
        ("entities[0].observations[*]", ["x", "y"]),
        ("$.entities[*].observations", [["x", "y"]]),
        ("$.ids[0][0]", [1]),
        ("$.entities[9]", []),
        ("$.entities.name", []),
        ("$.nothing[*]", []),
        ("$[*]", []),
    ],
)
def test_a_path_leads_to_its_values(path, values):
    assert list(values_at(path, DOCUMENT)) == values


@pytest.mark.parametrize(
    "path", ["$..name", "a[-1]", "a[?(@.b)]", "a[", "a b", "$$", "[*", "a[12345]"]
)
def test_what_is_no_path_says_where(path):
    with pytest.raises(ValueError, match="is no path at"):
        steps_of(path)


def test_a_list_with_nothing_in_it_is_another_thing_than_no_list():
    assert leads_somewhere("$.results[*]", {"results": []})
    assert not leads_somewhere("$.results[*]", {"result": []})
    assert leads_somewhere("$[*]", [])
    assert not leads_somewhere("$.results", {})


def test_a_great_many_values_are_cut():
    assert len(values_at("$[*][*]", [[0] * 1000] * 100)) == 10_000
