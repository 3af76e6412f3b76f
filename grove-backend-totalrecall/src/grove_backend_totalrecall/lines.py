"""What a single line of Total Recall's files can be: head, mark, metadata."""

import re
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from grove_backend_totalrecall.markup import BLANKS, unescape
from grove_core import Category, Confidence, LearningStatus, Scope, is_learning_id

_ID_START: Final = "(grove:"
_BULLET: Final = r"(?:[-*][ \t]++)?"
_TIME: Final = r"(?:\[([0-9]{1,2}:[0-9]{2})\][ \t]*+)?"
_ID: Final = r"\(grove:([A-Za-z0-9_-]{1,200})\)"
_HEAD: Final = re.compile(
    _BULLET
    + _TIME
    + r"(\[(?i:superseded):[^\]]{0,80}\][ \t]*+)?(?:\*\*([^*]{1,60})\*\*[ \t]*+)?"
    + _ID
    + r"[ \t]*+:(.*)"
)
_PROMOTED: Final = re.compile(r"[-*][ \t]++(?:\[[ xX]\][ \t]++)?(.*[^ \t])[ \t]*+" + _ID)
_MARK: Final = re.compile(
    _BULLET + _TIME + r"\[(superseded|restored)(?::[^\]]{0,80})?\][ \t]*+(.*)", re.IGNORECASE
)
_SUPERSEDED: Final = re.compile(r"\[superseded(?::[^\]]{0,80})?\][ \t]*+", re.IGNORECASE)
_AIMED_AT: Final = re.compile(r"[ \t]*+" + _ID)
_MENTIONED: Final = re.compile(r"\bgrove:([A-Za-z0-9_-]{1,200})")
_CLAIM_ENDS: Final = re.compile(r"[ \t]*+(?:[-–—]|\(grove:|\Z)")
_CLOSING_QUOTES: Final = {'"': '"', "“": "”", "„": "“", "'": "'", "\u2018": "’"}
_SUPERSEDES: Final = re.compile(
    r"\[supersedes[ \t]+(grove:[A-Za-z0-9_-]+(?:,[ \t]*grove:[A-Za-z0-9_-]+)*+)(?:[ \t].*)?\]",
    re.IGNORECASE,
)
_DURABLE_ID: Final = re.compile(r"(?:\A|[ \t])\^(tr[0-9a-f]{10})")
_DURABLE_ID_LENGTH: Final = len(" ^tr0123456789")
_SEPARATORS: Final = str.maketrans("", "", "-_ \t")
_LONGEST_NAME: Final = 40

_Member = TypeVar("_Member", bound=Enum)


class Entry(NamedTuple):
    """An entry of grove, as far as it was read; ``None`` is what the text does not say."""

    learning_id: str
    line: int = 0
    last_line: int = 0
    time: str = ""
    category: Category | None = None
    summary: str = ""
    detail: str | None = None
    tags: tuple[str, ...] | None = None
    confidence: Confidence | None = None
    ticket_id: str | None = None
    context_files: tuple[str, ...] | None = None
    scope: Scope | None = None
    supersedes: tuple[str, ...] = ()
    status: LearningStatus | None = None
    durable_id: str = ""
    is_behind: bool = False


class Mark(NamedTuple):
    """A line that says what became of an older claim."""

    line: int
    time: str
    word: str
    learning_id: str
    claim: str


def head_of(line: str) -> Entry | None:
    """Read the first line of an entry, which has its id before a colon."""
    match = _HEAD.match(line) if _ID_START in line else None
    if match is None or not is_learning_id(match[4]):
        return None
    text, durable_id = split_durable_id(match[5].strip(BLANKS))
    text, is_superseded = split_superseded(text)
    is_superseded = is_superseded or match[2] is not None
    return Entry(
        learning_id=match[4],
        time=match[1] or "",
        category=member_of(Category, (match[3] or "").rstrip(":")),
        summary=unescape(text),
        status=LearningStatus.SUPERSEDED if is_superseded else None,
        durable_id=durable_id,
    )


