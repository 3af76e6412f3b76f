"""From the fields of an entry to the learning, by the table of a candidate's fields."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import EnumMeta
from functools import lru_cache
from typing import Any, Final, get_args, get_origin

import attrs

from grove_backend_markdown.lines import Section
from grove_backend_markdown.markup import split_list, split_origin, unescape
from grove_core import Candidate, Learning, LearningStatus, parse_instant

Report = Callable[[int, str], None]
"""Takes a line's index and what is wrong there."""

BY_TITLE: Final[Mapping[str, Any]] = {
    field.metadata["about"].title: field
    for field in attrs.fields(Candidate)
    if field.name not in {"summary", "detail"}
}
_BY_NAME: Final = {title.lower(): field for title, field in BY_TITLE.items()}
NAMES: Final = frozenset({*_BY_NAME, "status", "origin", "created"})
OLD_NAMES: Final = NAMES | {"summary", "ticket", "session", "context files", "relevance"}

_SEPARATORS: Final = str.maketrans("", "", "-_ \t")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ID_DATE: Final = re.compile(r"cl_(\d{4})(\d{2})(\d{2})_")
_SHOWN: Final = 60


def learning_of(section: Section, position: int, report: Report) -> Learning:
    """Build the learning that a section holds."""
    reader = _FieldReader(section, report)
    ticket, session = reader.origin()
    if "category" not in section.fields:
        report(position, "the entry has no category, and is read as a pattern")
    values = {field.name: reader.value(name, field) for name, field in _BY_NAME.items()}
    return Learning(
        id=section.learning_id,
        summary=section.summary,
        detail=section.detail or "",
        session_id=session,
        timestamp=reader.instant(),
        ticket_id=ticket,
        status=reader.status(),
        **values,
    )


def shown(text: str) -> str:
    """Quote a piece of a file in a message: short, and without what a terminal would obey."""
    text = text.strip()
    return ascii(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


class _FieldReader:
    """Reads a section's fields one by one, forgiving what can be forgiven and naming it."""

    def __init__(self, section: Section, report: Report) -> None:
        self._learning_id = section.learning_id
        self._fields = section.fields
        self._report = report

    def value(self, name: str, field: Any) -> Any:  # noqa: ANN401 - of any type
        text, kind = self._text(name), field.type
        if isinstance(kind, EnumMeta):
            usual = next(iter(kind)) if field.default is attrs.NOTHING else field.default
            return self._member(name, text, kind, usual)
        if not text:
            return field.default
        if get_origin(kind) is frozenset:
            return self._members(name, text, get_args(kind)[0])
        return split_list(text) if get_origin(kind) is tuple else unescape(text)

    def status(self) -> LearningStatus:
        # "obsolete" means that it is not to be shown, and an archived entry can be restored.
        word = self._text("status").partition("(")[0]
        usual = LearningStatus.ARCHIVED if word else LearningStatus.ACTIVE
        status: LearningStatus = self._member("status", word, LearningStatus, usual)
        return status

    def origin(self) -> tuple[str | None, str]:
        ticket = unescape(self._text("ticket")) or None
        session = unescape(self._text("session"))
        for part in split_origin(self._text("origin")):
            kind, _, value = part.partition(" ")
            if kind.lower() == "ticket":
                ticket = unescape(value)
            elif kind.lower() == "session":
                session = unescape(value)
            else:
                self._complain("origin", f"{shown(part)} is neither a ticket nor a session")
        return ticket, session

    def instant(self) -> datetime:
        if text := self._text("created"):
            try:
                return parse_instant(text)
            except (ValueError, OverflowError):
                self._complain("created", f"{shown(text)} is no time such as 2026-02-06T10:00:00Z")
        return _date_in(self._learning_id)

    def _text(self, name: str) -> str:
        field = self._fields.get(name)
        return field.value if field else ""

    def _member(self, name: str, text: str, kind: EnumMeta, usual: Any) -> Any:  # noqa: ANN401 - of any enumeration
        if not text:
            return usual
        member = _find(kind, text)
        if member is None:
            self._complain(name, f"{shown(text)} is no {name}, and is read as {usual.value}")
        return member or usual

    def _members(self, name: str, text: str, kind: EnumMeta) -> frozenset[Any]:
        words = split_list(text)
        for word in words:
            if _find(kind, word) is None:
                self._complain(name, f"{shown(word)} is no {kind.__name__.lower()}")
        return frozenset(filter(None, (_find(kind, word) for word in words)))

    def _complain(self, name: str, message: str) -> None:
        self._report(self._fields[name].position, message)


def _find(kind: EnumMeta, text: str) -> Any:  # noqa: ANN401 - of any enumeration
    members = _by_word(kind)
    return members.get(text) or members.get(text.translate(_SEPARATORS).lower())


@lru_cache
def _by_word(kind: EnumMeta) -> Mapping[str, Any]:
    members: list[Any] = list(kind)
    squeezed = {one.value.translate(_SEPARATORS).lower(): one for one in members}
    return squeezed | {one.value: one for one in members}


def _date_in(learning_id: str) -> datetime:
    match = _ID_DATE.match(learning_id)
    try:
        return datetime(*map(int, match.groups()), tzinfo=UTC) if match else _EPOCH  # type: ignore[arg-type,misc]
    except ValueError:
        return _EPOCH
