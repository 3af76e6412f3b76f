"""Parse what an agent sends to ``grove reflect``, lenient about its form."""

import json
import re
from typing import Any, Final, TypeAlias

from attrs import frozen

from grove_core.errors import ReflectionError
from grove_core.identifiers import is_learning_id, is_session_id
from grove_core.reflection.candidates import CANDIDATE_FIELDS, kind_of, listed, shown
from grove_core.reflection.schema import (
    REASON_LENGTH_MIN,
    REMARK_LENGTH_MAX,
    SUBMISSION_FIELDS,
)
from grove_core.text import clean_line, remove_invisible

SUBMISSION_BYTES_MAX: Final = 1024 * 1024
# Each is compared with everything that is stored, while other sessions wait.
CANDIDATES_MAX: Final = 50
NO_REASON: Final = (
    f"say in {REASON_LENGTH_MIN} characters or more why there is nothing to keep, for example"
    ' "only a typo in the readme was fixed".'
)
_PLACEHOLDER: Final = "the reason"
"""What stands for the reason in the command that an agent is shown."""
_REASON_WORDS_MIN: Final = 2
_REASON_LETTERS_MIN: Final = 5

JsonContainer: TypeAlias = dict[str, Any] | list[Any]

_KNOWN_FIELDS: Final = frozenset(SUBMISSION_FIELDS) | frozenset(CANDIDATE_FIELDS)
_CANDIDATE_MARKS: Final = frozenset({"category", "summary", "detail"})


@frozen(kw_only=True)
class Rating:
    """What somebody thinks of a learning."""

    learning_id: str
    useful: bool


@frozen(kw_only=True)
class Reference:
    """A learning that the agent says it used, and how, or is wrong, and why."""

    id: str
    remark: str | None = None


@frozen(kw_only=True)
class Submission:
    """What an agent sent, before its candidates are evaluated."""

    session_id: str | None = None
    candidates: tuple[Any, ...] = ()
    learnings_used: tuple[Reference, ...] = ()
    corrections: tuple[Reference, ...] = ()
    ratings: tuple[Rating, ...] = ()
    notes: str = ""
    nothing_learned: str | None = None
    unknown_fields: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def is_reason(text: str) -> bool:
    """Return whether a text says why there is nothing to keep."""
    words = set(re.findall(r"[^\W\d_]{2,}", text.casefold()))
    letters = set("".join(words) if text.strip(" .\"'").casefold() != _PLACEHOLDER else "")
    enough = len(words) >= _REASON_WORDS_MIN or not text.isascii()
    return len(text) >= REASON_LENGTH_MIN and enough and len(letters) >= _REASON_LETTERS_MIN


def parse_submission(data: bytes) -> Submission:
    """Read a submission: an object, a bare array, one candidate; bare, fenced or amid prose."""
    try:
        value, more_follows = _find_value(_decode(data))
    except RecursionError as error:
        raise ReflectionError(
            "The submission is nested too deeply. A candidate holds only texts and lists of texts."
        ) from error
    reader = _Reader(_as_object(value))
    if more_follows:
        reader.problems.append(
            "Only the first JSON value was read; put all candidates into one array."
        )
    submission = reader.read()
    if not submission.candidates and submission.nothing_learned is None:
        unknown = listed(submission.unknown_fields)
        raise ReflectionError(
            f"The submission holds no candidate{unknown and f', {unknown} is unknown'}; submit at"
            ' least one in "candidates", or'
            ' {"nothing_learned": "the reason"} (see grove reflect --schema)'
        )
    return submission


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
    candidate = {name: field for name, field in value.items() if name not in SUBMISSION_FIELDS}
    return {**{name: value[name] for name in value.keys() - candidate}, "candidates": [candidate]}


