"""What a file looks like that was given as something else."""

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
    ("form", "text", "answer"),
    [
        ("notes", NOTES, ""),
        ("solutions", SOLVED, ""),
        ("solutions", NOTES, ""),
        ("older-grove", OLDER, ""),
        ("older-grove", NOTES, ""),
        ("jsonl", LINES, ""),
        *((form, "", "") for form in FORMS),
        *((form, '{\n"title": "Orders"\n}', "one JSON document") for form in FORMS),
    ],
)
def test_what_may_be_of_its_format_is_read(form, text, answer):
    found = why_not_read_as(form, text)
    assert answer in found
    assert bool(found) is bool(answer)


@given(st.sampled_from(FORMS), st.text() | st.sampled_from([OLDER, SOLVED, LINES]))
def test_any_text_gets_an_answer(form, text):
    answer = why_not_read_as(form, text)
    assert not answer or answer.startswith("it looks like ")
