"""``grove reflect``, ``skip``, ``observe`` and ``ref``: what an agent tells grove."""

import sys
from pathlib import Path

import rich_click as click

from grove_core.cli.app import Invocation, find_session, grove_command
from grove_core.cli.options import session_option
from grove_core.cli.progress import name_slow_backend
from grove_core.cli.result import Result
from grove_core.cli.suggestions import learning_ids
from grove_core.errors import ReflectionError
from grove_core.hosts.claude_code import SESSION_ID_VARIABLE
from grove_core.model.gate import SkipDecider
from grove_core.reflection.schema import submission_schema
from grove_core.reflection.submission import SUBMISSION_BYTES_MAX, parse_submission
from grove_core.services.reflect import submit, try_out
from grove_core.services.requests import brief, observe, read_remark, refer, skip


@click.command("reflect")
@click.option(
    "--file",
    "path",
    type=click.Path(path_type=Path),
    help="Read the JSON from a file ('-': stdin).",
)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the input and stop.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what would become of each candidate; store and log nothing.",
)
@click.option("--brief", "wants_brief", is_flag=True, help="Print what to reflect on and stop.")
@session_option
@grove_command
def command(
    invocation: Invocation,
    *,
    path: Path | None,
    schema: bool,
    dry_run: bool,
    wants_brief: bool,
    session_id: str | None,
) -> Result:
    """Write down what a ticket has taught; opens the gate.

    Reads candidates as JSON from standard input. The smallest useful input:

    {"candidates": [{"category": "pitfall", "summary": "…", "detail": "…",
    "criteria_met": ["stable_fact"], "tags": ["…"]}]}

    Nothing to keep? {"nothing_learned": "the reason"}. Each candidate is accepted or refused by
    itself; exit code 1 when none was accepted, and the gate then stays as it was. Try one out with
    --dry-run.
    """
    if schema:
        document = submission_schema()
        return Result(document=document, human=lambda console: console.print_json(data=document))
    if wants_brief:
        invocation, session = find_session(invocation, session_id)
        return brief(invocation.project, session)
    submission = parse_submission(_read(path))
    invocation, session = find_session(invocation, session_id or submission.session_id)
    if dry_run:
        return try_out(invocation.project, session, submission)
    if submission.candidates:
        name_slow_backend(invocation.project.library)
    return submit(invocation.project, session, submission)


def _read(path: Path | None) -> bytes:
    if path is not None and str(path) != "-":
        try:
            return path.read_bytes()
        except OSError as error:
            raise ReflectionError(f"cannot read {path}: {error.strerror}") from error
    if sys.stdin is None:
        raise ReflectionError("standard input is closed; give the JSON there, or with --file")
    if sys.stdin.isatty():
        raise ReflectionError(
            "waiting for JSON on standard input; use a heredoc, --file, or --schema for the format"
        )
    return sys.stdin.buffer.read(SUBMISSION_BYTES_MAX + 1)


@click.command("skip")
@click.argument("reason")
@click.option(
    "--decider",
    type=click.Choice([SkipDecider.AGENT.value, SkipDecider.USER.value]),
    help="Who decided; by default the agent when its client runs this command, else you.",
)
@session_option
@grove_command
def skip_command(
    invocation: Invocation, *, reason: str, decider: str | None, session_id: str | None
) -> Result:
    """Say why there is nothing to write down; opens the gate.

    REASON is logged, so that skips can be looked at later.
    """
    text = read_remark(invocation.project, reason, "the reason")
    if not text:
        raise click.UsageError("a skip needs a reason; say in a few words why")
    invocation, session = find_session(invocation, session_id)
    by_client = SESSION_ID_VARIABLE in invocation.project.environment
    usual = SkipDecider.AGENT if by_client else SkipDecider.USER
    decided = SkipDecider(decider) if decider else usual
    return skip(invocation.project, session, text, decided)


@click.command("observe")
@click.argument("note")
@session_option
@grove_command
def observe_command(invocation: Invocation, *, note: str, session_id: str | None) -> Result:
    """Leave a one-line note for the agent that will reflect.

    Subagents do not reflect themselves: their notes are shown to the agent that closes the ticket.
    """
    text = read_remark(invocation.project, note, "the note")
    if not text:
        raise click.UsageError("a note needs words")
    invocation, session = find_session(invocation, session_id)
    return observe(invocation.project, session, text)


@click.command("ref")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=learning_ids)
@click.option("--how", metavar="TEXT", help="How it helped, in a few words.")
@session_option
@grove_command
def ref_command(
    invocation: Invocation, *, ids: tuple[str, ...], how: str | None, session_id: str | None
) -> Result:
    """Record that learnings were used.

    Use counts: it decides what later sessions are shown. Exit code 1 when no learning has one of
    the ids; the others count.
    """
    invocation, session = find_session(invocation, session_id)
    return refer(invocation.project, session, ids, how)
