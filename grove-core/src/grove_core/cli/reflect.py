"""``grove reflect``, ``skip``, ``observe`` and ``ref``: what an agent tells grove."""

import re
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any

import rich_click as click
from attrs import evolve

from grove_core.cli.app import find_session, grove_command
from grove_core.cli.options import session_option
from grove_core.cli.result import Result
from grove_core.errors import ReflectionError
from grove_core.model.gate import SkipDecider
from grove_core.model.learning import Category, Criterion
from grove_core.project import Project
from grove_core.reflection.schema import submission_schema
from grove_core.reflection.submission import SUBMISSION_BYTES_MAX, Submission, parse_submission
from grove_core.services.messages import REFLECT_OPTIONS
from grove_core.services.reflect import submit, try_out
from grove_core.services.requests import brief, observe, refer, skip


def _of_one(
    field: str, metavar: str, line: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the option that gives a field of one learning."""
    several = field in ("criteria_met", "tags", "context_files")
    option = REFLECT_OPTIONS[field]
    return click.option(option, field, multiple=several, metavar=metavar, help=line)


def _listed(kind: type[Enum]) -> str:
    return ", ".join(one.value for one in kind)


@click.command("reflect")
@_of_one("summary", "TEXT", "What to know, in one line of 10 to 200 characters.")
@_of_one("detail", "TEXT", "What happened, where, why, and what to do.")
@_of_one("category", "KIND", f"One of {_listed(Category)}.")
@_of_one("criteria_met", "KIND", f"Why it is worth keeping: {_listed(Criterion)}.")
@_of_one("tags", "WORDS", "Topics, separated by commas.")
@_of_one("context_files", "PATH", "A file it is about.")
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
    project: Project,
    *,
    schema: bool,
    dry_run: bool,
    wants_brief: bool,
    session_id: str | None,
    **given: str | tuple[str, ...] | None,
) -> Result:
    """Write down what a ticket has taught; opens the gate.

    One learning is given by options, of which --criterion, --tag and --file may be repeated.
    Several are read as JSON from standard input: {"candidates": [{"summary": "…", …}, …]}, in the
    shape that --schema prints.

    Nothing to keep? grove skip. Each candidate is accepted or refused by itself; exit code 1 when
    none was accepted, and the gate then stays as it was. Try one out with --dry-run.
    """
    if schema:
        document = submission_schema()
        return Result(document=document, human=lambda console: console.print_json(data=document))
    if wants_brief:
        project, session = find_session(project, session_id)
        return brief(project, session)
    given["tags"] = tuple(tag for one in given["tags"] or () for tag in one.split(","))
    candidate = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value
    }
    if candidate and not given["summary"]:
        raise click.UsageError("a learning needs --summary; JSON is read from standard input")
    submission = Submission(candidates=(candidate,)) if candidate else parse_submission(_read())
    project, session = find_session(project, session_id or submission.session_id)
    result = (try_out if dry_run else submit)(project, session, submission)
    return _naming_options(result) if candidate else result


def _naming_options(result: Result) -> Result:
    """Say what is wrong in the words in which the learning was given."""
    named = re.compile(rf"\b({'|'.join(REFLECT_OPTIONS)}): ")
    said = [
        named.sub(lambda found: f"{REFLECT_OPTIONS[found[1]]}: ", one) for one in result.warnings
    ]
    return evolve(result, warnings=said)


def _read() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise ReflectionError("give --summary, --detail and --category, or JSON on standard input")
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
    project: Project, *, reason: str, decider: str | None, session_id: str | None
) -> Result:
    """Say why there is nothing to write down; opens the gate.

    REASON is logged, so that skips can be looked at later.
    """
    project, session = find_session(project, session_id)
    by_agent = project.is_run_by_agent
    usual = SkipDecider.AGENT if by_agent else SkipDecider.USER
    decided = SkipDecider(decider) if decider else usual
    return skip(project, session, reason, decided)


@click.command("observe")
@click.argument("note")
@session_option
@grove_command
def observe_command(project: Project, *, note: str, session_id: str | None) -> Result:
    """Leave a one-line note for the agent that will reflect.

    Subagents do not reflect themselves: their notes are shown to the agent that closes the ticket.
    """
    project, session = find_session(project, session_id)
    return observe(project, session, note)


@click.command("ref")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--how", metavar="TEXT", help="How it helped, in a few words.")
@session_option
@grove_command
def ref_command(
    project: Project, *, ids: tuple[str, ...], how: str | None, session_id: str | None
) -> Result:
    """Record that learnings were used.

    Use counts: it decides what later sessions are shown. Exit code 1 when no learning has one of
    the ids; the others count.
    """
    project, session = find_session(project, session_id)
    return refer(project, session, ids, how)
