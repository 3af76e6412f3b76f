"""The first stage of the funnel: a raw JSON value becomes a candidate, or a reason why not."""

from collections.abc import Sequence
from enum import Enum
from pathlib import PurePath
from typing import Any, Final, TypeVar

from attrs import frozen

from grove_core.identifiers import is_learning_id
from grove_core.model.learning import Candidate, Category, Confidence, Criterion, Rejection, Scope
from grove_core.model.value import Value
from grove_core.reflection.limits import (
    CANDIDATE_FIELDS,
    CRITERIA_MIN,
    DETAIL_LENGTH_MAX,
    DETAIL_LENGTH_MIN,
    SUMMARY_LENGTH_MAX,
    SUMMARY_LENGTH_MIN,
    SUPERSEDES_MAX,
    TAGS_MAX,
    TAGS_MIN,
)
from grove_core.reflection.sanitise import sanitise
from grove_core.reflection.wording import kind_of, listed, shown
from grove_core.text import one_line

_EnumT = TypeVar("_EnumT", bound=Enum)
_Fields = dict[str, Any]
# A field that refuses the candidate, and what is wrong with it.
_Problems = list[tuple[str, str]]

_SHAPE: Final = "an object with category, summary, detail, criteria_met and tags"


@frozen(kw_only=True, eq=False, repr=False)
class ReadCandidate(Value):
    """A candidate that has the right shape."""

    candidate: Candidate
    notes: tuple[str, ...]


def read_enum(enum_class: type[_EnumT], text: Any) -> _EnumT | None:  # noqa: ANN401 - any JSON value
    """Read an enum's value in any case, with ``-``, ``_``, blanks or nothing between its words."""
    if not isinstance(text, str):
        return None
    wanted = _letters(text)
    return next((item for item in enum_class if _letters(str(item.value)) == wanted), None)


def read_candidate(
    raw: Any,  # noqa: ANN401 - any JSON value
    *,
    root: PurePath | None = None,
) -> ReadCandidate | Rejection:
    """Clean and read one candidate."""
    if not isinstance(raw, dict):
        return Rejection(reason=f"a candidate is {_SHAPE}; this is {kind_of(raw)}")
    fields, changes = sanitise(raw, root=root)
    notes = list(changes)
    problems: _Problems = []
    category = _read_category(fields, problems)
    summary = _read_text(fields, "summary", (SUMMARY_LENGTH_MIN, SUMMARY_LENGTH_MAX), problems)
    detail = _read_text(fields, "detail", (DETAIL_LENGTH_MIN, DETAIL_LENGTH_MAX), problems)
    if summary and one_line(summary).casefold() == one_line(detail).casefold():
        problems.append(("detail", "repeats the summary, say what happened, where, and why"))
    criteria = _read_criteria(fields, problems, notes)
    tags = _read_tags(fields, problems)
    unknown = [name for name in fields if name not in CANDIDATE_FIELDS]
    if category is None or problems:
        return _rejection(problems, unknown)
    candidate = Candidate(
        category=category,
        summary=summary,
        detail=detail,
        criteria_met=criteria,
        tags=tags,
        scope=_read_or_default(fields, "scope", Scope.PROJECT, notes),
        confidence=_read_or_default(fields, "confidence", Confidence.MEDIUM, notes),
        context_files=_read_context_files(fields, notes),
        supersedes=_read_supersedes(fields, notes),
    )
    if unknown:
        notes.append(f"unknown fields were ignored: {listed(unknown)}")
    return ReadCandidate(candidate=candidate, notes=tuple(notes))


def _letters(text: str) -> str:
    return "".join(text.split()).replace("-", "").replace("_", "").casefold()


def _values(enum_class: type[Enum]) -> str:
    return ", ".join(str(item.value) for item in enum_class)


def _rejection(problems: _Problems, unknown: Sequence[str]) -> Rejection:
    reason = "; ".join(f"{name}: {problem}" for name, problem in problems)
    if unknown:
        reason += f" (unknown fields were ignored: {listed(unknown)})"
    return Rejection(reason=reason, field=problems[0][0])


