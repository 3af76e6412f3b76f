"""From an entry's section to the learning, forgiving what can be forgiven and naming it."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Final, TypeVar

from grove_backend_markdown.lines import Section
from grove_backend_markdown.markup import split_list, split_origin, unescape
from grove_core import (
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
    parse_instant,
)

Report = Callable[[int, str], None]
"""Takes a line's index and what is wrong there."""

_Member = TypeVar("_Member", bound=Enum)
_SEPARATORS: Final = str.maketrans("", "", "-_ \t")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _by_word(enum: type[_Member]) -> Mapping[str, _Member]:
    return {str(member.value): member for member in enum} | {
        _squeezed(str(member.value)): member for member in enum
    }


def _squeezed(text: str) -> str:
    return text.translate(_SEPARATORS).lower()


def _find(members: Mapping[str, _Member], text: str) -> _Member | None:
    return members.get(text) or members.get(_squeezed(text))


CATEGORIES: Final = _by_word(Category)
SCOPES: Final = _by_word(Scope)
CONFIDENCES: Final = _by_word(Confidence)
CRITERIA: Final = _by_word(Criterion)
STATUSES: Final = _by_word(LearningStatus)
_ID_DATE: Final = re.compile(r"cl_(\d{4})(\d{2})(\d{2})_")
_SHOWN: Final = 60


def learning_of(section: Section, position: int, report: Report) -> Learning:
    """Build the learning that a section holds."""
    reader = _FieldReader(section, report)
    ticket, session = reader.origin()
    if "category" not in section.fields:
        report(position, "the entry has no category, and is read as a pattern")
    return Learning(
        id=section.learning_id,
        category=reader.choice("category", CATEGORIES, Category.PATTERN),
        summary=section.summary,
        detail=section.detail or "",
        session_id=session,
        timestamp=reader.instant(),
        scope=reader.choice("scope", SCOPES, Scope.PROJECT),
        confidence=reader.choice("confidence", CONFIDENCES, Confidence.MEDIUM),
        criteria_met=reader.criteria(),
        tags=reader.tags(),
        context_files=split_list(reader.text("files") or reader.text("context files")),
        ticket_id=ticket,
        status=reader.status(),
        supersedes=split_list(reader.text("supersedes")),
    )


def shown(text: str) -> str:
    """Quote a piece of a file in a message: short, and without what a terminal would obey."""
    text = text.strip()
    return ascii(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


class _FieldReader:
    """Reads a section's fields one by one."""

    def __init__(self, section: Section, report: Report) -> None:
        self._section = section
        self._fields = section.fields
        self._report = report

    def text(self, name: str) -> str:
        field = self._fields.get(name)
        return field.value if field else ""

    def choice(self, name: str, members: Mapping[str, _Member], default: _Member) -> _Member:
        return self._member(name, self.text(name), members, default)

    def status(self) -> LearningStatus:
        # Whoever writes "obsolete" does not want it shown, and an archived entry can be restored.
        word = self.text("status").partition("(")[0]
        if not word:
            return LearningStatus.ACTIVE
        return self._member("status", word, STATUSES, LearningStatus.ARCHIVED)

    def _member(
        self, name: str, text: str, members: Mapping[str, _Member], default: _Member
    ) -> _Member:
        if not text:
            return default
        member = _find(members, text)
        if member is None:
            self._complain(name, f"{shown(text)} is no {name}, and is read as {default.value}")
            return default
        return member

    def criteria(self) -> frozenset[Criterion]:
        found = set()
        for text in split_list(self.text("criteria")):
            criterion = _find(CRITERIA, text)
            if criterion is None:
                self._complain("criteria", f"{shown(text)} is no criterion")
            else:
                found.add(criterion)
        return frozenset(found)

    def tags(self) -> tuple[str, ...]:
        text = self.text("tags")
        if self._section.is_old:
            return tuple(tag for word in text.split() if (tag := word.strip("#,")))
        return split_list(text)

    def origin(self) -> tuple[str | None, str]:
        ticket = unescape(self.text("ticket")) or None
        session = unescape(self.text("session"))
        for part in split_origin(self.text("origin")):
            kind, _, value = part.partition(" ")
            if kind.lower() == "ticket":
                ticket = unescape(value)
            elif kind.lower() == "session":
                session = unescape(value)
            else:
                self._complain("origin", f"{shown(part)} is neither a ticket nor a session")
        return ticket, session

    def instant(self) -> datetime:
        text = self.text("created")
        if text:
            try:
                return parse_instant(text)
            except (ValueError, OverflowError):
                self._complain("created", f"{shown(text)} is no time such as 2026-02-06T10:00:00Z")
        return _date_in(self._section.learning_id)

    def _complain(self, name: str, message: str) -> None:
        self._report(self._fields[name].position, message)


def _date_in(learning_id: str) -> datetime:
    match = _ID_DATE.match(learning_id)
    if match is None:
        return _EPOCH
    try:
        return datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)
    except ValueError:
        return _EPOCH
