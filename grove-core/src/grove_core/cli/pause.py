"""``grove pause`` and ``grove resume``."""

import rich_click as click

from grove_core.cli.app import find_session, grove_command
from grove_core.cli.options import session_option
from grove_core.cli.timeparse import local_time, parse_duration
from grove_core.project import Project
from grove_core.services.overview import sessions_here
from grove_core.services.result import Result
from grove_core.storage.pause import LONGEST, Pauses


def pauses_of(project: Project) -> Pauses:
    """Return the pauses of a project."""
    return Pauses(project.paths.pauses, project.files.key)


@click.command("pause")
@click.argument("duration", default="2h")
@session_option
@grove_command
def command(project: Project, *, duration: str, session_id: str | None) -> Result:
    """Have hooks ask for nothing and show nothing for a while, a day at most.

    DURATION is such as 30m or 2h. It holds for this project, or for one session of it. What is
    closed meanwhile is not asked about later.
    """
    length = parse_duration(duration)
    if not length or length > LONGEST:
        raise click.BadParameter(f"{duration!r} is no duration of at most 24h, such as 30m or 2h")
    if session_id is not None:
        project, session = find_session(project, session_id)
        session_id = session.id
    end = project.now + length
    pauses_of(project).begin(session_id, end)
    where = f"session {session_id}" if session_id else str(project.root)
    return Result(
        document={"until": end, "session_id": session_id, "root": project.root},
        lines=[f"Paused until {local_time(end)} in {where}. grove resume ends it."],
    )


@click.command("resume")
@session_option
@grove_command
def resume_command(project: Project, *, session_id: str | None) -> Result:
    """End a pause, without a session those of all sessions here as well."""
    ids = [session_id] if session_id else [None, *(one.id for one in sessions_here(project))]
    ended = [pauses_of(project).end(one) for one in ids]
    was_paused = any(ended)
    return Result(
        document={"was_paused": was_paused, "session_id": session_id},
        lines=["grove goes on." if was_paused else "There was no pause."],
    )
