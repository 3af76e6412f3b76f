"""Reading a candidate by the table of its fields: what was changed, and what is wrong."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from pathlib import PurePath
from typing import Any, Final, TypeVar, get_origin

from attrs import NOTHING, Attribute, fields, frozen

from grove_core.identifiers import is_learning_id
from grove_core.model.learning import Candidate, Criterion, Learning, Rejection, about
from grove_core.text import clean_line, counted, one_line, remove_invisible

_EnumT = TypeVar("_EnumT", bound=Enum)

CANDIDATE_FIELDS: Final = tuple(one.name for one in fields(Candidate))
LEARNING_FIELDS: Final = frozenset(one.name for one in fields(Learning))
REQUIRED: Final = tuple(
    one.name for one in fields(Candidate) if one.default is NOTHING or about(one.name).least
)
_SHAPE: Final = f"an object with {', '.join(REQUIRED[:-1])} and {REQUIRED[-1]}"
_CRITERIA: Final = ", ".join(one.value for one in Criterion)
_SHOWN_LENGTH: Final = 60
_NAMES_LISTED: Final = 5
_BLANK_IN_TAG: Final = re.compile(r"[\s_-]+")
# CommonMark: at most three blanks, then three or more of one mark; what follows a backtick fence
# holds no backtick.
_FENCE: Final = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})(?P<rest>.*)")
_SLASHES: Final = re.compile(r"[\\/]+")
_OUTSIDE: Final = re.compile(r"/|~|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]*:/")


@frozen(kw_only=True)
class ReadCandidate:
    """A candidate that has the right shape, and what was changed in it."""

    candidate: Candidate
    notes: tuple[str, ...]


def read_candidate(
    raw: Any,  # noqa: ANN401 - any JSON value
    *,
    root: PurePath | None = None,
) -> ReadCandidate | Rejection:
    """Clean and read one candidate; paths are relative to a root."""
    if not isinstance(raw, dict):
        return Rejection(reason=f"a candidate is {_SHAPE}; this is {kind_of(raw)}")
    reader = _Reader(root)
    values: dict[str, Any] = {one.name: reader.read(one, raw) for one in fields(Candidate)}
    if values["summary"] and values["summary"].casefold() == one_line(values["detail"]).casefold():
        reader.refuse("detail", "repeats the summary, say what happened, where, and why")
    unknown = [name for name in raw if name not in values]
    ignored = [f"unknown fields were ignored: {listed(unknown)}"] if unknown else []
    if reader.problems:
        reason = "; ".join(f"{name}: {problem}" for name, problem in reader.problems)
        reason += "".join(f" ({one})" for one in ignored)
        return Rejection(reason=reason, field=reader.problems[0][0])
    return ReadCandidate(candidate=Candidate(**values), notes=(*reader.notes, *ignored))


def readable_parts(raw: Any) -> tuple[str, tuple[str, ...]]:  # noqa: ANN401 - any JSON value
    """Clean the summary and the tags of a candidate that was refused, as far as there are any."""
    sent = raw if isinstance(raw, dict) else {"summary": raw}
    reader = _Reader()
    tags = reader.items("tags", sent.get("tags"))
    return reader.text("summary", sent.get("summary")), tuple(tags)


def read_enum(enum_class: type[_EnumT], text: Any) -> _EnumT | None:  # noqa: ANN401 - any JSON value
    """Read an enum's value in any case, with ``-``, ``_``, blanks or nothing between its words."""
    if not isinstance(text, str):
        return None
    wanted = _letters(text)
    return next((item for item in enum_class if _letters(str(item.value)) == wanted), None)


def _letters(text: str) -> str:
    return "".join(text.split()).replace("-", "").replace("_", "").casefold()


