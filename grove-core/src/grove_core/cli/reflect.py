"""``grove reflect``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from grove_core.cli.app import Invocation, find_session, grove_command
from grove_core.cli.brief import brief
from grove_core.cli.options import session_option
from grove_core.cli.progress import name_slow_backend
from grove_core.cli.result import Result
from grove_core.errors import ReflectionError
from grove_core.reflection.limits import SUBMISSION_BYTES_MAX
from grove_core.reflection.schema import submission_schema
from grove_core.services.reflect import preview
from grove_core.services.requests import read_submission, submit

if TYPE_CHECKING:
    from rich.console import Console


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
    help="Say what would become of each candidate; store, log and settle nothing.",
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
        return _schema()
    if wants_brief:
        invocation, session = find_session(invocation, session_id)
        return brief(invocation.workspace, session)
    submission = read_submission(_read(path))
    invocation, session = find_session(invocation, session_id or submission.session_id)
    if dry_run:
        from grove_core.cli.dry_run import preview_result

        return preview_result(submission, preview(invocation.workspace, session, submission))
    if submission.candidates:
        name_slow_backend(invocation.workspace.library)
    return Result.of(submit(invocation.workspace, session, submission))


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


def _schema() -> Result:
    document = submission_schema()

    def human(console: "Console") -> None:
        console.print_json(data=document)

    return Result(document=document, human=human)
