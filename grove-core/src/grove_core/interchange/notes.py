"""Notes that people and agents keep in markdown: CLAUDE.md, AGENTS.md, MEMORY.md and their like."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

from grove_core.interchange.entries import (
    Entry,
    LeftOut,
    Origin,
    Reading,
    left_out,
    read_instant,
)
from grove_core.interchange.guessing import (
    first_sentence,
    guess_category,
    guess_criteria,
    guess_files,
    guess_tags,
    plain,
)
from grove_core.interchange.markdown_text import (
    Line,
    Section,
    read_front_matter,
    sections_of,
    without_comments,
)
from grove_core.model.value import Value
from grove_core.reflection.limits import (
    DETAIL_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    SUMMARY_LENGTH_MIN,
)
from grove_core.reflection.sanitise import close_fences
from grove_core.text import one_line, shorten

_BULLET: Final = re.compile(r"(?P<indent> {0,3})(?:[-*+]|\d{1,3}[.)])[ \t]+(?P<text>.*)")
_TASK_MARK: Final = re.compile(r"\[[ xX]\][ \t]+")
_CODE: Final = re.compile(r"`[^`]*`")
# Thai, kana and Chinese characters stand without spaces: two of them count as a word.
_WORDS: Final = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{2}|[^\W\d_]{2,}"
)
_FENCES: Final = re.compile(r"`{3,}|~{3,}")
_IMPORT: Final = re.compile(r"\s*@\S+\s*")
_REASONS: Final = {
    # The client's list of memories: a link to the file, then what it is about.
    re.compile(
        r"\[[^\[\]]*\]\([^()/]*\.md\)(?:\s*[-\u2013\u2014:].*)?", re.DOTALL
    ): "a link to another file; import that file",
    re.compile(r"[-*_=\s]*"): "no words",
    re.compile(r"\|.*", re.DOTALL): "a table",
    re.compile(r"(?!.*\n\s*\n).*:", re.DOTALL): "a line that introduces what follows",
}
_WORDS_MIN: Final = 5
_DESCRIPTIONS: Final = ("description", "summary", "title")
_SPARE_TAG: Final = "notes"
_UNREAD: Final = "its front matter cannot be read:"
_NO_FRONT_MATTER: Final = "where it is none, take the line --- above it away"


@frozen(kw_only=True, eq=False, repr=False)
class _Item(Value):
    """A bullet with what is nested in it, or what else stands below a heading."""

    line: int
    text: str
    is_code: bool = False


def read_notes(text: str, origin: Origin) -> Reading:
    """Read a file of notes."""
    lines = without_comments(text).split("\n")
    front = read_front_matter(lines)
    if front.problem:
        # Without its description, a memory would fall into pieces that nobody could put together.
        fault = f"{_UNREAD} {front.problem}; {_NO_FRONT_MATTER}"
        return Reading(left_out=(left_out(1, origin.name, fault, is_fault=True),))
    about = next((one for name in _DESCRIPTIONS if (one := front.values.get(name))), None)
    body = "\n".join(lines[front.start - 1 :]).strip()
    if isinstance(about, str) and about.strip() and body:
        written = read_instant(front.values.get("date") or front.values.get("created"))
        return _one_memory(about, body, origin, front.start, written)
    entries: list[Entry] = []
    out: list[LeftOut] = []
    for section in sections_of(lines, front.start):
        for item in _items(section.lines):
            reason = _why_not(item)
            if reason is not None:
                out.append(left_out(item.line, item.text, reason))
            else:
                entries.append(_entry(item, section, origin))
    return Reading(entries=tuple(entries), left_out=tuple(out))


def _one_memory(about: str, body: str, origin: Origin, line: int, written: object) -> Reading:
    """Read a file that says at its top what it is about."""
    summary = shorten(one_line(plain(about)), SUMMARY_LENGTH_MAX)
    detail, notes = _bounded(body, origin)
    fields = _fields(summary, detail, [about, body])
    return Reading(
        entries=(Entry(line=line, fields=fields, timestamp=read_instant(written), notes=notes),)
    )


def _items(lines: Sequence[Line]) -> Iterator[_Item]:
    """Take the bullets of a section, and what stands between them."""
    prose: list[Line] = []
    bullet: list[Line] = []
    width = 0
    for line in lines:
        start = None if line.is_code else _BULLET.fullmatch(line.text)
        if start is not None and (not bullet or len(start["indent"]) < width):
            yield from _prose_of(prose)
            if bullet:
                yield _bullet_of(bullet)
            prose = []
            bullet, width = [line], line.text.index(start["text"], len(start["indent"]) + 1)
            width = max(width, 1)
        elif bullet and _belongs(line, bullet, width):
            bullet.append(line)
        else:
            if bullet:
                yield _bullet_of(bullet)
                bullet = []
            prose.append(line)
    if bullet:
        yield _bullet_of(bullet)
    yield from _prose_of(prose)


def _belongs(line: Line, bullet: Sequence[Line], width: int) -> bool:
    """Return whether a line belongs to a bullet: nested, or going on with its paragraph."""
    indent = len(line.text) - len(line.text.lstrip(" \t"))
    if not line.text.strip() or indent >= min(width, 2):
        return True
    return bool(bullet[-1].text.strip()) and not bullet[-1].is_code


def _bullet_of(lines: Sequence[Line]) -> _Item:
    match = _BULLET.fullmatch(lines[0].text)
    first = _TASK_MARK.sub("", match["text"], count=1) if match else lines[0].text
    rest = [line.text for line in lines[1:]]
    indent = min((len(one) - len(one.lstrip()) for one in rest if one.strip()), default=0)
    text = "\n".join([first, *(one[indent:] if one.strip() else "" for one in rest)]).strip()
    return _Item(line=lines[0].number, text=text)


def _prose_of(lines: Sequence[Line]) -> Iterator[_Item]:
    for piece in _pieces([line for line in lines if not _IMPORT.fullmatch(line.text)]):
        text = "\n".join(line.text for line in piece).strip()
        number = next(line.number for line in piece if line.text.strip())
        is_code = all(line.is_code for line in piece if line.text.strip())
        yield _Item(line=number, text=text, is_code=is_code)


def _pieces(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Divide at tables, and behind code that no word comes before."""
    piece: list[Line] = []
    of = ""
    for line in lines:
        if not line.text.strip():
            piece.append(line)
            continue
        is_table = line.text.lstrip().startswith("|")
        kind = "code" if line.is_code else "table" if is_table else "words"
        last = next((one.text for one in reversed(piece) if one.text.strip()), "")
        is_introduced = kind == "table" and last.rstrip().endswith(":")
        if of and kind != of and not (of == "words" and (kind == "code" or is_introduced)):
            yield piece
            piece = []
        piece.append(line)
        of = "words" if of == "words" and kind == "code" else kind
    if of:
        yield piece


