"""Parse what an agent sends to ``grove reflect``, lenient about its form."""

from typing import Any, Final

from attrs import frozen

from grove_core.errors import ReflectionError
from grove_core.identifiers import is_learning_id, is_session_id
from grove_core.model.value import Value
from grove_core.reflection.json_text import JsonContainer, find_value
from grove_core.reflection.limits import (
    CANDIDATE_FIELDS,
    CANDIDATES_MAX,
    NOTHING_LEARNED_LENGTH_MIN,
    REMARK_LENGTH_MAX,
    SUBMISSION_BYTES_MAX,
)
from grove_core.reflection.ratings import Rating, read_each
from grove_core.reflection.wording import kind_of, shown
from grove_core.text import clean_line, remove_invisible

SUBMISSION_FIELDS: Final = (
    "session_id",
    "candidates",
    "learnings_used",
    "corrections",
    "ratings",
    "notes",
    "nothing_learned",
)
_KNOWN_FIELDS: Final = frozenset(SUBMISSION_FIELDS) | frozenset(CANDIDATE_FIELDS)
_CANDIDATE_MARKS: Final = frozenset({"category", "summary", "detail"})


@frozen(kw_only=True, eq=False, repr=False)
class UsedLearning(Value):
    """A learning that the agent says it used."""

    id: str
    how: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Correction(Value):
    """A learning that the agent says is wrong."""

    id: str
    why: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Submission(Value):
    """What an agent sent, before its candidates are judged."""

    session_id: str | None = None
    candidates: tuple[Any, ...] = ()
    learnings_used: tuple[UsedLearning, ...] = ()
    corrections: tuple[Correction, ...] = ()
    ratings: tuple[Rating, ...] = ()
    notes: str = ""
    nothing_learned: str | None = None
    unknown_fields: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def parse_submission(data: bytes) -> Submission:
    """Read a submission: an object, a bare array, one candidate; bare, fenced or amid prose."""
    value, more_follows = find_value(_decode(data), _KNOWN_FIELDS)
    sent = _as_object(value)
    problems: list[str] = []
    if more_follows:
        problems.append("Only the first JSON value was read; put all candidates into one array.")
    candidates = _read_candidates(sent.get("candidates"), problems)
    used = _read_references(sent, "learnings_used", "how", problems)
    corrected = _read_references(sent, "corrections", "why", problems)
    return Submission(
        session_id=_read_session_id(sent.get("session_id"), problems),
        candidates=candidates,
        learnings_used=tuple(UsedLearning(id=key, how=how) for key, how in used.items()),
        corrections=tuple(Correction(id=key, why=why) for key, why in corrected.items()),
        ratings=_read_ratings(sent.get("ratings"), problems),
        notes=_read_notes(sent.get("notes"), problems),
        nothing_learned=_read_nothing_learned(
            sent.get("nothing_learned"), problems, has_candidates=bool(candidates)
        ),
        unknown_fields=tuple(shown(name) for name in sent if name not in SUBMISSION_FIELDS),
        problems=tuple(problems),
    )


def _decode(data: bytes) -> str:
    if len(data) > SUBMISSION_BYTES_MAX:
        raise ReflectionError(
            f"The submission has {len(data)} bytes; at most {SUBMISSION_BYTES_MAX} are read."
            " Send fewer or shorter candidates."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReflectionError(
            f"The submission is not UTF-8 (byte {error.start}). Send it encoded as UTF-8."
        ) from error


def _as_object(value: JsonContainer) -> dict[str, Any]:
    """Bring a bare array and a single candidate into the object form."""
    if isinstance(value, list):
        return {"candidates": value}
    if "candidates" in value or _CANDIDATE_MARKS.isdisjoint(value):
        return value
    beside = {name: field for name, field in value.items() if name in SUBMISSION_FIELDS}
    candidate = {name: field for name, field in value.items() if name not in SUBMISSION_FIELDS}
    return {**beside, "candidates": [candidate]}


def _read_candidates(raw: Any, problems: list[str]) -> tuple[Any, ...]:  # noqa: ANN401 - any JSON value
    if raw is None:
        return ()
    if isinstance(raw, dict):
        return (raw,)
    if isinstance(raw, list):
        if len(raw) > CANDIDATES_MAX:
            problems.append(
                f"Only the first {CANDIDATES_MAX} of {len(raw)} candidates were read; hand in the"
                " others by themselves."
            )
        return tuple(raw[:CANDIDATES_MAX])
    raise ReflectionError(
        f'"candidates" is {kind_of(raw)}. Send an array of objects, one for each learning.'
    )


def _read_session_id(raw: Any, problems: list[str]) -> str | None:  # noqa: ANN401 - any JSON value
    if raw is None:
        return None
    if isinstance(raw, str) and is_session_id(raw.strip()):
        return raw.strip()
    problems.append("session_id was ignored: it is not the id of a session.")
    return None


def _read_notes(raw: Any, problems: list[str]) -> str:  # noqa: ANN401 - any JSON value
    if isinstance(raw, str):
        return remove_invisible(raw).strip()
    if raw is not None:
        problems.append(f"notes were ignored: they are {kind_of(raw)}, not text.")
    return ""


def _read_nothing_learned(
    raw: Any,  # noqa: ANN401 - any JSON value
    problems: list[str],
    *,
    has_candidates: bool,
) -> str | None:
    if raw is None:
        return None
    reason = _remark(raw)
    if reason is not None and len(reason) >= NOTHING_LEARNED_LENGTH_MIN:
        return reason
    message = (
        f'"nothing_learned" must be a reason of at least {NOTHING_LEARNED_LENGTH_MIN} characters.'
    )
    if not has_candidates:
        raise ReflectionError(f"{message} Say in a sentence why there is nothing to keep.")
    problems.append(f"{message} It was ignored, as there are candidates.")
    return None


def _read_references(
    sent: dict[str, Any], name: str, remark_name: str, problems: list[str]
) -> dict[str, str | None]:
    """Read ids with remarks: objects, or plain ids; in an array, or one alone."""
    raw = sent.get(name)
    if raw is None:
        return {}
    references: dict[str, str | None] = {}
    ignored = 0
    for entry in raw if isinstance(raw, list) else [raw]:
        fields = entry if isinstance(entry, dict) else {"id": entry}
        key = fields.get("id")
        if isinstance(key, str) and is_learning_id(key.strip()):
            references.setdefault(key.strip(), _remark(fields.get(remark_name)))
        else:
            ignored += 1
    if ignored:
        problems.append(
            f"{name}: {ignored} ignored; give each as "
            f'{{"id": "the id of a learning", "{remark_name}": "..."}}.'
        )
    return references


def _read_ratings(raw: Any, problems: list[str]) -> tuple[Rating, ...]:  # noqa: ANN401 - any JSON value
    if raw is None:
        return ()
    read = read_each(raw if isinstance(raw, list) else [raw])
    problems += read.problems
    return read.ratings


def _remark(raw: Any) -> str | None:  # noqa: ANN401 - any JSON value
    if not isinstance(raw, str):
        return None
    return clean_line(raw, REMARK_LENGTH_MAX) or None