def promoted_of(line: str) -> Entry | None:
    """Read an item of a register that has the id of a learning behind its text."""
    if _ID_START not in line:
        return None
    text, durable_id = split_durable_id(line.strip(BLANKS))
    match = _PROMOTED.fullmatch(text)
    # A field such as `**superseded_by**: … (grove:ID)` only refers to it.
    if match is None or match[1].startswith("**") or not is_learning_id(match[2]):
        return None
    summary, is_superseded = split_superseded(match[1])
    return Entry(
        learning_id=match[2],
        summary=unescape(summary),
        status=LearningStatus.SUPERSEDED if is_superseded else None,
        durable_id=durable_id,
        is_behind=True,
    )


def mark_of(line: str, number: int) -> Mark | None:
    """Read a mark such as ``[14:50] [superseded] "quoted claim" - why``."""
    match = _MARK.match(line) if "[" in line else None
    if match is None:
        return None
    claim, rest = _split_claim(match[3])
    aimed_at = _AIMED_AT.match(rest)
    # Behind the quotation it is meant; also within it, where a whole line is quoted.
    named = [aimed_at[1]] if aimed_at else _MENTIONED.findall(claim)
    learning_id = named[0] if len(named) == 1 and is_learning_id(named[0]) else ""
    if not claim and not learning_id:
        return None
    return Mark(number, match[1] or "", match[2].lower(), learning_id, unescape(claim))


def metadata_of(line: str) -> Mapping[str, Any] | None:
    """Read the last line of an entry: segments such as ``Ticket: T-1`` with ``|`` between them."""
    if ":" not in line[:_LONGEST_NAME]:
        return None
    values: dict[str, str] = {}
    for segment in line.split("|"):
        name, found, value = segment.partition(":")
        if found:
            values.setdefault(name.strip(BLANKS).lower(), value.strip(BLANKS))
    known = values.keys() & _METADATA.keys()
    return {_METADATA[name][0]: _METADATA[name][1](values[name]) for name in known} or None


def supersedes_of(line: str) -> tuple[str, ...]:
    """Read ``[supersedes grove:ID, grove:ID]``, which may go on with a reason."""
    match = _SUPERSEDES.fullmatch(line.strip(BLANKS))
    if match is None:
        return ()
    names = [name.strip(BLANKS)[len("grove:") :] for name in match[1].split(",")]
    return tuple(name for name in names if is_learning_id(name))


def split_durable_id(text: str) -> tuple[str, str]:
    """Take off the id that Total Recall appends to one-line items."""
    start = max(len(text) - _DURABLE_ID_LENGTH, 0)
    if "^" not in text[start:]:
        return text, ""
    match = _DURABLE_ID.fullmatch(text, start)
    return (text[: match.start()].rstrip(BLANKS), match[1]) if match else (text, "")


def split_superseded(text: str) -> tuple[str, bool]:
    """Take off ``[superseded: DATE]`` at the beginning of a text."""
    match = _SUPERSEDED.match(text) if text.startswith("[") else None
    return (text[match.end() :], True) if match else (text, False)


def member_of(enum: type[_Member], text: str) -> _Member | None:
    """Find the member of an enumeration that a word names, in whatever case."""
    word = text.translate(_SEPARATORS).lower()
    by_word: Mapping[str, _Member] = {
        str(member.value).translate(_SEPARATORS): member for member in enum
    }
    return by_word.get(word)


def _split_claim(text: str) -> tuple[str, str]:
    """Take off a quotation, which ends at a quote before a dash, an id or the end of the line."""
    closing = _CLOSING_QUOTES.get(text[:1], "")
    ends = [one.start() for one in re.finditer(closing, text) if one.start()] if closing else []
    fitting = [end for end in ends if _CLAIM_ENDS.match(text, end + 1)]
    end = (fitting or ends[-1:] or [0])[0]
    return (text[1:end], text[end + 1 :]) if end else ("", text)


def _tags(text: str) -> tuple[str, ...]:
    words = text.replace(",", " ").replace("\t", " ").split(" ")
    return tuple(unescape(tag) for word in words if (tag := word.removeprefix("#")))


def _items(text: str) -> tuple[str, ...]:
    return tuple(unescape(item) for part in text.split(",") if (item := part.strip(BLANKS)))


_METADATA: Final[Mapping[str, tuple[str, Callable[[str], object]]]] = {
    "tags": ("tags", _tags),
    "confidence": ("confidence", partial(member_of, Confidence)),
    "ticket": ("ticket_id", lambda text: unescape(text) or None),
    "files": ("context_files", _items),
    "scope": ("scope", partial(member_of, Scope)),
    "status": ("status", partial(member_of, LearningStatus)),
}
