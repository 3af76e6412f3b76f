"""Choosing which learnings to show, showing them, and remembering that they were shown."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from attrs import evolve

from grove_core import git
from grove_core.injection import NOTHING, Injection, render
from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Filters, Query
from grove_core.model.session import EventType, InjectedLearning, Session
from grove_core.model.ticket import Ticket
from grove_core.retrieval import RetrievalStrategy
from grove_core.retrieval.choosing import Choice, choose, choose_without_query, exact_matches
from grove_core.retrieval.terms import Entry
from grove_core.services.explain import log_retrieval
from grove_core.services.sessions import SessionUpdate, trace_event, update_session
from grove_core.services.sync import index_in_background
from grove_core.stats.lines import microseconds

if TYPE_CHECKING:
    from grove_core.project import Project

SEARCH_SECONDS: Final = 1.0
STATUS_SECONDS: Final = 0.15
HISTORY_SECONDS: Final = 0.1
# What branches are called whatever the work on them is about.
_EMPTY_BRANCH_WORDS: Final = frozenset(
    {"main", "master", "trunk", "develop", "dev", "release", "hotfix"}
    | {"feature", "feat", "fix", "bug", "bugfix", "chore", "docs", "refactor", "test"}
)


class Recall(NamedTuple):
    """What is to be shown."""

    injection: Injection
    learnings: tuple[InjectedLearning, ...]
    via: str
    log: Callable[..., None]


def query_for_work(project: "Project", ticket: Ticket | None) -> Query:
    """Describe the work at hand: ticket, branch, changed files and recent commits."""
    branch, subjects, files = work_at_hand(project, STATUS_SECONDS, HISTORY_SECONDS)
    return Query(
        text=" ".join([*branch_words(branch), *subjects]),
        ticket_id=ticket.ticket_id or "" if ticket else "",
        ticket_title=ticket.title if ticket else "",
        ticket_description=ticket.description if ticket else "",
        tags=tuple(label.lower() for label in ticket.labels) if ticket else (),
        files=files,
    )


def work_at_hand(
    project: "Project", for_status: float = 2.0, for_history: float = 2.0
) -> tuple[str, Sequence[str], tuple[str, ...]]:
    """Ask git for the branch, its commits' subjects, and the files changed, all of it in time."""
    # Prompts, which are described by their text, come without.
    from grove_core.services.session_mode import ignored_paths

    ignored = ignored_paths(project)
    tree = project.work_tree or git.read_work_tree(project.root, for_status, ignored)
    if tree is None:
        return "", (), ()
    history = git.read_branch_history(tree.top, for_history)
    paths = (*tree.changed, *tree.untracked, *history.files)
    seen = git.seen_from_root(str(project.root), str(tree.top), paths)
    return tree.branch, history.subjects, git.without(ignored, seen)


def branch_words(branch: str) -> Sequence[str]:
    """Split a branch's name into the words that say what the work is about."""
    words = branch.replace("/", " ").replace("-", " ").replace("_", " ").split()
    return [word for word in words if word.lower() not in _EMPTY_BRANCH_WORDS]


def recall(
    project: "Project",
    session: Session,
    query: Query,
    *,
    limit: int,
    max_chars: int,
    via: str,
    written_after: datetime | None = None,
) -> Recall | None:
    """Choose what to show, within the configured budget."""
    choice = _choice(project, session, query, limit, written_after)
    log = partial(log_retrieval, project, session.id, choice, via=via)
    if not choice.chosen:
        log()
        return None
    entries = [one.entry for one in choice.chosen]
    # Where nothing is known about the work, what else there is does not fit it.
    more = 0 if query.is_empty else choice.beyond
    injection = render(entries, project.now, max_chars, more=more, is_foreign=project.is_foreign)
    by_id = {one.entry.id: one for one in choice.chosen}
    shown = [by_id[learning_id] for learning_id in injection.shown]
    learnings = [injected(project, one.entry, one.score.total, via) for one in shown]
    return Recall(injection, tuple(learnings), via, log)


