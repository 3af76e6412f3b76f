"""From the text of a file to the entries in it, and to what cannot be read."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from grove_backend_markdown.conflicts import split_sides
from grove_backend_markdown.fields import NAMES, learning_of, shown
from grove_backend_markdown.lines import (
    Field,
    Section,
    field_of,
    heading_of,
    is_blank,
    is_field,
    read_quote,
)
from grove_backend_markdown.markup import BLANKS, unescape
from grove_backend_markdown.old_layout import read_old_section
from grove_core import Learning, is_learning_id

_OUR_IDS: Final = "cl_"
_FENCES: Final = ("```", "~~~")
_LIST_LINES: Final = ("- ", "* ", "+ ", " ", "\t")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Entry(NamedTuple):
    """A learning and where it stands."""

    learning: Learning
    first_line: int
    last_line: int
    status_line: int | None
    is_old: bool


class Problem(NamedTuple):
    """Something that cannot be read."""

    line: int
    message: str


class Reading(NamedTuple):
    """What a file holds."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
    ends_whole: bool = True
    """Whether an entry that is added at the end changes nothing of what was read before it."""

    def find(self, learning_id: str) -> Entry | None:
        """Find the entry of an id, which is compared exactly."""
        return next((entry for entry in self.entries if entry.learning.id == learning_id), None)


def read_entries(text: str) -> Reading:
    """Read a whole file."""
    problems: list[Problem] = []
    lines = _decoded(text, problems).split("\n")
    lines[0] = lines[0].removeprefix("\ufeff")
    sides = split_sides(text, lines)
    problems += [
        Problem(position + 1, "a conflict marker of git; both sides are read, resolve it")
        for position in sides.markers
    ]
    entries: dict[str, Entry] = {}
    ends_whole = not sides.markers
    for positions in (sides.ours, sides.theirs):
        whole = len(positions) == len(lines)
        side = _Side(lines if whole else [lines[position] for position in positions], positions)
        side.read()
        ends_whole = ends_whole and side.ends_whole
        problems += side.problems
        for entry in side.entries:
            first = entries.setdefault(entry.learning.id, entry)
            if first.first_line != entry.first_line:
                message = f"{entry.learning.id} stands in line {first.first_line} already"
                problems.append(Problem(entry.first_line, f"{message}; the first one counts"))
    return Reading(
        tuple(sorted(entries.values(), key=lambda entry: entry.first_line)),
        tuple(sorted(set(problems))),
        ends_whole,
    )


def _decoded(text: str, problems: list[Problem]) -> str:
    if text.isascii() or not _SURROGATE.search(text):
        return text
    problems += [
        Problem(position + 1, "bytes that are no UTF-8")
        for position, line in enumerate(text.split("\n"))
        if _SURROGATE.search(line)
    ]
    return _SURROGATE.sub("\ufffd", text)


class _Side:
    """Goes through a file's lines, or through one side of its conflicts, once."""

    def __init__(self, lines: Sequence[str], positions: Sequence[int]) -> None:
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []
        self._lines = lines
        self._positions = positions
        self._open_fences: set[str] = set()
        self._has_old = False

    @property
    def ends_whole(self) -> bool:
        """Whether no fence may be closed yet, and no older entry may end at a later rule."""
        return not self._open_fences and not self._has_old

    def read(self) -> None:
        """Read everything."""
        position = 0
        while position < len(self._lines):
            line = self._lines[position]
            if not line:
                position += 1
            elif line.startswith("#"):
                position = self._read_heading(position)
            elif line.startswith(_FENCES):
                position = self._skip_fence(position)
            elif line.startswith("- **") and is_field(line, NAMES):
                position = self._skip_stray_fields(position)
            else:
                position += 1

    def _report(self, position: int, message: str) -> None:
        self.problems.append(Problem(self._number(position), message))

    def _number(self, position: int) -> int:
        return self._positions[position] + 1

    def _read_heading(self, position: int) -> int:
        old = read_old_section(self._lines, position)
        if old is not None:
            return self._add_old(position, old)
        heading = heading_of(self._lines[position])
        if heading is None:
            return position + 1
        section = read_section(self._lines, position, *heading)
        return self._add_current(position, section)

    def _add_old(self, position: int, section: Section) -> int:
        self._has_old = True
        if section.summary:
            self._add(position, section)
        else:
            self._report(position, f"the entry {section.learning_id} has no summary")
        return section.end

    def _add_current(self, position: int, section: Section) -> int:
        has_fields = not NAMES.isdisjoint(section.fields)
        is_ours = section.learning_id.startswith(_OUR_IDS)
        if not has_fields and not is_ours:
            return position + 1
        if not is_learning_id(section.learning_id):
            self._report(position, f"{shown(section.learning_id)} is no id of a learning")
        elif not has_fields and section.detail is None:
            self._report(position, "a heading with an id, but no fields and no detail")
        else:
            self._add(position, section)
        return section.end

    def _add(self, position: int, section: Section) -> None:
        for name, place in section.repeated:
            self._report(place, f"{name} stands there twice; the first one counts")
        if not section.summary:
            self._report(position, f"the entry {section.learning_id} has no summary")
        if section.detail is None:
            self._report(position, f"the entry {section.learning_id} has no detail")
        status = section.fields.get("status")
        self.entries.append(
            Entry(
                learning=learning_of(section, position, self._report),
                first_line=self._number(position),
                last_line=self._number(section.end - 1),
                status_line=self._number(status.position) if status else None,
                is_old=section.is_old,
            )
        )

    def _skip_stray_fields(self, position: int) -> int:
        self._report(position, "fields of an entry without a heading that can be read")
        while position < len(self._lines) and field_of(self._lines[position]):
            position += 1
        return position

    def _skip_fence(self, position: int) -> int:
        """Skip a code block in prose; one that is never closed hides nothing."""
        opening = self._lines[position]
        fence = opening[: len(opening) - len(opening.lstrip(opening[0]))]
        if fence in self._open_fences:
            return position + 1
        for end in range(position + 1, len(self._lines)):
            line = self._lines[end].strip(BLANKS)
            if line.startswith(fence) and not line.strip(fence[0]):
                self._name_hidden(position + 1, end)
                return end + 1
        self._open_fences.add(fence)
        return position + 1

    def _name_hidden(self, start: int, end: int) -> None:
        for position in range(start, end):
            heading = heading_of(self._lines[position])
            if heading and heading[0].startswith(_OUR_IDS):
                self._report(position, "an entry inside a code block is not read")


def read_section(lines: Sequence[str], position: int, learning_id: str, summary: str) -> Section:
    """Read the fields and the quoted detail below a heading."""
    fields: dict[str, Field] = {}
    repeated: list[tuple[str, int]] = []
    detail: str | None = None
    end = place = position + 1
    while place < len(lines):
        line = lines[place]
        if line.startswith(">"):
            detail, end = read_quote(lines, place, ends_in_cr=lines[position].endswith("\r"))
            break
        if field := field_of(line):
            name, value = field
            if name in fields:
                repeated.append((name, place))
            else:
                fields[name] = Field(place, value)
            end = place + 1
        elif not is_blank(line) and not line.startswith(_LIST_LINES):
            break
        place += 1
    return Section(learning_id, unescape(summary), fields, repeated, detail, end)
