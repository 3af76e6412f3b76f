"""Asks each source of the work query once, as a hook does, and tells what each took.

Called by ``query_sources.py`` in the project; the argument is a prompt. Prints one line of JSON: by
source the seconds by the clock, those of the processors, and whether it answered.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import TypeVar

from grove_core.clock import now_utc
from grove_core.git import read_branch_history, read_work_tree
from grove_core.model.memory import Query
from grove_core.project import Project
from grove_core.retrieval.terms import files_named_in, terms_of
from grove_core.services.recall import HISTORY_SECONDS, STATUS_SECONDS

_Answer = TypeVar("_Answer")
_costs: dict[str, tuple[float, float, bool]] = {}


def main() -> None:
    """Ask one source after the other."""
    prompt = sys.argv[1]
    project = Project(Path.cwd(), os.environ, now_utc())
    top = project.root
    # A start needs these in any case.
    tickets = project.tickets(project.root, "sources")
    tickets.active()

    ticket = _take("ticket", tickets.current_ticket)
    _take("subprocess", lambda: __import__("subprocess"))
    status = _take("status", lambda: read_work_tree(top, STATUS_SECONDS))
    history = _take("history", lambda: read_branch_history(top, HISTORY_SECONDS))
    branch, changed, untracked = (
        (status.branch, status.changed, status.untracked) if status else ("", (), ())
    )
    subjects, committed = history
    work = Query(
        text=" ".join([branch, *subjects]),
        ticket_title=ticket.title if ticket else "",
        ticket_description=ticket.description if ticket else "",
        files=(*changed, *untracked, *committed),
    )
    _take("terms", lambda: terms_of(work))
    _take("prompt", lambda: terms_of(Query(text=prompt, files=files_named_in(prompt))))
    sys.stdout.write(json.dumps(_costs) + "\n")


def _take(name: str, ask: Callable[[], _Answer]) -> _Answer:
    """Ask, and take the time."""
    wall, cpu = time.perf_counter(), _processors()
    answer = ask()
    _costs[name] = (time.perf_counter() - wall, _processors() - cpu, answer is not None)
    return answer


def _processors() -> float:
    """Count the seconds of the processors, those of ended children included."""
    ended = getrusage(RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


if __name__ == "__main__":
    main()
