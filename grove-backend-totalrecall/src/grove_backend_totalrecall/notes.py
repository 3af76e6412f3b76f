"""Foreign notes: what Total Recall, a model or a person wrote without an id of grove."""

import re
from typing import Final, NamedTuple

from grove_backend_totalrecall.lines import member_of, split_durable_id, split_superseded
from grove_backend_totalrecall.markup import BLANKS
from grove_core import Confidence

_ITEM: Final = re.compile(
    r"([ \t]*+)([-*+][ \t]++)?(?:\[([0-9]{1,2}:[0-9]{2})\][ \t]*+|(?=\[session-flush\]))?(.*)"
)
_CHECKBOX: Final = re.compile(r"\A\[[ xX]\][ \t]++")
_BOLD: Final = "**"
_FIELD: Final = re.compile(r"\*\*([^*:]{1,40}):?\*\*[ \t]*+:?(.*)")
_FIELD_NAME: Final = re.compile(r"[a-z][a-z0-9_]*+")
_CONFIDENCE: Final = re.compile(r"\*\*confidence:?\*\*[ \t]*+:?[ \t]*+([a-z]++)", re.IGNORECASE)
_STATUS: Final = re.compile(r"\*\*status:?\*\*[ \t]*+:?[ \t]*+superseded", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(r"\[[^\]]*+\]")

# Fields of Total Recall's registers: those that say something, the most telling first, and those
# that are about what is said.
_TELLING: Final = tuple(
    "claim choice goal role preferences contact context rationale alternatives outcome constraints"
    " key_decisions blockers timeline".split()
)
_ABOUT: Final = frozenset(
    "confidence evidence last_verified last_interaction last_reviewed status superseded_by"
    " original_date reason source".split()
)


class Note(NamedTuple):
    """A foreign note."""

    line: int
    time: str
    text: str
    detail: str
    section: str
    durable_id: str
    confidence: Confidence | None
    is_superseded: bool


class _Block:
    """A note while its lines are read."""

    def __init__(self, number: int, time: str, fields: dict[str, str] | None = None) -> None:
        self.number = number
        self.time = time
        self.fields = fields
        self.is_interrupted = False
        self.is_superseded = False
        self.durable_id = ""
        self.lines: list[str] = []

    def add(self, text: str) -> None:
        text, durable_id = split_durable_id(text.strip(BLANKS))
        text, is_superseded = split_superseded(text)
        self.durable_id = self.durable_id or durable_id
        self.is_superseded = self.is_superseded or is_superseded
        self.lines.append(text)

    def note(self, section: str, *, is_superseded: bool) -> Note | None:
        everything = "\n".join(self.lines)
        text, detail = self._text_and_detail(everything)
        if not text.strip("-*_ \t") or _PLACEHOLDER.fullmatch(text):
            return None
        has_fields = _BOLD in everything
        confidence = _CONFIDENCE.search(everything) if has_fields else None
        return Note(
            line=self.number,
            time=self.time,
            text=text,
            detail=detail,
            section=section,
            durable_id=self.durable_id,
            confidence=member_of(Confidence, confidence[1]) if confidence else None,
            is_superseded=is_superseded
            or self.is_superseded
            or (has_fields and _STATUS.search(everything) is not None),
        )

    def _text_and_detail(self, everything: str) -> tuple[str, str]:
        if self.fields is None:
            return self.lines[0], "\n".join(self.lines[1:])
        names = [*_TELLING, *(name for name in self.fields if name not in _ABOUT)]
        text = next((self.fields[name] for name in names if self.fields.get(name)), "")
        return text, everything


class NoteReader:
    """Collects notes from the lines that are left when entries and marks are taken out."""

    def __init__(self, *, daily: bool) -> None:
        self.notes: list[Note] = []
        self._daily = daily
        self._section = ""
        self._is_superseded = False
        self._block: _Block | None = None

    def enter(self, section: str, *, is_superseded: bool) -> None:
        """Go on below a heading."""
        self.close()
        self._section = section
        self._is_superseded = is_superseded

    def close(self) -> None:
        """End the note that is being read, if there is one."""
        note = self._block and self._block.note(self._section, is_superseded=self._is_superseded)
        if note:
            self.notes.append(note)
        self._block = None

    def pass_blank(self) -> None:
        """Take notice of a blank line."""
        if self._block and self._block.fields is not None:
            self._block.is_interrupted = True
        else:
            self.close()

    def take(self, line: str, number: int) -> None:
        """Read a line that is not blank and nothing of grove's."""
        if self._section.lower() == "total recall settings":
            return
        item = _ITEM.match(line)
        assert item is not None, "it matches any line"
        indent, bullet, time, text = item.groups(default="")
        is_item = bullet or time or line.startswith("[session-flush]")
        if not is_item or (indent and self._block and self._block.fields is None):
            self._continue(line)
        elif bullet:
            self._take_bullet(_CHECKBOX.sub("", text), time, number)
        else:
            self._begin(text, time, number)

    def _continue(self, line: str) -> None:
        if line.startswith("|") or (self._block and self._block.is_interrupted):
            self.close()
        elif self._block:
            self._block.add(line)

    def _begin(
        self, text: str, time: str, number: int, fields: dict[str, str] | None = None
    ) -> None:
        self.close()
        if not text.startswith("Compaction occurred"):
            self._block = _Block(number, time, fields)
            self._block.add(text)

    def _take_bullet(self, text: str, time: str, number: int) -> None:
        match = _FIELD.match(text)
        name = match[1].strip(BLANKS) if match else ""
        known, block = name.lower().replace(" ", "_"), self._block
        is_known = known in _TELLING or known in _ABOUT
        if match is None or not (is_known or (not self._daily and _FIELD_NAME.fullmatch(name))):
            self._begin(text, time, number)
            return
        value, _ = split_durable_id(match[2].strip(BLANKS))
        if block and block.fields is None and known in _ABOUT:
            block.add(text)
        elif block and block.fields is not None and known not in block.fields:
            block.fields[known] = value
            block.is_interrupted = False
            block.add(text)
        else:
            self._begin(text, time, number, {known: value})
