"""The harness drives the real clients: their hooks are called, and their model is the script."""

import shlex

from hosts import Shell

REASON = "one more thing to do"
BLOCK = {"decision": "block", "reason": REASON}


def trust(stage):
    if stage.client.name == "codex":
        stage.client.trust_hooks(stage.home, stage.project)


def test_hooks_are_called_and_a_stop_is_held_once(stage):
    stage.record(**{stage.client.stop: [BLOCK]})
    trust(stage)
    run = stage.play(Shell("echo done > ran.txt; echo it has run"), "Done.", "Now done.")
    assert (run.exit_code, run.ended_by) == (0, ""), run.stderr
    assert (stage.project / "ran.txt").read_text() == "done\n"
    assert "it has run" in run.requests[1].new
    assert len(run.requests) == 3
    assert run.first(REASON) == 2
    assert [bool(stage.recorded(event)) for event in stage.client.events] == [True] * len(
        stage.client.events
    )


def test_a_session_is_resumed(stage):
    first = stage.play("The first answer.")
    second = stage.play("The second.", resume=first.session)
    assert (second.exit_code, second.session) == (0, first.session), second.stderr
    assert "The first answer." in second.requests[0].read


def test_a_client_that_never_ends_is_ended(codex):
    codex.record(Stop=[BLOCK] * 100)
    trust(codex)
    run = codex.play("Done.", most=5)
    assert (run.ended_by, len(run.requests)) == ("requests", 5)


def test_a_hook_of_codex_runs_only_as_it_was_trusted(codex):
    codex.record()
    codex.play("Done.")
    assert not codex.recorded("Stop")


def test_the_sandbox_of_codex_keeps_the_shell_out_of_the_home(codex):
    files = (codex.home / "kept-out", codex.project / "let-in")
    commands = (Shell(f"touch {shlex.quote(str(file))}") for file in files)
    run = codex.play(*commands, "Done.")
    assert "Read-only file system" in run.requests[1].new
    assert [file.exists() for file in files] == [False, True]
