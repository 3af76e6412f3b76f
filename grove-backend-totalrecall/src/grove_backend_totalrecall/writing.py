"""Writing to the daily log: by grove itself, or by the client's command."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final, NamedTuple

from grove_backend_totalrecall.contents import Stored, rest_of
from grove_backend_totalrecall.entry import (
    daily_template,
    format_entry,
    format_mark,
    joint,
    one_line_note,
)
from grove_backend_totalrecall.health import write_fault
from grove_backend_totalrecall.installation import Installation
from grove_backend_totalrecall.reading import read_log
from grove_backend_totalrecall.record import StatusChange
from grove_backend_totalrecall.store import Store
from grove_core import (
    BackendError,
    Learning,
    LearningStatus,
    StorageError,
    append_text,
    is_ignored_by_git,
)


def append_to_log(path: Path, day: date, compose: Callable[[str], str], *, root: Path) -> None:
    """Append to a daily log."""
    if (fault := write_fault(path, root)) is not None:
        raise StorageError(f"{fault.detail}; fix: {fault.fix}")

    def composed(text: str) -> str:
        added = compose(text) if text.strip("\ufeff \t\r\n") else _with_template(compose, day)
        return added.replace("\n", "\r\n") if _has_crlf(text) else added

    append_text(path, composed, inside=root)


def _with_template(compose: Callable[[str], str], day: date) -> str:
    """Fill a log that is empty: Total Recall's own tools would leave it so."""
    template = daily_template(day)
    added = compose(template)
    return template + added if added else ""


def _has_crlf(text: str) -> bool:
    end = text.find("\n")
    return end > 0 and text[end - 1] == "\r"


_CLAUDE_SECONDS: Final = 75.0
_CONTENT: Final = frozenset({"summary", "detail"})
_OWN_HAND: Final = "grove has written it to the log itself, since Total Recall's command has not"


class Logged(NamedTuple):
    """A learning that is in a log."""

    stored: Stored
    is_new: bool
    note: str = ""


class _Asked(NamedTuple):
    """What came of asking Total Recall's command."""

    why: str = ""
    damage: str = ""


class Writer:
    """What adds to the logs of one project; no line that is there is ever changed."""

    def __init__(
        self,
        installation: Installation,
        store: Store,
        environment: Mapping[str, str],
        *,
        by_claude: bool,
    ) -> None:
        """Write nothing yet."""
        self._installation = installation
        self._store = store
        self._environment = environment
        self.by_claude = by_claude
        self._claude_fault = ""

    def log(self, learning: Learning, now: datetime) -> Logged:
        """Add a learning to today's log, unless a log has it."""
        stored = self._find(learning.id)
        logged = Logged(stored, is_new=False) if stored else self._add(learning, now)
        if logged.is_new or self._was_interrupted(learning, logged.stored):
            self._record_rest(learning, logged.stored, now)
        return logged

    def mark(self, learning: Learning, status: LearningStatus, note: str, now: datetime) -> None:
        """Return a learning another status."""
        # Total Recall knows of what no longer holds; that grove does not show something is no news.
        if LearningStatus.SUPERSEDED in {status, learning.status}:
            word = "superseded" if status is LearningStatus.SUPERSEDED else "restored"
            line = format_mark(word, f"{now:%H:%M}", learning.summary, learning.id, note)
            with suppress(StorageError):  # the record counts; the log is for people
                self._append(now, lambda _: line)
        marks = len(self._store.contents().marks_about(learning.id))
        change = StatusChange(now.astimezone(UTC), status, marks)
        self._store.record.add_status(learning.id, change, note)

    def _find(self, learning_id: str) -> Stored | None:
        return self._store.contents().learning(learning_id)

    def _was_interrupted(self, learning: Learning, stored: Stored) -> bool:
        """Return whether an earlier try came no further than the log, or a part of its entry."""
        known = stored.learning
        return (
            self._store.record.of(learning.id).rest is None
            and learning.summary == known.summary
            and learning.detail.startswith(known.detail)
        )

    def _add(self, learning: Learning, now: datetime) -> Logged:
        path = self._store.paths.log_of(now.date())
        is_asked = self.by_claude and write_fault(path, self._installation.root) is None
        asked = self._ask_claude(learning) if is_asked else _Asked()
        if asked.why and (stored := self._find(learning.id)) is not None:
            return Logged(stored, is_new=True, note=asked.damage)
        written: list[bool] = []

        def unless_there(text: str) -> str:
            entries = read_log(text, daily=True).entries if learning.id in text else ()
            written.append(all(one.learning_id != learning.id for one in entries))
            return joint(text) + format_entry(learning, f"{now:%H:%M}") if written[-1] else ""

        self._append(now, unless_there)
        stored = self._find(learning.id)
        if stored is None:
            raise BackendError(f"{learning.id} was written to {path} and is not to be found there")
        why = f"{_OWN_HAND}: {asked.why}" if asked.why else ""
        note = "; ".join(one for one in (asked.damage, why) if one)
        return Logged(stored, is_new=written[-1], note=note)

    def _append(self, now: datetime, compose: Callable[[str], str]) -> None:
        path = self._store.paths.log_of(now.date())
        append_to_log(path, now.date(), compose, root=self._installation.root)
        self._store.forget(path)

    def _ask_claude(self, learning: Learning) -> _Asked:
        """Have Total Recall's command log it; whether it has, only the log tells."""
        from grove_backend_totalrecall.command import log_by_claude

        if self._claude_fault:
            return _Asked(self._claude_fault)
        outcome = log_by_claude(
            one_line_note(learning),
            command=self._installation.command("recall-log"),
            root=self._installation.root,
            environment=self._environment,
            seconds=_CLAUDE_SECONDS,
        )
        if outcome.logged:
            return _Asked(f"{outcome.why}, and the log does not hold it", outcome.damage)
        if not outcome.is_about_note:
            self._claude_fault = outcome.why
        return _Asked(outcome.why, outcome.damage)

    def _record_rest(self, learning: Learning, stored: Stored, now: datetime) -> None:
        record, at = self._store.record, now.astimezone(UTC)
        rest = rest_of(learning, stored.learning)
        if _CONTENT & rest.keys() and is_ignored_by_git(stored.path):
            # What Total Recall's users keep out of git, the record must not bring into it.
            self._append(now, lambda text: joint(text) + format_entry(learning, f"{now:%H:%M}"))
            rest = rest_of(learning, (self._find(learning.id) or stored).learning)
        record.add_rest(learning.id, rest, at)
        if learning.status is not stored.learning.status:
            marks = len(self._store.contents().marks_about(learning.id))
            record.add_status(learning.id, StatusChange(at, learning.status, marks))
