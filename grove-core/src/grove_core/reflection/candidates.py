"""The fields of a candidate: for each its JSON Schema, and how a value is cleaned and read."""

import re
import unicodedata
from collections.abc import Callable
from enum import Enum
from pathlib import PurePath
from typing import Any, Final, TypeAlias, TypeVar

from attrs import frozen

from grove_core.identifiers import is_learning_id
from grove_core.model.learning import Candidate, Category, Confidence, Criterion, Rejection, Scope
from grove_core.reflection.limits import (
    CONTEXT_FILES_MAX,
    CRITERIA_MIN,
    DETAIL_LENGTH_MAX,
    DETAIL_LENGTH_MIN,
    PATH_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    SUMMARY_LENGTH_MIN,
    SUPERSEDES_MAX,
    TAG_LENGTH_MAX,
    TAGS_MAX,
    TAGS_MIN,
)
from grove_core.reflection.messages import kind_of, listed, shown
from grove_core.text import one_line, remove_invisible

_EnumT = TypeVar("_EnumT", bound=Enum)
_Schema: TypeAlias = dict[str, Any]

_SHAPE: Final = "an object with category, summary, detail, criteria_met and tags"
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
    """Clean and read one candidate."""
    if not isinstance(raw, dict):
        return Rejection(reason=f"a candidate is {_SHAPE}; this is {kind_of(raw)}")
    report = Report(root)
    values: dict[str, Any] = {one.name: one.read(raw.get(one.name), report) for one in FIELDS}
    if values["summary"] and values["summary"].casefold() == one_line(values["detail"]).casefold():
        report.refuse("detail", "repeats the summary, say what happened, where, and why")
    unknown = [name for name in raw if name not in values]
    ignored = f"unknown fields were ignored: {listed(unknown)}"
    if report.problems:
        reason = "; ".join(f"{name}: {problem}" for name, problem in report.problems)
        reason += f" ({ignored})" if unknown else ""
        return Rejection(reason=reason, field=report.problems[0][0])
    notes = (*report.notes, ignored) if unknown else tuple(report.notes)
    return ReadCandidate(candidate=Candidate(**values), notes=notes)


def readable_parts(raw: Any) -> tuple[str, tuple[str, ...]]:  # noqa: ANN401 - any JSON value
    """Clean the summary and the tags of a candidate that was refused, as far as there are any."""
    fields = raw if isinstance(raw, dict) else {"summary": raw}
    summary = _SUMMARY.clean(fields.get("summary"), Report())
    tags = _TAGS.clean(fields.get("tags"), Report())
    return summary or "", tuple(tags or ())[:TAGS_MAX]


def read_enum(enum_class: type[_EnumT], text: Any) -> _EnumT | None:  # noqa: ANN401 - any JSON value
    """Read an enum's value in any case, with ``-``, ``_``, blanks or nothing between its words."""
    if not isinstance(text, str):
        return None
    wanted = _letters(text)
    return next((item for item in enum_class if _letters(str(item.value)) == wanted), None)


class Report:
    """What refuses a candidate, field by field, and what was changed in it."""

    def __init__(self, root: PurePath | None = None) -> None:
        """Begin without either; paths are relative to a root."""
        self.root = root
        self.problems: list[tuple[str, str]] = []
        self.notes: list[str] = []

    def refuse(self, name: str, problem: str) -> None:
        """Add what is wrong with a field."""
        self.problems.append((name, problem))

    def note(self, name: str, change: str) -> None:
        """Add what was changed in a field."""
        self.notes.append(f"{name}: {change}")


# --- kinds of fields ------------------------------------------------------------------------------


