"""What a file looks like that was given as something else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.interchange.recognising import why_not_read_as

FORMS = ("notes", "solutions", "older-grove", "jsonl")
OLDER = "## cl_20260206_001\n\n**Category:** Pitfall\n**Summary:** Words\n\nText.\n\n---\n"
SOLVED = "---\ntitle: Orders\nproblem_type: ui_bug\n---\n\n# Orders\n"
LINES = '{"title": "Orders"}\n{"title": "Invoices"}\n'
NOTES = "# Shop\n\n- A rule of more than five words here.\n"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("notes", NOTES),
        ("notes", "[A link](x.md) and {a brace} of words.\n"),
        ("notes", "{a brace: of words}\n"),
        ("notes", f"---\ntitle: Orders\n---\n\n{NOTES}"),
        ("notes", "Such an entry begins with `## cl_20260206_001` and has fields below.\n"),
        ("solutions", SOLVED),
        ("solutions", NOTES),
        ("older-grove", OLDER),
        ("older-grove", NOTES),
        ("jsonl", LINES),
        ("jsonl", '{"title": broken}\n{"title": "Invoices"}\n'),
        *((form, text) for form in FORMS for text in ("", " \n\n")),
    ],
)
def test_what_may_be_of_its_format_is_read(form, text):
    assert why_not_read_as(form, text) == ""


@pytest.mark.parametrize("form", FORMS)
def test_json_over_several_lines_is_one_document(form):
    for sent in ({"title": "Orders"}, [{"title": "Orders"}]):
        assert "one JSON document" in why_not_read_as(form, json.dumps(sent, indent=2))


@given(st.sampled_from(FORMS), st.text() | st.sampled_from([OLDER, SOLVED, LINES]))
def test_any_text_gets_an_answer(form, text):
    answer = why_not_read_as(form, text)
    assert not answer or answer.startswith("it looks like ")