class _Reader:
    """Reads the fields of a submission; what it cannot use it names."""

    def __init__(self, sent: dict[str, Any]) -> None:
        self._sent = sent
        self.problems: list[str] = []

    def read(self) -> Submission:
        """Read every field."""
        candidates = self._candidates()
        return Submission(
            session_id=self._session_id(),
            candidates=candidates,
            learnings_used=self._references("learnings_used", "how"),
            corrections=self._references("corrections", "why"),
            ratings=self._ratings(),
            notes=self._notes(),
            nothing_learned=self._nothing_learned(has_candidates=bool(candidates)),
            unknown_fields=tuple(
                shown(name) for name in self._sent if name not in SUBMISSION_FIELDS
            ),
            # Read last: what comes before may add to them.
            problems=tuple(self.problems),
        )

    def _candidates(self) -> tuple[Any, ...]:
        raw = self._sent.get("candidates")
        if raw is not None and not isinstance(raw, dict | list):
            raise ReflectionError(
                f'"candidates" is {kind_of(raw)}. Send an array of objects, one for each learning.'
            )
        every = _entries(raw)
        if len(every) > CANDIDATES_MAX:
            self.problems.append(
                f"Only the first {CANDIDATES_MAX} of {len(every)} candidates were read; hand in the"
                " others by themselves."
            )
        return tuple(every[:CANDIDATES_MAX])

    def _session_id(self) -> str | None:
        raw = self._sent.get("session_id")
        if isinstance(raw, str) and is_session_id(raw.strip()):
            return raw.strip()
        if raw is not None:
            self.problems.append("session_id was ignored: it is not the id of a session.")
        return None

    def _notes(self) -> str:
        raw = self._sent.get("notes")
        if raw is not None and not isinstance(raw, str):
            self.problems.append(f"notes were ignored: they are {kind_of(raw)}, not text.")
        return remove_invisible(raw).strip() if isinstance(raw, str) else ""

    def _nothing_learned(self, *, has_candidates: bool) -> str | None:
        raw = self._sent.get("nothing_learned")
        reason = _remark(raw) or ""
        if raw is None or is_reason(reason):
            return reason or None
        if not has_candidates:
            raise ReflectionError(f'"nothing_learned": {NO_REASON}')
        self.problems.append(f'"nothing_learned" was ignored, as there are candidates; {NO_REASON}')
        return None

    def _references(self, name: str, remark: str) -> tuple[Reference, ...]:
        named = self._about_learnings(name, remark, object)
        return tuple(Reference(id=one, remark=_remark(said)) for one, said in named.items())

    def _ratings(self) -> tuple[Rating, ...]:
        named = self._about_learnings("ratings", "useful", bool)
        return tuple(Rating(learning_id=one, useful=said) for one, said in named.items())

    def _about_learnings(self, name: str, key: str, kind: type) -> dict[str, Any]:
        """Read ids and what is said of each: objects, or plain ids; in an array, or one alone."""
        found: dict[str, Any] = {}
        ignored = 0
        for entry in _entries(self._sent.get(name)):
            fields = entry if isinstance(entry, dict) else {"id": entry}
            named, said = fields.get("id"), fields.get(key)
            is_sound = isinstance(said, kind)
            if isinstance(named, str) and is_learning_id(named.strip()) and is_sound:
                found.setdefault(named.strip(), said)
            else:
                ignored += 1
        if ignored:
            value = "true" if kind is bool else '"..."'
            form = f'{{"id": "the id of a learning", "{key}": {value}}}'
            self.problems.append(f"{name}: {ignored} ignored; give each as {form}.")
        return found


def _entries(raw: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    if raw is None:
        return []
    return raw if isinstance(raw, list) else [raw]


def _remark(raw: Any) -> str | None:  # noqa: ANN401 - any JSON value
    return clean_line(raw, REMARK_LENGTH_MAX) or None if isinstance(raw, str) else None


# --- finding the JSON: bare, in a markdown fence, or amid prose -----------------------------------

_BROKEN_VALUES_MAX: Final = 500
# Prose has brackets too: an object with a key, or an array of objects, is worth a look.
_START: Final = re.compile(r'\{[ \t\r\n]*"|\[[ \t\r\n]*\{')
_BRACKET: Final = re.compile(r"[\[{]")
_SEND: Final = 'Send {"candidates": [...]} or {"nothing_learned": "reason"}.'
# No number is valid anywhere in a submission; as floats, long ones cost nothing and cannot fail.
_DECODER: Final = json.JSONDecoder(parse_int=float)


def _find_value(text: str) -> tuple[JsonContainer, bool]:
    """Find the first JSON object or array that can be a submission, and whether more follows."""
    if not text.strip():
        raise ReflectionError(
            "The submission is empty. Give --summary, --detail and --category, or send the JSON of"
            " `grove reflect --schema`."
        )
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