def _choice(
    project: "Project",
    session: Session,
    query: Query,
    limit: int,
    written_after: datetime | None,
) -> Choice:
    strategy = project.config.retrieval.strategy
    shown = {one.learning_id for one in session.injected}
    if query.is_empty and strategy is RetrievalStrategy.CONSERVATIVE:
        return Choice((), ())  # nothing can be a match
    finder = project.finder
    # Where nothing is known about the work, only this project's own learnings may fit it.
    floor = 0.0 if strategy is RetrievalStrategy.AGGRESSIVE else finder.floor
    ranked = (
        finder.newest(Filters(), personal=False)
        if query.is_empty
        else finder.search(query, Filters(), seconds=SEARCH_SECONDS, floor=floor)
    )
    if written_after is not None:
        ranked = [one for one in ranked if one.entry.created > microseconds(written_after)]
    if not finder.complete:
        index_in_background(project)
    if query.is_empty:
        usage = project.usage([one.entry.id for one in ranked])
        return choose_without_query(ranked, usage, limit, shown=shown)
    if strategy is RetrievalStrategy.AGGRESSIVE:
        known = {one.entry.id for one in ranked}
        ranked += [one for one in finder.newest(Filters()) if one.entry.id not in known]
    exact = exact_matches(query.tags, query.files, f"{query.text} {query.ticket_title}")
    return choose(
        ranked, strategy, limit, project.now, floor=finder.floor, exact=exact, shown=shown
    )


def repeat(project: "Project", session: Session, max_chars: int) -> Injection:
    """Show again what a session was shown, after its context was compacted."""
    found = (project.finder.get(one.learning_id) for one in session.injected)
    active = [one for one in found if one and one.status == LearningStatus.ACTIVE.value]
    return render(active, project.now, max_chars, is_foreign=project.is_foreign)


def remember(project: "Project", session: Session, shown: Recall) -> Injection:
    """Keep in the session and in the log what is about to be shown, and return it."""
    given = _given(session, shown.via)

    def choose_first(stored: Session) -> Sequence[InjectedLearning]:
        # What another set of hooks has chosen for the same occasion stands.
        return shown.learnings if _given(stored, shown.via) == given else ()

    added = show(project, session, shown.via, choose_first)
    if added or not shown.learnings:
        shown.log(shown=shown.injection)
    return shown.injection if added else NOTHING


def _given(session: Session, via: str) -> int:
    return sum(one.via == via for one in session.injected)


def show(
    project: "Project",
    session: Session,
    via: str,
    choose: Callable[[Session], Sequence[InjectedLearning]],
    **details: str,
) -> Sequence[InjectedLearning]:
    """Keep in the session and in the log what is shown: of those chosen, the ones that are new."""
    from grove_core.model.events import Surfaced

    added: list[InjectedLearning] = []

    def change(stored: Session) -> SessionUpdate:
        known = {one.learning_id for one in stored.injected}
        added[:] = [one for one in choose(stored) if one.learning_id not in known]
        ids = " ".join(one.learning_id for one in added)
        kind = EventType.LEARNINGS_INJECTED
        trace = trace_event(kind, project.now, via=via, learnings=ids, **details)
        after = evolve(stored, injected=(*stored.injected, *added))
        return SessionUpdate(session=after, trace=(trace,) if added else ())

    update_session(project, session, change)
    events = (
        Surfaced(
            ts=project.now,
            learning_id=one.learning_id,
            session_id=session.id,
            via=via,
            score=one.score,
        )
        for one in added
    )
    project.log_by_area(zip(events, [one.personal for one in added], strict=True))
    return added


def injected(project: "Project", entry: Entry, score: float, via: str) -> InjectedLearning:
    """Describe for the session what it is shown."""
    return InjectedLearning(
        learning_id=entry.id,
        summary=entry.summary,
        score=round(score, 4),
        injected_at=project.now,
        via=via,
        personal=entry.personal,
    )
