"""Parse what an agent sends to ``grove reflect``, lenient about its form."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from attrs import frozen

from grove_core.errors import ReflectionError
from grove_core.identifiers import is_learning_id, is_session_id
from grove_core.reflection.candidates import CANDIDATE_FIELDS, kind_of, shown
from grove_core.reflection.schema import (
    NOTHING_LEARNED_LENGTH_MIN,
    REMARK_LENGTH_MAX,
    SUBMISSION_FIELDS,
)
from grove_core.text import clean_line, remove_invisible

SUBMISSION_BYTES_MAX: Final = 1024 * 1024
# Each is compared with everything that is stored, while other sessions wait.
CANDIDATES_MAX: Final = 50

JsonContainer: TypeAlias = dict[str, Any] | list[Any]

_KNOWN_FIELDS: Final = frozenset(SUBMISSION_FIELDS) | frozenset(CANDIDATE_FIELDS)
_CANDIDATE_MARKS: Final = frozenset({"category", "summary", "detail"})


@frozen(kw_only=True)
class Rating:
    """What somebody thinks of a learning."""

    learning_id: str
    useful: bool


@frozen(kw_only=True)
class RatingsRead:
    """What was read of ratings that somebody sent."""

    ratings: tuple[Rating, ...] = ()
    problems: tuple[str, ...] = ()


@frozen(kw_only=True)
class UsedLearning:
    """A learning that the agent says it used."""

    id: str
    how: str | None = None


@frozen(kw_only=True)
class Correction:
    """A learning that the agent says is wrong."""

    id: str
    why: str | None = None


@frozen(kw_only=True)
class Submission:
    """What an agent sent, before its candidates are evaluated."""

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
    try:
        value, more_follows = _find_value(_decode(data))
    except RecursionError as error:
        raise ReflectionError(
            "The submission is nested too deeply. A candidate holds only texts and lists of texts."
        ) from error
    sent = _as_object(value)
    problems: list[str] = []
    if more_follows:
        problems.append("Only the first JSON value was read; put all candidates into one array.")
    rated = read_each_rating(_entries(sent.get("ratings")))
    candidates = _read_candidates(sent.get("candidates"), problems)
    used = _read_references(sent, "learnings_used", "how", problems)
    corrected = _read_references(sent, "corrections", "why", problems)
    return Submission(
        session_id=_read_session_id(sent.get("session_id"), problems),
        candidates=candidates,
        learnings_used=tuple(UsedLearning(id=key, how=how) for key, how in used.items()),
        corrections=tuple(Correction(id=key, why=why) for key, why in corrected.items()),
        ratings=rated.ratings,
        notes=_read_notes(sent.get("notes"), problems),
        nothing_learned=_read_nothing_learned(
            sent.get("nothing_learned"), problems, has_candidates=bool(candidates)
        ),
        unknown_fields=tuple(shown(name) for name in sent if name not in SUBMISSION_FIELDS),
        problems=(*problems, *rated.problems),
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
    references: dict[str, str | None] = {}
    ignored = 0
    for entry in _entries(sent.get(name)):
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


def _entries(raw: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    if raw is None:
        return []
    return raw if isinstance(raw, list) else [raw]


def _remark(raw: Any) -> str | None:  # noqa: ANN401 - any JSON value
    if not isinstance(raw, str):
        return None
    return clean_line(raw, REMARK_LENGTH_MAX) or None


def read_each_rating(entries: Sequence[Any]) -> RatingsRead:
    """Read ratings."""
    problems: list[str] = []
    ratings: dict[str, Rating] = {}
    for position, entry in enumerate(entries):
        rating = _read_rating(entry)
        if isinstance(rating, Rating):
            ratings[rating.learning_id] = rating
        else:
            problems.append(f"ratings[{position}] does not count: {rating}")
    return RatingsRead(ratings=tuple(ratings.values()), problems=tuple(problems))


def _read_rating(entry: Any) -> Rating | str:  # noqa: ANN401 - any JSON value
    """Read one rating, or tell what is wrong with it; what is no id is not quoted."""
    if not isinstance(entry, dict):
        return f"it is {kind_of(entry)}, not an object with id and useful"
    learning_id, useful = entry.get("id"), entry.get("useful")
    if not isinstance(learning_id, str) or not is_learning_id(learning_id.strip()):
        return f"id is {kind_of(learning_id)}, not the id of a learning"
    if not isinstance(useful, bool):
        return f"useful of {learning_id.strip()} is {kind_of(useful)}, neither true nor false"
    return Rating(learning_id=learning_id.strip(), useful=useful)


# --- finding the JSON: bare, in a markdown fence, or amid prose -----------------------------------

_BROKEN_VALUES_MAX: Final = 500
# Prose has brackets too: an object with a key, or an array of objects, is worth a look.
_START: Final = re.compile(r'\{[ \t\r\n]*"|\[[ \t\r\n]*\{')
_BRACKET: Final = re.compile(r"[\[{]")
# No number is valid anywhere in a submission; as floats, long ones cost nothing and cannot fail.
_SEND: Final = 'Send {"candidates": [...]} or {"nothing_learned": "reason"}.'
_DECODER: Final = json.JSONDecoder(parse_int=float)


def _find_value(text: str) -> tuple[JsonContainer, bool]:
    """Find the first JSON object or array that can be a submission, and whether more follows."""
    if not text.strip():
        raise ReflectionError("The submission is empty. Send the JSON of `grove reflect --schema`.")
    try:
        value = _DECODER.decode(text.strip())
    except json.JSONDecodeError:
        return _search(text)
    if not isinstance(value, dict | list):
        raise ReflectionError(
            f"The submission is JSON, but neither an object nor an array. {_SEND}"
        )
    return value, False


def _search(text: str) -> tuple[JsonContainer, bool]:
    position = 0
    for _ in range(_BROKEN_VALUES_MAX):
        start = _START.search(text, position)
        if start is None:
            break
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            sound = text[start.start() : error.pos]
            if any(f'"{name}"' in sound for name in _KNOWN_FIELDS):
                raise _broken(error) from error
            position = max(error.pos, start.end())
            continue
        objects = [value] if isinstance(value, dict) else value
        if any(isinstance(one, dict) and not _KNOWN_FIELDS.isdisjoint(one) for one in objects):
            return value, _START.search(text, position) is not None
    if bracket := _BRACKET.search(text):
        try:
            _DECODER.raw_decode(text, bracket.start())
        except json.JSONDecodeError as error:
            raise _broken(error) from error
    raise ReflectionError(f"The submission holds no JSON object with candidates. {_SEND}")


def _broken(error: json.JSONDecodeError) -> ReflectionError:
    place = f"line {error.lineno}, column {error.colno}"
    return ReflectionError(
        f"The submission is not valid JSON: {error.msg} ({place})."
        ' Fix it there and send it again; in texts write quotes as \\" and line breaks as \\n.'
    )
