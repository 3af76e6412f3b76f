"""From the text of Total Recall's files to grove's entries, foreign notes and marks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from grove_backend_totalrecall.lines import (
    Entry,
    Mark,
    head_of,
    mark_of,
    metadata_of,
    promoted_of,
    supersedes_of,
)
from grove_backend_totalrecall.markup import (
    find_blocks,
    heading_of,
    is_blank,
    split_lines,
    unescape,
)
from grove_backend_totalrecall.notes import Note, NoteReader
from grove_core import LearningStatus

_METADATA_STARTS: Final = ("tags:", "confidence:")
_HEAD_STARTS: Final = ("[", "-", "*", "(")


class Reading(NamedTuple):
    """What a file holds, each kind in the order of lines."""

    entries: tuple[Entry, ...]
    notes: tuple[Note, ...]
    marks: tuple[Mark, ...]


class _Body(NamedTuple):
    quoted: Sequence[str]
    metadata: Mapping[str, Any]
    end: int


def read_log(content: bytes | str, *, daily: bool) -> Reading:
    """Read a file of Total Recall."""
    text = content if isinstance(content, str) else content.decode("utf-8", "surrogateescape")
    walk = _Walk(text, daily=daily)
    walk.read()
    return Reading(tuple(walk.entries), tuple(walk.notes.notes), tuple(walk.marks))


class _Walk:
    """Goes through the lines of a file once."""

    def __init__(self, text: str, *, daily: bool) -> None:
        self.entries: list[Entry] = []
        self.marks: list[Mark] = []
        self.notes = NoteReader(daily=daily)
        self._daily = daily
        self._lines = split_lines(text)
        self._hidden = find_blocks(text, self._lines).hidden
        self._superseded_level = 0  # of the heading that says so; 0 when there is none

    def read(self) -> None:
        position = 0
        count = len(self._lines)
        while position < count:
            line = self._lines[position]
            if not line:
                self.notes.pass_blank()
            elif self._hidden[position]:
                self.notes.close()
            elif line.startswith("#"):
                self._read_heading(line)
            elif line.startswith(_HEAD_STARTS):
                position = self._read_item(position)
                continue
            elif is_blank(line):
                self.notes.pass_blank()
            else:
                self.notes.take(line, position + 1)
            position += 1
        self.notes.close()

    def _read_heading(self, line: str) -> None:
        heading = heading_of(line)
        if heading is None:
            self.notes.close()
            return
        if heading.text.lower().startswith("[superseded") and heading.level > 1:
            self._superseded_level = heading.level
        elif heading.level <= self._superseded_level:
            self._superseded_level = 0
        self.notes.enter(heading.text, is_superseded=bool(self._superseded_level))

    def _read_item(self, position: int) -> int:
        """Read an entry, a mark or a note; return the index of the line after it."""
        line = self._lines[position]
        head = head_of(line)
        if head is not None:
            self.notes.close()
            body = self._read_body(position + 1)
            self._add_entry(head, body, position)
            return body.end
        mark = mark_of(line, position + 1)
        promoted = None if self._daily or mark is not None else promoted_of(line)
        if mark is not None:
            self.notes.close()
            self.marks.append(mark)
        else:
            self.notes.take(line, position + 1)
        if promoted is not None:
            self._add_entry(promoted, _Body((), {}, position + 1), position)
        return position + 1

    def _add_entry(self, head: Entry, body: _Body, position: int) -> None:
        quoted = body.quoted
        supersedes = supersedes_of(quoted[0]) if quoted else ()
        if supersedes:
            quoted = quoted[1:]
        entry = head._replace(
            line=position + 1,
            last_line=body.end,
            detail=unescape("\n".join(quoted)) if quoted else None,
            supersedes=supersedes,
            **body.metadata,
        )
        if head.status is not None or self._superseded_level > 0:
            entry = entry._replace(status=LearningStatus.SUPERSEDED)
        self.entries.append(entry)

    def _read_body(self, start: int) -> _Body:
        """Read quoted lines and the metadata."""
        quoted: list[str] = []
        blanks = 0
        right_below = 0
        for position in range(start, len(self._lines)):
            line = self._lines[position]
            if self._hidden[position]:
                break
            if line.startswith(">"):
                quoted += [""] * blanks if quoted else []
                quoted.append(line[2:] if line[1:2] == " " else line[1:])
                blanks = 0
                right_below += position == start + right_below
            elif is_blank(line):
                blanks += 1
            else:
                metadata = metadata_of(line)
                # One without quoted text goes on right below, with what it has as a rule.
                is_near = blanks <= 1 and line.lstrip().lower().startswith(_METADATA_STARTS)
                if metadata is not None and (quoted or is_near):
                    return _Body(quoted, metadata, position + 1)
                break
        return _Body(quoted[:right_below], {}, start + right_below)
