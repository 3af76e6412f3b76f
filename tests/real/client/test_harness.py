"""The harness itself: what grove relies on in the client, seen through the recorder."""

from pathlib import Path

RUN = Path(__file__).parent / "harness" / "run.py"


def test_a_stop_hook_that_blocks_is_obeyed_and_told_so_afterwards(bare_project):
    transcript = bare_project.play(
        [{"text": "Finished?"}, {"text": "Finished."}],
        plugin_dir=(),
        rules={"Stop": [{"exit": 2, "stderr": "one more step"}]},
    )
    stops = [each for each in transcript["recorded"] if each["event"] == "Stop"]
    assert [each["stdin"]["stop_hook_active"] for each in stops] == [False, True]
    assert any("one more step" in each["text"] for each in transcript["injected"])
    assert transcript["final_text"] == "Finished."
    assert transcript["exit_code"] == 0
    assert transcript["left_running"] == []


def test_prompts_are_given_one_after_the_other_in_one_process(bare_project):
    transcript = bare_project.play(
        [{"text": "One."}, {"text": "Two."}],
        plugin_dir=(),
        record=True,
        prompt=["first", "/clear", "second"],
    )
    assert transcript["exit_code"] == 0
    old, new = transcript["session_ids"]
    found = [(each["session_id"], each["result"]) for each in transcript["results"]]
    assert found == [(old, "One."), (new, ""), (new, "Two.")]
    assert len({each["env"]["CLAUDE_PID"] for each in transcript["recorded"]}) == 1
    assert transcript["hooks"] == []  # the recorder does not count


def test_a_process_that_outlives_the_client_is_named_and_ended(bare_project):
    daemon = "nohup sleep 60.25 >/dev/null 2>&1 </dev/null &"
    transcript = bare_project.play(
        [{"tool": "Bash", "input": {"command": daemon, "description": "Leave it"}}, {"text": "."}],
        plugin_dir=(),
    )
    assert [command for _, command in transcript["left_running"]] == ["sleep 60.25"]
