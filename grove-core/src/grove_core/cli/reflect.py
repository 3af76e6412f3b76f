"""``grove reflect``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from grove_core.cli.brief import brief
from grove_core.cli.invocation import Invocation, Result, grove_command, session_option
from grove_core.cli.rejected_candidate import rejected_fields
from grove_core.cli.sessions_of import find_session
from grove_core.cli.slow_backend import name_slow_backend
from grove_core.errors import ReflectionError
from grove_core.flow.reflecting import ReflectionOutcome, preview, reflect
from grove_core.flow.storing import SESSION_BACKEND
from grove_core.model.memory import Receipt, ReceiptStatus
from grove_core.reflection.json_schema import submission_schema
from grove_core.reflection.limits import SUBMISSION_BYTES_MAX
from grove_core.reflection.submission import parse_submission

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
    submission = parse_submission(_read(path))
    invocation, session = find_session(invocation, session_id or submission.session_id)
    if not submission.candidates and submission.nothing_learned is None:
        raise ReflectionError(
            "the submission holds no candidate; submit at least one, or"
            ' {"nothing_learned": "the reason"} (see grove reflect --schema)'
        )
    if dry_run:
        from grove_core.cli.dry_run import preview_result

        return preview_result(submission, preview(invocation.workspace, session, submission))
    if submission.candidates:
        name_slow_backend(invocation.workspace.library)
    outcome = reflect(invocation.workspace, session, submission)
    return _result(outcome)


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


def _result(outcome: ReflectionOutcome) -> Result:
    document: dict[str, Any] = {
        "session_id": outcome.session.id,
        "gate": outcome.session.gate.status,
        "accepted": [
            {
                "id": one.learning.id,
                "summary": one.learning.summary,
                "status": one.receipt.status,
                "backend": one.receipt.backend,
                "location": one.receipt.location,
                "notes": one.notes,
            }
            for one in outcome.stored
        ],
        "repeated": outcome.repeated,
        "rejected": [rejected_fields(one) for one in outcome.rejected],
        "warnings": outcome.warnings,
    }
    if not outcome.opened:
        document["error"] = _refusal(outcome)
    ids = (*(one.learning.id for one in outcome.stored), *outcome.repeated)
    return Result(
        document=document,
        human=lambda console: _human(outcome, console),
        ids=ids,
        exit_code=0 if outcome.opened else 1,
        warnings=(*outcome.warnings, *_reasons(outcome)),
    )


def _reasons(outcome: ReflectionOutcome) -> list[str]:
    lines = [
        f"{one.position + 1}. refused ({one.stage.value}) {one.summary!r}: {one.rejection.reason}"
        for one in outcome.rejected
    ]
    if not outcome.opened:
        lines.append(_refusal(outcome))
    return lines


def _refusal(outcome: ReflectionOutcome) -> str:
    owes = outcome.session.gate.status.owes_reflection
    return f"no candidate was accepted{'; the gate stays closed' if owes else ''}"


def _place(receipt: Receipt) -> str:
    if receipt.status is ReceiptStatus.QUEUED:
        return f"waits for the backend {receipt.backend}; delivered with the next reflection"
    if receipt.backend == SESSION_BACKEND:
        return "kept in this session only"
    return receipt.location or receipt.backend


def _human(outcome: ReflectionOutcome, console: "Console") -> None:
    for one in outcome.stored:
        console.print(f"{one.receipt.status.value} {one.learning.id} ({_place(one.receipt)})")
        console.print(f"  {one.learning.summary}")
        for note in one.notes:
            console.print(f"  note: {note}")
    for learning_id in outcome.repeated:
        console.print(f"already stored {learning_id}")
    if outcome.opened:
        console.print(f"The gate is {outcome.session.gate.status.value}.")