def _read_category(fields: _Fields, problems: _Problems) -> Category | None:
    raw = fields.get("category")
    category = read_enum(Category, raw)
    if category is None:
        fault = f'"{shown(raw)}" is unknown' if isinstance(raw, str) else _absence(raw)
        problems.append(("category", f"{fault}, give one of {_values(Category)}"))
    return category


def _read_text(fields: _Fields, name: str, lengths: tuple[int, int], problems: _Problems) -> str:
    raw = fields.get(name)
    least, most = lengths
    if not isinstance(raw, str):
        problems.append((name, f"{_absence(raw)}, give a text of {least} to {most} characters"))
        return ""
    if not least <= len(raw) <= most:
        problems.append((name, f"has {len(raw)} characters, give {least} to {most}"))
    return raw


def _read_criteria(fields: _Fields, problems: _Problems, notes: list[str]) -> frozenset[Criterion]:
    raw = fields.get("criteria_met")
    entries = raw if isinstance(raw, list) else []
    read = [(entry, read_enum(Criterion, entry)) for entry in entries]
    criteria = frozenset(criterion for _, criterion in read if criterion is not None)
    unknown = [_entry(entry) for entry, criterion in read if criterion is None]
    if len(criteria) >= CRITERIA_MIN:
        if unknown:
            notes.append(f"criteria_met: unknown and ignored: {listed(unknown)}")
        return criteria
    fault = f"names {listed(unknown)}, which is unknown" if unknown else _absence(raw)
    problems.append(("criteria_met", f"{fault}, give at least one of {_values(Criterion)}"))
    return criteria


def _read_tags(fields: _Fields, problems: _Problems) -> tuple[str, ...]:
    raw = fields.get("tags")
    wanted = f"give {TAGS_MIN} to {TAGS_MAX} tags of letters, digits and hyphens"
    if not isinstance(raw, list):
        problems.append(("tags", f"{_absence(raw)}, {wanted}"))
        return ()
    if not TAGS_MIN <= len(raw) <= TAGS_MAX:
        problems.append(("tags", f"has {len(raw)} that can be used, {wanted}"))
    return tuple(raw)


def _read_or_default(fields: _Fields, name: str, default: _EnumT, notes: list[str]) -> _EnumT:
    raw = fields.get(name)
    if raw is None:
        return default
    value = read_enum(type(default), raw)
    if value is None:
        notes.append(
            f"{name}: {_entry(raw)} is none of {_values(type(default))}; {default.value} was taken"
        )
        return default
    return value


def _read_context_files(fields: _Fields, notes: list[str]) -> tuple[str, ...]:
    raw = fields.get("context_files")
    if isinstance(raw, list):
        return tuple(raw)
    if raw is not None:
        notes.append(f"context_files: ignored, {kind_of(raw)} is no list of paths")
    return ()


def _read_supersedes(fields: _Fields, notes: list[str]) -> tuple[str, ...]:
    raw = fields.get("supersedes")
    if raw is None:
        return ()
    entries = raw if isinstance(raw, list) else [raw]
    texts = [entry.strip() if isinstance(entry, str) else entry for entry in entries]
    ids = dict.fromkeys(text for text in texts if isinstance(text, str) and is_learning_id(text))
    dropped = [_entry(text) for text in texts if not isinstance(text, str) or text not in ids]
    if dropped:
        notes.append(f"supersedes: no ids, dropped: {listed(dropped)}")
    if len(ids) > SUPERSEDES_MAX:
        notes.append(f"supersedes: only the first {SUPERSEDES_MAX} were kept")
    return tuple(ids)[:SUPERSEDES_MAX]


def _absence(raw: Any) -> str:  # noqa: ANN401 - any JSON value
    return "missing" if raw is None or raw == [] else f"is {kind_of(raw)}"


def _entry(raw: Any) -> str:  # noqa: ANN401 - any JSON value
    return shown(raw) if isinstance(raw, str) else kind_of(raw)