@frozen(kw_only=True)
class _Text:
    """A text, made tidy."""

    name: str
    description: str
    least: int
    most: int
    tidy: Callable[[str], str]
    tidied: str

    def schema(self) -> _Schema:
        return text_schema(self.description, self.least, self.most)

    def clean(self, raw: Any, report: Report) -> str | None:  # noqa: ANN401 - any JSON value
        if not isinstance(raw, str):
            return None
        visible = remove_invisible(raw)
        if visible != raw.replace("\r\n", "\n"):
            report.note(self.name, "invisible characters were removed")
        tidy = self.tidy(visible.strip())
        if tidy != visible.strip():
            report.note(self.name, self.tidied)
        return tidy

    def read(self, raw: Any, report: Report) -> str:  # noqa: ANN401 - any JSON value
        text = self.clean(raw, report)
        lengths = f"{self.least} to {self.most}"
        if text is None:
            report.refuse(self.name, f"{_absence(raw)}, give a text of {lengths} characters")
        elif not self.least <= len(text) <= self.most:
            report.refuse(self.name, f"has {len(text)} characters, give {lengths}")
        return text or ""


@frozen(kw_only=True)
class _Choice:
    """One value of an enum; without a default it must be given."""

    name: str
    description: str
    choices: type[Enum]
    default: Enum | None = None

    def schema(self) -> _Schema:
        schema: _Schema = {"description": self.description, "enum": _values(self.choices)}
        return schema if self.default is None else {**schema, "default": self.default.value}

    def read(self, raw: Any, report: Report) -> Enum | None:  # noqa: ANN401 - any JSON value
        value = read_enum(self.choices, raw)
        if value is not None:
            return value
        known = ", ".join(_values(self.choices))
        if self.default is None:
            fault = f'"{shown(raw)}" is unknown' if isinstance(raw, str) else _absence(raw)
            report.refuse(self.name, f"{fault}, give one of {known}")
        elif raw is not None:
            report.note(
                self.name, f"{_entry(raw)} is none of {known}; {self.default.value} was taken"
            )
        return self.default


@frozen(kw_only=True)
class _Choices:
    """Some values of an enum, one at least."""

    name: str
    description: str
    choices: type[Enum]
    separator: str

    def schema(self) -> _Schema:
        return {
            "description": self.description,
            "type": "array",
            "minItems": CRITERIA_MIN,
            "items": {"enum": _values(self.choices)},
        }

    def read(self, raw: Any, report: Report) -> frozenset[Enum]:  # noqa: ANN401 - any JSON value
        entries = _split(self.name, raw, self.separator, report)
        listing = entries if isinstance(entries, list) else ()
        read = [(one, read_enum(self.choices, one)) for one in listing]
        found = frozenset(value for _, value in read if value is not None)
        unknown = [_entry(one) for one, value in read if value is None]
        if found:
            if unknown:
                report.note(self.name, f"unknown and ignored: {listed(unknown)}")
            return found
        fault = f"names {listed(unknown)}, which is unknown" if unknown else _absence(raw)
        known = ", ".join(_values(self.choices))
        report.refuse(self.name, f"{fault}, give at least one of {known}")
        return found


@frozen(kw_only=True)
class _Texts:
    """A list of texts, each made regular or dropped."""

    name: str
    item: _Schema
    least: int = 0
    most: int
    separator: str
    clean_item: Callable[[str, Report], str | None]
    wanted: str = ""

    def schema(self) -> _Schema:
        return array_schema(self.item, self.most, self.least)

    def clean(self, raw: Any, report: Report) -> list[str] | None:  # noqa: ANN401 - any JSON value
        entries = _split(self.name, raw, self.separator, report)
        if not isinstance(entries, list):
            return None
        texts = [one for one in entries if isinstance(one, str)]
        results = [(text, self.clean_item(text, report)) for text in texts]
        kept = dict.fromkeys(result for _, result in results if result is not None)
        if len(texts) < len(entries):
            report.note(self.name, f"{len(entries) - len(texts)} dropped, no text")
        dropped = [text for text, result in results if result is None]
        if dropped:
            report.note(self.name, f"dropped {listed(dropped)}")
        changed = [result for text, result in results if result is not None and result != text]
        if changed:
            report.note(self.name, f"normalised to {listed(dict.fromkeys(changed))}")
        if len(kept) + len(dropped) < len(texts):
            report.note(self.name, "repeated entries were dropped")
        return list(kept)

    def read(self, raw: Any, report: Report) -> tuple[str, ...]:  # noqa: ANN401 - any JSON value
        kept = self.clean(raw, report)
        if self.wanted and kept is None:
            report.refuse(self.name, f"{_absence(raw)}, {self.wanted}")
        elif self.wanted and not self.least <= len(kept or ()) <= self.most:
            number = len(kept or ())
            report.refuse(self.name, f"has {number} that can be used, {self.wanted}")
        elif kept is None and raw is not None:
            report.note(self.name, f"ignored, {kind_of(raw)} is no list")
        elif kept is not None and len(kept) > self.most:
            report.note(self.name, f"only the first {self.most} were kept")
        return tuple(kept or ())[: self.most]


