"""The harness drives the real clients, and ends one that does not end by itself."""

from hosts import Shell


def test_a_session_is_resumed(stage):
    first = stage.play(Shell("echo it has run"), "The first answer.")
    assert "it has run" in first.requests[1].new
    second = stage.play("The second.", resume=first.session)
    assert (second.exit_code, second.session) == (0, first.session), second.stderr
    assert "The first answer." in second.requests[0].read


def test_a_client_that_never_ends_is_ended(codex):
    codex.install_hooks(STOP=[{"block": "go on"}] * 100)
    codex.client.trust_hooks(codex.home, codex.project)
    run = codex.play("Done.", most=5)
    assert (run.ended_by, len(run.requests)) == ("requests", 5)


def test_the_sandbox_of_codex_keeps_its_shell_out_of_the_home(codex):
    files = (codex.home / "kept-out", codex.project / "let-in")
    run = codex.play(*(Shell(f"touch '{file}'") for file in files), "Done.")
    assert "Read-only file system" in run.requests[1].new
    assert [file.exists() for file in files] == [False, True]