def _why_not(item: _Item) -> str | None:
    if item.is_code:
        return "code without a word of explanation"
    for pattern, reason in _REASONS.items():
        if pattern.fullmatch(item.text):
            return reason
    # What stands in code marks says one thing, however many words it has.
    if len(_WORDS.findall(_CODE.sub("code", plain(item.text)))) < _WORDS_MIN:
        return f"fewer than {_WORDS_MIN} words"
    return None


def _entry(item: _Item, section: Section, origin: Origin) -> Entry:
    above = [plain(one) for one in section.headings]
    summary = first_sentence(item.text)
    nearest = above[-1] if above else ""
    if len(summary) < SUMMARY_LENGTH_MIN or (nearest and len(summary.split()) < _WORDS_MIN):
        summary = shorten(": ".join(filter(None, [nearest, summary])), SUMMARY_LENGTH_MAX)
    place = " > ".join(above)
    context = f"From {origin.name}, {place}:" if place else f"From {origin.name}:"
    detail, notes = _bounded(f"{context}\n\n{item.text}", origin)
    # The title of the whole file says less about a piece of it than the headings below do.
    titles = above[:0:-1] or above
    fields = _fields(summary, detail, [*titles, item.text])
    return Entry(line=item.line, fields=fields, notes=notes)


def _fields(summary: str, detail: str, telling: Sequence[str]) -> dict[str, object]:
    return {
        "category": guess_category(*telling).value,
        "summary": summary,
        "detail": detail,
        "criteria_met": guess_criteria(telling[-1]),
        "tags": guess_tags([*telling[:-1], summary], _SPARE_TAG),
        "context_files": guess_files(detail),
    }


def _bounded(detail: str, origin: Origin) -> tuple[str, tuple[str, ...]]:
    if len(detail) <= DETAIL_LENGTH_MAX:
        return detail, ()
    end = f"\n\nThe rest is in {origin.path or origin.name}."
    fences = _FENCES.findall(detail, 0, DETAIL_LENGTH_MAX)
    longest = max(map(len, fences), default=0)
    cut = shorten(detail, DETAIL_LENGTH_MAX - len(end) - len("\n") - longest)
    return close_fences(cut) + end, ("detail: shortened",)
