"""Writing to the daily log: by grove itself, or by the client's command."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from grove_backend_totalrecall.contents import Stored, rest_of
from grove_backend_totalrecall.entry import (
    daily_template,
    format_entry,
    format_mark,
    joint,
    one_line_note,
)
from grove_backend_totalrecall.health import Fault, write_fault
from grove_backend_totalrecall.installation import Installation
from grove_backend_totalrecall.reader import read_log
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

if TYPE_CHECKING:
    from grove_backend_totalrecall.command import Outcome

_CLAUDE_SECONDS: Final = 75.0
_CONTENT: Final = frozenset({"summary", "detail"})
_OWN_HAND: Final = "grove has written it to the log itself, since Total Recall's command has not"


class Logged(NamedTuple):
    """A learning that is in a log."""

    stored: Stored
    is_new: bool
    note: str = ""


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
        stored = self._store.contents().learning(learning.id)
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
        self._record_status(learning.id, status, now, note)

    def _was_interrupted(self, learning: Learning, stored: Stored) -> bool:
        """Return whether an earlier try came no further than the log, or a part of its entry."""
        known = stored.learning
        return (
            self._store.record.of(learning.id).rest is None
            and learning.summary == known.summary
            and learning.detail.startswith(known.detail)
        )

    def _add(self, learning: Learning, now: datetime) -> Logged:
        notes = []
        if self.by_claude and self._fault(now) is None:
            outcome = self._ask_claude(learning)
            if (stored := self._store.contents().learning(learning.id)) is not None:
                return Logged(stored, is_new=True, note=outcome.damage)
            why = f"{outcome.why}, and the log does not hold it" if outcome.logged else outcome.why
            notes = [outcome.damage, f"{_OWN_HAND}: {why}"]
        written: list[bool] = []

        def unless_there(text: str) -> str:
            entries = read_log(text, daily=True).entries if learning.id in text else ()
            written.append(all(one.learning_id != learning.id for one in entries))
            return joint(text) + format_entry(learning, f"{now:%H:%M}") if written[-1] else ""

        self._append(now, unless_there)
        stored = self._store.contents().learning(learning.id)
        if stored is None:
            raise BackendError(f"{learning.id} was written to the log and is not to be found there")
        return Logged(stored, is_new=written[-1], note="; ".join(filter(None, notes)))

    def _fault(self, now: datetime) -> Fault | None:
        return write_fault(self._store.paths.log_of(now.date()), self._installation.root)

    def _append(self, now: datetime, compose: Callable[[str], str]) -> None:
        """Append to today's log, which begins like one of Total Recall's own."""
        if (fault := self._fault(now)) is not None:
            raise StorageError(f"{fault.detail}; fix: {fault.fix}")

        def composed(text: str) -> str:
            start = "" if text.strip("\ufeff \t\r\n") else daily_template(now.date())
            added = compose(start or text)
            has_crlf = text.partition("\n")[0].endswith("\r")
            added = start + added if added else ""
            return added.replace("\n", "\r\n") if has_crlf else added

        path = self._store.paths.log_of(now.date())
        append_text(path, composed, inside=self._installation.root)
        self._store.forget(path)

    def _ask_claude(self, learning: Learning) -> "Outcome":
        """Have Total Recall's command log it; whether it has, only the log tells."""
        from grove_backend_totalrecall.command import Outcome, log_by_claude

        if self._claude_fault:
            return Outcome(logged=False, why=self._claude_fault)
        outcome = log_by_claude(
            one_line_note(learning),
            command=self._installation.command("recall-log"),
            root=self._installation.root,
            environment=self._environment,
            seconds=_CLAUDE_SECONDS,
        )
        if not outcome.logged and not outcome.is_about_note:
            self._claude_fault = outcome.why
        return outcome

    def _record_rest(self, learning: Learning, stored: Stored, now: datetime) -> None:
        rest = rest_of(learning, stored.learning)
        if _CONTENT & rest.keys() and is_ignored_by_git(stored.path):
            # What Total Recall's users keep out of git, the record must not bring into it.
            self._append(now, lambda text: joint(text) + format_entry(learning, f"{now:%H:%M}"))
            stored = self._store.contents().learning(learning.id) or stored
            rest = rest_of(learning, stored.learning)
        self._store.record.add_rest(learning.id, rest, now.astimezone(UTC))
        if learning.status is not stored.learning.status:
            self._record_status(learning.id, learning.status, now)

    def _record_status(
        self, learning_id: str, status: LearningStatus, now: datetime, note: str = ""
    ) -> None:
        marks = len(self._store.contents().marks_about(learning_id))
        change = StatusChange(now.astimezone(UTC), status, marks)
        self._store.record.add_status(learning_id, change, note)