class _Reader:
    """Reads the fields of a candidate; notes what refuses it, and what it changes."""

    def __init__(self, root: PurePath | None = None) -> None:
        self.problems: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self._clean_item: dict[str, Callable[[str], Any]] = {
            "criteria_met": partial(read_enum, Criterion),
            "tags": clean_tag,
            "context_files": lambda text: clean_path(text, root=root),
            "supersedes": lambda text: text.strip() if is_learning_id(text.strip()) else None,
        }

    def refuse(self, name: str, problem: str) -> None:
        self.problems.append((name, problem))

    def _note(self, name: str, change: str) -> None:
        self.notes.append(f"{name}: {change}")

    def read(self, one: "Attribute[Any]", sent: dict[str, Any]) -> Any:  # noqa: ANN401 - of the field's type
        """Read a field of what was sent, by its type."""
        raw = sent.get(one.name)
        if raw is None and one.name not in REQUIRED:
            return one.default
        if one.type is str:
            return self.text(one.name, raw)
        if (kind := get_origin(one.type)) is not None:
            return kind(self.items(one.name, raw))
        return self._choice(one, raw)

    def text(self, name: str, raw: Any) -> str:  # noqa: ANN401 - any JSON value
        """Read a text and make it tidy."""
        bounds = about(name)
        lengths = f"{bounds.least} to {bounds.most}"
        if not isinstance(raw, str):
            self.refuse(name, f"{_absence(raw)}, give a text of {lengths} characters")
            return ""
        visible = remove_invisible(raw)
        if visible != raw.replace("\r\n", "\n"):
            self._note(name, "invisible characters were removed")
        text = close_fences(visible.strip()) if name == "detail" else one_line(visible)
        if text != visible.strip():
            fenced = name == "detail"
            change = "an open code fence was closed" if fenced else "it was folded into one line"
            self._note(name, change)
        if not bounds.least <= len(text) <= bounds.most:
            self.refuse(name, f"has {counted(len(text), 'character')}, give {lengths}")
        return text

    def _choice(self, one: "Attribute[Any]", raw: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Read a value of an enum; without a default it must be given."""
        kind: Any = one.type
        value = read_enum(kind, raw)
        if value is not None:
            return value
        known = ", ".join(each.value for each in kind)
        if one.default is NOTHING:
            fault = f'"{shown(raw)}" is unknown' if isinstance(raw, str) else _absence(raw)
            self.refuse(one.name, f"{fault}, give one of {known}")
            return None
        usual: Any = one.default
        self._note(one.name, f"{_entry(raw)} is none of {known}; {usual.value} was taken")
        return usual

    def items(self, name: str, raw: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
        """Read a list, each entry made regular or dropped."""
        bounds = about(name)
        entries = self._entries(name, raw)
        kept = self._clean_items(name, entries or [])
        words = _CRITERIA if name == "criteria_met" else bounds.meaning.rstrip(".").lower()
        wanted = f"give {bounds.least} to {bounds.most} ({words})"
        if bounds.least and entries is None:
            self.refuse(name, f"{_absence(raw)}, {wanted}")
        elif bounds.least and not bounds.least <= len(kept) <= bounds.most:
            self.refuse(name, f"has {len(kept)} that can be used, {wanted}")
        elif entries is None:
            self._note(name, f"ignored, {kind_of(raw)} is no list")
        elif len(kept) > bounds.most:
            self._note(name, f"only the first {bounds.most} were kept")
        return kept[: bounds.most]

    def _clean_items(self, name: str, entries: list[Any]) -> list[Any]:
        clean = self._clean_item[name]
        results = [(one, clean(one) if isinstance(one, str) else None) for one in entries]
        dropped = [_entry(one) for one, result in results if result is None]
        kept = list(dict.fromkeys(result for _, result in results if result is not None))
        given = {one for one in entries if isinstance(one, str)}
        if dropped:
            self._note(name, f"dropped {listed(dropped)}")
        if changed := [one for one in kept if isinstance(one, str) and one not in given]:
            self._note(name, f"normalised to {listed(changed)}")
        if len(kept) + len(dropped) < len(entries):
            self._note(name, "repeated entries were dropped")
        return kept

    def _entries(self, name: str, raw: Any) -> list[Any] | None:  # noqa: ANN401 - any JSON value
        """Return a list; agents often send one text where it belongs."""
        if not isinstance(raw, str):
            return raw if isinstance(raw, list) else None
        separator = r"[,;\s]" if name in ("tags", "supersedes") else r"[,;\n]"
        parts = [part for part in re.split(separator, raw) if part.strip()]
        self._note(name, f"one text was read as a list of {len(parts)}")
        return parts


# --- cleaning -------------------------------------------------------------------------------------


def close_fences(text: str) -> str:
    """Close a code fence that a markdown text leaves open."""
    opened = ""
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if fence is None:
            continue
        if not opened:
            opened = fence["mark"]
        elif fence["mark"].startswith(opened) and not fence["rest"].strip(" \t"):
            opened = ""
    return f"{text}\n{opened}" if opened else text


def clean_tag(text: str) -> str | None:
    """Normalise a tag to lower-case letters, digits and single hyphens."""
    lowered = unicodedata.normalize("NFKC", remove_invisible(text)).lower()
    kept = "".join(
        character
        for character in _BLANK_IN_TAG.sub("-", lowered)
        if character == "-" or unicodedata.category(character)[0] in "LMN"
    )
    tag = unicodedata.normalize("NFKC", _BLANK_IN_TAG.sub("-", kept).strip("-"))
    return tag if 0 < len(tag) <= about("tags").longest else None


def clean_path(text: str, *, root: PurePath | None = None) -> str | None:
    """Normalise a path to a relative POSIX path inside the project."""
    # A NUL or a line break is no slip of the pen: do not guess what was meant.
    if "\0" in text or len(text.strip().splitlines()) != 1:
        return None
    path = _SLASHES.sub("/", remove_invisible(text).strip())
    if root is not None:
        path = path.removeprefix(root.as_posix().rstrip("/") + "/")
    parts = [part.strip() for part in path.split("/")]
    relative = "/".join(part for part in parts if part not in {"", "."})
    if ".." in parts or _OUTSIDE.match(path) or _OUTSIDE.match(relative):
        return None
    return relative if 0 < len(relative) <= about("context_files").longest else None


# --- words of messages ----------------------------------------------------------------------------


def shown(text: str) -> str:
    """Make a text of any origin fit for a message."""
    return clean_line(text, _SHOWN_LENGTH)


def listed(texts: Iterable[str]) -> str:
    """Quote several texts, the first five of them."""
    every = tuple(texts)
    first = ", ".join(f'"{shown(text)}"' for text in every[:_NAMES_LISTED])
    hidden = len(every) - _NAMES_LISTED
    return f"{first} and {hidden} more" if hidden > 0 else first


def kind_of(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Name the kind of a JSON value."""
    kinds = {type(None): "null", bool: "a boolean", dict: "an object", list: "an array"}
    return kinds.get(type(value), "text" if isinstance(value, str) else "a number")


def _absence(raw: Any) -> str:  # noqa: ANN401 - any JSON value
    return "missing" if raw is None or raw == [] else f"is {kind_of(raw)}"


def _entry(raw: Any) -> str:  # noqa: ANN401 - any JSON value
    return shown(raw) if isinstance(raw, str) else kind_of(raw)