def text_schema(description: str, least: int, most: int | None = None) -> _Schema:
    """Describe a text."""
    lengths = {"minLength": least} if most is None else {"minLength": least, "maxLength": most}
    return {"description": description, "type": "string", **lengths}


def array_schema(items: _Schema, most: int, least: int = 0) -> _Schema:
    """Describe an array."""
    return {"type": "array", "minItems": least, "maxItems": most, "items": items}


def _letters(text: str) -> str:
    return "".join(text.split()).replace("-", "").replace("_", "").casefold()


def _values(enum_class: type[Enum]) -> list[str]:
    return [str(item.value) for item in enum_class]


def _absence(raw: Any) -> str:  # noqa: ANN401 - any JSON value
    return "missing" if raw is None or raw == [] else f"is {kind_of(raw)}"


def _entry(raw: Any) -> str:  # noqa: ANN401 - any JSON value
    return shown(raw) if isinstance(raw, str) else kind_of(raw)


def _split(name: str, raw: Any, separator: str, report: Report) -> Any:  # noqa: ANN401 - any JSON value
    """Read one text where a list belongs, as agents often send it."""
    if not isinstance(raw, str):
        return raw
    parts = [part for part in re.split(separator, raw) if part.strip()]
    report.note(name, f"one text was read as a list of {len(parts)}")
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
    return tag if 0 < len(tag) <= TAG_LENGTH_MAX else None


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
    return relative if 0 < len(relative) <= PATH_LENGTH_MAX else None


# --- the table ------------------------------------------------------------------------------------

_SUMMARY: Final = _Text(
    name="summary",
    description="One line.",
    least=SUMMARY_LENGTH_MIN,
    most=SUMMARY_LENGTH_MAX,
    tidy=one_line,
    tidied="white space was folded into one line",
)
_TAGS: Final = _Texts(
    name="tags",
    item=text_schema("Lower-case letters, digits and hyphens.", 1, TAG_LENGTH_MAX),
    least=TAGS_MIN,
    most=TAGS_MAX,
    separator=r"[,;\s]",
    clean_item=lambda text, _: clean_tag(text),
    wanted=f"give {TAGS_MIN} to {TAGS_MAX} tags of letters, digits and hyphens",
)
FIELDS: Final[tuple[_Text | _Choice | _Choices | _Texts, ...]] = (
    _Choice(name="category", description="What kind of knowledge it is.", choices=Category),
    _SUMMARY,
    _Text(
        name="detail",
        description="Markdown that says more than the summary.",
        least=DETAIL_LENGTH_MIN,
        most=DETAIL_LENGTH_MAX,
        tidy=close_fences,
        tidied="an open code fence was closed",
    ),
    _Choices(
        name="criteria_met",
        description="Why it is worth keeping.",
        choices=Criterion,
        separator=r"[,;\n]",
    ),
    _TAGS,
    _Choice(name="scope", description="Who it is for.", choices=Scope, default=Scope.PROJECT),
    _Choice(
        name="confidence",
        description="How sure you are.",
        choices=Confidence,
        default=Confidence.MEDIUM,
    ),
    _Texts(
        name="context_files",
        item=text_schema("A path relative to the project's root.", 1, PATH_LENGTH_MAX),
        most=CONTEXT_FILES_MAX,
        separator=r"\n",
        clean_item=lambda text, report: clean_path(text, root=report.root),
    ),
    _Texts(
        name="supersedes",
        item={"$ref": "#/$defs/learning_id"},
        most=SUPERSEDES_MAX,
        separator=r"[,;\s]",
        clean_item=lambda text, _: text.strip() if is_learning_id(text.strip()) else None,
    ),
)
REQUIRED: Final = ("category", "summary", "detail", "criteria_met", "tags")
