"""What an agent of the real client is told about a vague reflection, and what becomes of a flood."""

import json
from pathlib import Path

from scenario import CLOSE, FINISHED, bash, results

LESSONS = Path(__file__).parents[2] / "data" / "lessons"
VAGUE = """grove reflect --category process --criterion behavior_changing --tag quality \
--summary 'Always test reports carefully' \
--detail 'Good tests find mistakes early and make everybody more confident.'"""
CONCRETE = """grove reflect --category pitfall --criterion behavior_changing --tag orders \
--summary 'OrderReport.rows() asks once per order' \
--detail 'Without prefetch_items() 2,000 orders take 40 s, and the export times out.'"""


def test_a_vague_reflection_is_refused_once_with_its_reason_and_the_second_is_stored(project):
    run = project.play([CLOSE, FINISHED, bash(VAGUE), bash(CONCRETE), FINISHED])
    refused, stored = results(run)[-2:]
    assert "It says neither why, nor when, nor what else happens" in refused
    assert 'say for example: "Always test reports carefully because …; else …".' in refused
    assert "stored cl_" in stored
    assert "The gate is open." in stored
    assert "OrderReport.rows() asks once per order" in project.learnings()
    assert "Always test reports" not in project.learnings()


def test_a_flood_of_fifty_stores_five(project):
    lines = (LESSONS / "authors.jsonl").read_text(encoding="utf-8").splitlines()
    good = [one["candidate"] for one in map(json.loads, lines) if one["label"] == "keep"]
    (project.root / "flood.json").write_text(json.dumps({"candidates": good[:50]}))
    run = project.play([CLOSE, FINISHED, bash("grove reflect < flood.json"), FINISHED])
    said = results(run)[-1]
    assert said.count("stored cl_") == project.learnings().count("### [cl_") == 5
    assert "a reflection stores 5 (reflection.max_learnings)" in said
    assert "The gate is open." in said


def test_the_brief_quotes_what_the_client_s_transcript_holds(project):
    prompt = "No, ask bd, and never read the JSON file instead of that."
    turns = [CLOSE, bash("bd show bd-77"), bash("bd show bd-2"), FINISHED, FINISHED]
    session_id = project.play(turns, prompt=prompt)["session_id"]
    words = ("grove", "reflect", "--brief", "--json", "--session-id", session_id)
    brief = json.loads(project.command(*words))
    assert brief["corrections"] == [prompt]
    assert brief["repaired"] == ["bd show bd-77: failed; passed: bd show bd-2"]
