"""What a learning says of a file, beside the result of the tool that touches it, in the real client."""

import pytest
from scenario import FINISHED, agent, assert_ended_well

FILE = "reports/orders.py"
SUMMARY = "OrderReport.rows() runs one query per order unless items are prefetched"
LEARNING = f"""\
### [cl_20300102_aaaaaa] {SUMMARY}
- **Category:** pitfall
- **Scope:** project
- **Confidence:** high
- **Status:** active
- **Criteria:** stable_fact
- **Tags:** orders
- **Files:** {FILE}
- **Origin:** ticket bd-7 | session earlier
- **Created:** 2030-01-02T10:00:00Z

> Call prefetch_related('items') first.
"""
# Else it is shown at the start, and then not again.
QUIET = {"GROVE_RETRIEVAL_MAX_INJECTIONS": "0"}


@pytest.fixture
def noted(shop):
    """A project in which a learning names a file."""
    (shop.root / ".grove" / "learnings.md").write_text(LEARNING)
    return shop


def read(project, path=FILE):
    return {"tool": "Read", "input": {"file_path": str(project.root / path)}}


def edit(project):
    change = {"old_string": "pass", "new_string": "rows = None"}
    return {"tool": "Edit", "input": {"file_path": str(project.root / FILE), **change}}


def lines_in(transcript):
    """The lines that stand beside results, with the request in which the model read them."""
    return [
        (each["request"], line)
        for each in transcript["injected"]
        for line in each["text"].splitlines()
        if "names this file" in line
    ]


def test_the_line_stands_beside_the_result_of_the_first_tool_that_touches_the_file(noted):
    turns = [read(noted, ".beads/metadata.json"), read(noted), edit(noted), FINISHED]
    transcript = noted.play(turns, environment=QUIET)
    assert_ended_well(transcript)
    ((request, line),) = lines_in(transcript)
    assert request == 2
    assert "PostToolUse:Read hook additional context: grove: a pitfall" in line
    assert line.count(SUMMARY) == 1
    assert f"> {FILE}: {SUMMARY}" in line
    (surfaced,) = noted.events("surfaced")
    assert (surfaced["session_id"], surfaced["via"]) == (transcript["session_id"], "file")
    assert [one["learning_id"] for one in noted.events("dismissed")] == ["cl_20300102_aaaaaa"]


def test_a_subagent_is_told(noted):
    subagent = {"agents": {"SUBJOB": [read(noted), {"text": "Looked."}]}}
    turns = [agent("SUBJOB: look at it"), read(noted), FINISHED]
    transcript = noted.play(turns, script=subagent, environment=QUIET)
    assert_ended_well(transcript)
    (told,) = [each for each in transcript["injected"] if "names this file" in each["text"]]
    assert told["conversation"] != "main"
    assert len(noted.events("surfaced")) == 1
