"""Telling apart two entries whose lines ``merge=union`` has mixed."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from grove_backend_markdown.lines import (
    FIELDS,
    field_of,
    heading_of,
    is_blank,
    next_visible,
    read_quote,
)
from grove_core import is_learning_id

_ORDER: Final = (
    "category scope confidence status criteria tags files supersedes origin created".split()
)
# Every entry that grove writes has these.
_ALWAYS: Final = frozenset(_ORDER) - {"files", "supersedes"}
_TWO: Final = 2


class _Tangle(NamedTuple):
    """Lines in which two entries are mixed."""

    start: int
    end: int
    headings: tuple[int, ...]
    fields: tuple[int, ...]
    quoted: tuple[int, ...]
    rest: "_Tangle | None" = None


def untangle(text: str, mended: list[str], left: list[str]) -> str:
    """Tell mixed entries apart."""
    lines = text.split("\n")
    result: list[str] = []
    position = 0
    for tangle in _tangles(lines):
        result += lines[position : tangle.start]
        position = tangle.end
        named = " and ".join(_id_of(lines[place]) for place in tangle.headings)
        if len(tangle.headings) > _TWO:
            left.append(f"{named} are mixed, more than two")
            result += lines[tangle.start : tangle.end]
            continue
        notes: list[str] = []
        one, other = _told_apart(lines, tangle, notes)
        between = lines[tangle.end : tangle.rest.start] if tangle.rest else []
        if any(_is_heading(line) for line in between):
            notes.append("they stand around other entries: compare them with your history")
        if not between or not is_blank(between[-1]):
            between.append(_line_end(lines[0]))
        result += [*one, *between, *other]
        position = tangle.rest.end if tangle.rest else tangle.end
        mended.append(f"{named} were mixed and are told apart")
        # No line numbers: those of this text are neither the old file's nor the mended one's.
        left += [f"{named}: {note}" for note in notes]
    return "\n".join([*result, *lines[position:]])


def _id_of(line: str) -> str:
    heading = heading_of(line)
    return heading[0] if heading else ""


def _is_heading(line: str) -> bool:
    return line.startswith("### [") and is_learning_id(_id_of(line))


def _tangles(lines: Sequence[str]) -> Iterator[_Tangle]:
    position = 0
    while position < len(lines):
        if not _is_heading(lines[position]):
            position += 1
            continue
        tangle = _read(lines, position)
        position = tangle.end
        if len(tangle.headings) > 1 and tangle.fields:
            rest = _find_rest(lines, position) if tangle.quoted else None
            yield tangle._replace(rest=rest)
            position = rest.end if rest else position


def _read(lines: Sequence[str], start: int) -> _Tangle:
    """Read from a heading to the end of the detail that comes first."""
    headings: list[int] = []
    fields: list[int] = []
    end = place = start
    while place < len(lines):
        line = lines[place]
        if line.startswith(">"):
            end = read_quote(lines, place, ends_in_cr=False)[1]
            break
        field = field_of(line)
        if _is_heading(line):
            headings.append(place)
        elif field is not None and field[0] in FIELDS:
            fields.append(place)
        elif not is_blank(line) or (len(headings) == 1 and _is_last(lines, place)):
            break
        place += 1
        end = place if not is_blank(line) else end
    quoted = tuple(range(place, end)) if place < end else ()
    return _Tangle(start, end, tuple(headings), tuple(fields), quoted)


def _find_rest(lines: Sequence[str], position: int) -> _Tangle | None:
    """Find fields without a heading behind a detail, and the detail that follows them."""
    place = next_visible(lines, position)
    while place < len(lines) and _is_heading(lines[place]):
        entry = _read(lines, place)
        if len(entry.headings) > 1 or not entry.quoted:
            return None
        place = next_visible(lines, entry.end)
    rest = _read(lines, place)
    return rest if rest.fields and not rest.headings else None


def _is_last(lines: Sequence[str], place: int) -> bool:
    """Return whether an entry without a detail ends at a blank line, where another one begins."""
    following = next_visible(lines, place)
    return following < len(lines) and _is_heading(lines[following])


def _told_apart(
    lines: Sequence[str], tangle: _Tangle, notes: list[str]
) -> tuple[list[str], list[str]]:
    entries = []
    fields = _fields_of_each(lines, tangle, notes)
    details = _details(lines, tangle, notes)
    for heading, places, detail in zip(tangle.headings, fields, details, strict=True):
        entry = [lines[heading], *(lines[place] for place in sorted(places))]
        entries.append([*entry, _line_end(lines[heading]), *detail] if detail else entry)
    return entries[0], entries[1]


def _line_end(line: str) -> str:
    return "\r" if line.endswith("\r") else ""


def _fields_of_each(
    lines: Sequence[str], tangle: _Tangle, notes: list[str]
) -> tuple[list[int], list[int]]:
    first: list[int] = []
    second: list[int] = []
    places: dict[str, list[int]] = {}
    for place in (*tangle.fields, *(tangle.rest.fields if tangle.rest else ())):
        field = field_of(lines[place])
        places.setdefault(field[0] if field else "", []).append(place)
    for name, found in places.items():
        if len(found) > 1:
            first.append(found[0])
            second += found[1:]
            continue
        owner = _owner(name, found[0], tangle, places)
        first += [] if owner == 1 else found
        second += [] if owner == 0 else found
        if owner is None and name not in _ALWAYS and tangle.rest is None:
            notes.append(f"{name}: both entries have it now, one of them may not have had it")
    return first, second


def _owner(name: str, place: int, tangle: _Tangle, places: dict[str, list[int]]) -> int | None:
    """Return which entry a field belongs to that stands there once; ``None`` for both."""
    if place < tangle.headings[1]:
        return 0
    if tangle.rest is not None:
        begin = tangle.rest.fields[0]
        starts_with = _ORDER.index(_name_at(begin, places) or _ORDER[0])
        if place >= begin:
            return 1
        return 0 if _ORDER.index(name) >= starts_with else None
    return None if name in _ALWAYS else _owner_in_run(place, places)


def _owner_in_run(place: int, places: dict[str, list[int]]) -> int | None:
    """Return which entry a field belongs to that stands there once."""
    rank = _rank_at(place, places)
    before = _neighbour(place, -1, places)
    after = _neighbour(place, 1, places)
    if before is not None and (before[0] == 1 or before[1] > rank):
        return 1
    if after is not None and (after[0] == 0 or after[1] < rank):
        return 0
    return None


def _neighbour(place: int, step: int, places: dict[str, list[int]]) -> tuple[int, int] | None:
    """Find the next line of the same run that both entries have in versions of their own."""
    place += step
    while (name := _name_at(place, places)) is not None:
        if len(places[name]) > 1:
            return min(places[name].index(place), 1), _ORDER.index(name)
        if name in _ALWAYS:
            return None
        place += step
    return None


def _name_at(place: int, places: dict[str, list[int]]) -> str | None:
    return next((name for name, found in places.items() if place in found), None)


def _rank_at(place: int, places: dict[str, list[int]]) -> int:
    return _ORDER.index(_name_at(place, places) or _ORDER[-1])


def _details(
    lines: Sequence[str], tangle: _Tangle, notes: list[str]
) -> tuple[list[str], list[str]]:
    quoted = [lines[place] for place in tangle.quoted]
    if tangle.rest is not None:
        return quoted, [lines[place] for place in tangle.rest.quoted]
    if len(quoted) == _TWO:
        return quoted[:1], quoted[1:]
    if len(quoted) > _TWO:
        notes.append("the details are mixed line by line: both entries hold all lines now")
    return quoted, quoted
