"""Merging one learning that two branches have changed."""

import re
from itertools import chain, dropwhile
from typing import Final

from grove_backend_markdown.document import Block
from grove_backend_markdown.lines import field_of, is_blank
from grove_backend_markdown.markup import join_list, split_list
from grove_backend_markdown.three_way import Lines, merge_lines, pick, put_behind
from grove_core import LearningStatus

_STRENGTH: Final = (LearningStatus.ACTIVE, LearningStatus.ARCHIVED, LearningStatus.SUPERSEDED)
_LISTS: Final = frozenset({"criteria", "tags", "files", "supersedes"})
_STATUS_WITH_NOTE: Final = re.compile(
    r"(.*:\*\*[ \t]*\w+)(?:[ \t]+\((.*)\))?[ \t]*(\r?)", re.DOTALL
)
_BETWEEN_NOTES: Final = "; "
_HEADING: Final = ""
_LOSER: Final = "> Merged from another branch: "
_REPEATED: Final = "> Merged from a second entry of this id: "


def merge_entry(base: Block | None, ours: Block, theirs: Block) -> Lines | None:
    """Merge the two sides' versions of an entry."""
    picked = pick(base and base.lines, ours.lines, theirs.lines)
    if picked is not None and picked[0] is not None:
        return picked[0]
    status = _status_line(base, ours, theirs)
    base_lines = base and _with_status(base, status)
    our_lines, their_lines = _with_status(ours, status), _with_status(theirs, status)
    picked = pick(base_lines, our_lines, their_lines)
    if picked is not None and picked[0] is not None:
        return picked[0]
    if ours.is_old or theirs.is_old:
        return None
    ours_sorted, theirs_sorted = sorted((our_lines, their_lines))
    return _merge_parts(base_lines or (), ours_sorted, theirs_sorted)


def quoted_losers(lines: Lines) -> int:
    """Count the lines of an entry that quote what had no place in a merge."""
    return sum(line.startswith(_LOSER) for line in lines)


def join_entries(first: Block, second: Block) -> Lines | None:
    """Join two entries of one id that stand in one file."""
    status = _status_line(None, first, second)
    of_first, of_second = _with_status(first, status), _with_status(second, status)
    if of_first == of_second:
        return of_first
    if first.is_old or second.is_old:
        return None
    return _merge_parts((), of_second, of_first, repeated=True)


def _status_line(base: Block | None, ours: Block, theirs: Block) -> str | None:
    """Choose the line that says the status; ``None`` where neither side has one."""
    of_base = None if base is None else _own_status(base)
    mine, other = _own_status(ours), _own_status(theirs)
    picked = None if base is None else pick(of_base, mine, other)
    if picked is not None:
        return picked[0] or mine or other
    ranked = sorted(
        (-_STRENGTH.index(side.learning.status), line or "")
        for side, line in ((ours, mine), (theirs, other))
    )
    (rank, line), (rank_of_other, line_of_other) = ranked
    if rank == rank_of_other and line and line_of_other:
        return _with_both_notes(line, line_of_other)
    return line or line_of_other or None


def _with_both_notes(line: str, other: str) -> str:
    """Say in one line why two branches have given an entry the same status."""
    found, found_in_other = _STATUS_WITH_NOTE.fullmatch(line), _STATUS_WITH_NOTE.fullmatch(other)
    if found is None or found_in_other is None:
        return line
    notes = {
        note for one in (found, found_in_other) for note in (one[2] or "").split(_BETWEEN_NOTES)
    }
    words = _BETWEEN_NOTES.join(sorted(notes - {""}))
    return f"{found[1]} ({words}){found[3]}" if words else line


def _own_status(block: Block) -> str | None:
    return None if block.status is None else block.lines[block.status]


def _with_status(block: Block, line: str | None) -> Lines:
    if line is None:
        return block.lines
    if block.status is None:
        return (block.lines[0], line, *block.lines[1:])
    return (*block.lines[: block.status], line, *block.lines[block.status + 1 :])


def _merge_parts(base: Lines, ours: Lines, theirs: Lines, *, repeated: bool = False) -> Lines:
    """Merge heading, fields and detail by themselves; ``theirs`` stays where both cannot."""
    loser = _REPEATED if repeated else _LOSER
    fields_of_base, detail_of_base = _parts(base)
    our_fields, our_detail = _parts(ours)
    their_fields, their_detail = _parts(theirs)
    merged: list[str] = []
    lost: list[str] = []
    in_order = (their_fields, our_fields) if repeated else (our_fields, their_fields)
    for name in dict.fromkeys(chain(*in_order)):
        of_base, mine, other = (
            fields.get(name) for fields in (fields_of_base, our_fields, their_fields)
        )
        lines, losing = _merge_field(name, of_base, mine, other)
        merged += lines
        lost += [f"{loser}{line}" for line in losing]
    detail = (
        put_behind(their_detail, our_detail)
        if repeated
        else merge_lines(detail_of_base, our_detail, their_detail)
    )
    line_end = "\r" if ours[0].endswith("\r") else ""
    quoted = [*detail, *([f">{line_end}"] if detail and lost else []), *lost]
    return (*merged, *([line_end] if quoted else []), *quoted)


def _parts(lines: Lines) -> tuple[dict[str, Lines], Lines]:
    """Take an entry apart into its fields by name, the heading first, and its quoted detail."""
    fields: dict[str, list[str]] = {}
    name = _HEADING
    quote = next((place for place, line in enumerate(lines) if line.startswith(">")), len(lines))
    for line in lines[:quote]:
        field = field_of(line)
        if field is not None:
            name = field[0]
        if not is_blank(line):
            fields.setdefault(name, []).append(line)
    return {key: tuple(value) for key, value in fields.items()}, lines[quote:]


def _merge_field(
    name: str, base: Lines | None, ours: Lines | None, theirs: Lines | None
) -> tuple[Lines, Lines]:
    """Merge a field; returns its lines, and those for which there is no place in it."""
    picked = pick(base, ours, theirs)
    if picked is not None:
        return picked[0] or (), ()
    if not ours or not theirs:
        return ours or theirs or (), ()
    if name in _LISTS and len(ours) == len(theirs) == 1:
        return (_merge_list(base, ours[0], theirs[0]),), ()
    losing = tuple(dropwhile(lambda line: line in theirs, ours))
    return theirs, losing


def _merge_list(base: Lines | None, ours: str, theirs: str) -> str:
    """Join two lists: what one side has added is there, what one side has removed is not."""
    known = _items(base[0]) if base else ()
    mine, other = _items(ours), _items(theirs)
    kept = [item for item in mine if item in other or item not in known]
    added = [item for item in other if item not in mine and item not in known]
    start = ours[: ours.index(":**") + 3] if ":**" in ours else ours.partition(":")[0] + ":**"
    line_end = "\r" if ours.endswith("\r") else ""
    return f"{start} {join_list([*kept, *added])}{line_end}"


def _items(line: str) -> tuple[str, ...]:
    field = field_of(line)
    return split_list(field[1]) if field else ()
