"""What `grove reflect --brief` finds in the transcript of a session."""

import json

import pytest

from grove_core.services.transcript import Said, read_said

SECRET = "glpat-" + "x7Kq2mN9pR4tV8wZ1bC3"

PROMPTS = {
    "no, use the cents column, the other one is rounded": True,
    "Don't touch the generated files": True,
    "actually the tills want a comma": True,
    "that's wrong: staging has no mail": True,
    "I told you that we never call the bank from tests": True,
    "why did you delete the fixture?": True,
    "please use uv instead of pip here": True,
    "Now add the export of suppliers": False,
    "Notes of the meeting are in docs/notes.md, make a summary": False,
    "thanks, go on": False,
    "<command-name>/no</command-name>": False,
    "no " + "word " * 200: False,
}


def user(content, **fields):
    return {"type": "user", "message": {"role": "user", "content": content}, **fields}


def bash(key, command, output="", *, failed=False):
    call = {"type": "tool_use", "id": key, "name": "Bash", "input": {"command": command}}
    result = {
        "type": "tool_result",
        "tool_use_id": key,
        "is_error": failed,
        "content": [{"type": "text", "text": output}],
    }
    message = {"role": "assistant", "content": [call]}
    return [{"type": "assistant", "message": message}, user([result])]


@pytest.fixture
def said(tmp_path):
    def read(*entries):
        path = tmp_path / "transcript.jsonl"
        lines = (one if isinstance(one, str) else json.dumps(one) for one in entries)
        path.write_text("\n".join(lines) + "\n")
        return read_said(str(path))

    return read


@pytest.mark.parametrize("prompt", PROMPTS)
def test_prompts_that_correct_the_agent(said, prompt):
    assert said(user(prompt)).corrections == ([prompt] if PROMPTS[prompt] else [])


def test_what_failed_and_then_passed(said):
    found = said(
        *bash("1", "cd app && pytest tests/test_a.py", failed=True),
        *bash("2", "git status"),
        *bash("3", "LC_ALL=C pytest tests/test_a.py -n0"),
        *bash("4", "make proto", failed=True),
        *bash("5", "make proto"),
        *bash("6", "cargo build", failed=True),
    )
    assert found.repaired == [
        "pytest tests/test_a.py: failed; passed: pytest tests/test_a.py -n0",
        "make proto: passed later",
    ]


def test_remarks_of_a_review(said):
    output = "author: kim\nnit: say net or gross in the name of the column\nLooks fine otherwise."
    found = said(*bash("1", "gh pr view 12 --comments", output), *bash("2", "cat a", output))
    assert found.remarks == ["nit: say net or gross in the name of the column"]


def test_what_nobody_said_is_left_out_and_little_is_shown(said):
    corrections = [user(f"no, take number {at}") for at in range(9)]
    found = said(
        "not json",
        "[1]",
        user("no, by a subagent", isSidechain=True),
        user("no, by the client", isMeta=True),
        *corrections,
        user(f"no, use {SECRET} instead"),
    )
    assert found.corrections == [f"no, take number {at}" for at in (4, 5, 6, 7, 8)]
    assert read_said("") == read_said("/nowhere") == Said([], [], [])
