"""Markdown documents such as ``docs/solutions/*.md``: each is one learning, never cut to pieces."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from grove_core.interchange.entries import (
    Entry,
    Origin,
    Reading,
    left_out,
    read_instant,
    tags_from,
)
from grove_core.model.learning import (
    DETAIL_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    TAGS_MAX,
    Category,
    Criterion,
)
from grove_core.reflection.candidates import close_fences
from grove_core.text import one_line, shorten

_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_BULLET: Final = re.compile(r" {0,3}(?:[-*+]|\d{1,3}[.)])[ \t]+")
_COMMENT: Final = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_MARKUP: Final = re.compile(
    r"\[([^\[\]]+)\]\([^()\s]*\)|(?<![\w*])(?:\*\*|__)(?=\S)(.+?)(?<=\S)(?:\*\*|__)"
)
_PATH: Final = re.compile(r"`((?:[\w.@-]+/)+[\w.@-]+\.\w{1,8})(?::\d+)?`")
_LONGEST_FRONT_MATTER: Final = 400
_LEAST_ROOM: Final = 60
_MOST_FILES: Final = 10
_TITLES: Final = ("title", "description", "summary", "name")
_DATES: Final = ("date", "created", "last_updated")
_INDEXES: Final = frozenset({"readme.md", "index.md", "memory.md"})
# What a digest keeps first: what to do, then why, then what happened.
_ORDER: Final = (
    ("solution", "fix", "resolution", "working solution", "guidance", "guideline"),
    ("prevention", "preventing", "how to prevent", "lesson", "when to apply"),
    ("root cause", "cause", "technical cause", "analysis", "why", "rationale"),
    ("problem", "incident", "context", "issue", "summary", "overview", "symptom", "what happened"),
)
# By what a type or folder is called, the more telling words first.
_CATEGORIES: Final = (
    (Category.DEBUGGING, r"build|runtime|test"),
    (Category.DEPENDENCY, r"dependenc|tooling"),
    (Category.PROCESS, r"workflow|process|experience|documentation"),
    (Category.PITFALL, r"issue|error|bug|failure"),
    (Category.PATTERN, r"pattern|practice|design|architecture"),
)


class _Section(NamedTuple):
    """A heading and the text below it, up to the next one."""

    title: str
    text: str

    @property
    def rank(self) -> int:
        """How soon a digest keeps it."""
        words = re.sub(r"^[\d.)\s]+", "", _plain(self.title)).strip().lower()
        found = (at for at, starts in enumerate(_ORDER) if words.startswith(starts))
        return next(found, len(_ORDER))


def read_document(text: str, origin: Origin) -> Reading:
    """Read a document: YAML front matter by PyYAML, a title, the text."""
    values, body, problem = _front_matter(text)
    body = _COMMENT.sub("", body).strip()
    sections = _sections(body)
    title = next((one for name in _TITLES if (one := _text(values.get(name)))), "")
    title = title or next((one.title for one in sections if one.title), "")
    if not values and not problem and (reason := _why_no_lesson(body, origin)):
        return Reading(left_out=(left_out(1, origin.name, reason),))
    if not title or not body:
        reason = "it has no title; give it one" if body else "it has no text below its title"
        return Reading(left_out=(left_out(1, origin.name, reason, is_fault=True),))
    return Reading(entries=(_entry(title, values, sections, origin, problem),))


def _front_matter(text: str) -> tuple[dict[str, Any], str, str]:
    """Return the values, the text below them, and what is wrong with them."""
    lines = text.split("\n")
    reach = enumerate(lines[1 : _LONGEST_FRONT_MATTER + 1], 1)
    end = next((at for at, line in reach if line.rstrip() in ("---", "...")), None)
    if lines[0].strip() != "---" or end is None:
        return {}, text, ""
    import yaml

    body = "\n".join(lines[end + 1 :])
    try:
        # The loader that makes texts of everything: neither dates nor objects, and `no` stays `no`.
        values = yaml.load("\n".join(lines[1:end]), yaml.BaseLoader)  # noqa: S506 - safe as well
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or type(error).__name__
        place = f"line {mark.line + 2}: " if mark else ""
        return (
            {},
            body,
            f"its front matter cannot be read ({place}{said}); its headings count alone",
        )
    return values if isinstance(values, dict) else {}, body, ""


def _why_no_lesson(body: str, origin: Origin) -> str:
    if origin.name.lower() in _INDEXES:
        return "a list of documents"
    lines = [line for line in body.split("\n") if line.strip() and not _HEADING.fullmatch(line)]
    rules = sum(bool(_BULLET.match(line)) or line.startswith((" ", "\t")) for line in lines)
    if lines and rules * 2 > len(lines) and "```" not in body:
        return "a list of rules that always hold: leave it where the agent reads it"
    return ""


def _entry(
    title: str,
    values: Mapping[str, Any],
    sections: Sequence[_Section],
    origin: Origin,
    problem: str,
) -> Entry:
    notes = [problem] if problem else []
    detail, is_whole = _detail(sections, values, origin)
    if not is_whole:
        notes.append("detail: a digest of the document")
    tags = _texts(values.get("tags")) or _texts(values.get("keywords"))
    if not tags:
        tags = tags_from(*(_text(values.get(name)) for name in ("component", "module")), title)
        notes.append(f"tags: {', '.join(tags)} taken from its words")
    kind = _text(values.get("problem_type"))
    ranks = {one.rank for one in sections}
    criteria = [Criterion.STABLE_FACT]
    criteria += [Criterion.BEHAVIOR_CHANGING] if ranks & {0, 1} else []
    criteria += [Criterion.DECISION_RATIONALE] if "decision" in kind or 2 in ranks else []  # noqa: PLR2004 - its place in the order
    times = (read_instant(_text(values.get(name))) for name in _DATES)
    return Entry(
        line=1,
        fields={
            "category": _category(kind, _text(values.get("category")), origin.folder).value,
            "summary": shorten(one_line(_plain(title)), SUMMARY_LENGTH_MAX),
            "detail": detail,
            "criteria_met": [one.value for one in criteria],
            "tags": tags[:TAGS_MAX],
            "context_files": _files(values, sections, origin),
        },
        timestamp=next(filter(None, times), None),
        notes=tuple(notes),
    )


def _category(*said: str) -> Category:
    for text in said:
        for category, words in _CATEGORIES:
            if re.search(words, text, re.IGNORECASE):
                return category
    return Category.CONVENTION


def _files(values: Mapping[str, Any], sections: Sequence[_Section], origin: Origin) -> list[str]:
    named = [_text(values.get("module")), *_texts(values.get("related_files"))]
    named = [one for one in named if re.fullmatch(r"(?:[\w.@-]+/)*[\w.@-]+\.\w{1,8}", one)]
    found = [match[1] for one in sections for match in _PATH.finditer(one.text)]
    own = [origin.path] if origin.path else []
    return list(dict.fromkeys([*own, *named, *found]))[:_MOST_FILES]


def _sections(body: str) -> list[_Section]:
    """Divide a text at its headings; those within code are none."""
    sections: list[_Section] = []
    title, lines, fence = "", list[str](), ""
    for line in body.split("\n"):
        mark = _FENCE.fullmatch(line)
        heading = None if fence or mark else _HEADING.fullmatch(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        if heading is None:
            lines.append(line)
            continue
        sections.append(_Section(title, "\n".join(lines).strip()))
        title, lines = heading[2], []
    sections.append(_Section(title, "\n".join(lines).strip()))
    return [one for one in sections if one.title or one.text]


def _detail(
    sections: Sequence[_Section], values: Mapping[str, Any], origin: Origin
) -> tuple[str, bool]:
    """Write what of the document fits into a learning, and return whether that is all of it."""
    parts = [one for one in sections if one.text]
    if symptoms := _texts(values.get("symptoms")):
        parts.append(_Section("Symptoms", "\n".join(f"- {one}" for one in symptoms)))
    ends = f"\n\nThe whole document: `{origin.path or origin.name}`"
    room = DETAIL_LENGTH_MAX - len(ends)
    written: list[str] = []
    is_whole = True
    for part in sorted(parts, key=lambda one: one.rank):
        title = f"**{_plain(part.title)}:**\n\n" if part.title else ""
        share = room if len(part.text) + len(title) <= room // 2 or not written else room // 2
        text = _cut(part.text, share - len(title))
        is_whole = is_whole and text == part.text
        if text:
            written.append(f"{title}{text}")
            room -= len(written[-1]) + 2
    return "\n\n".join(written) + ends, is_whole


def _cut(text: str, room: int) -> str:
    """Cut a text at the end of a paragraph, else of a line; code is kept whole or left out."""
    if len(text) <= room:
        return text
    if room < _LEAST_ROOM:
        return ""
    kept: list[str] = []
    for paragraph in re.split(r"\n\s*\n(?![ \t])", text):
        if len("\n\n".join([*kept, paragraph])) > room - 2:
            break
        kept.append(paragraph)
    whole = "\n\n".join(kept)
    if kept and close_fences(whole) == whole:
        return f"{whole}\n…"
    first = re.split(r"^ {0,3}(?:```|~~~)", text, maxsplit=1, flags=re.MULTILINE)[0].strip()
    return shorten(first, room) if first else ""


def _plain(text: str) -> str:
    """Take emphasis and the targets of links out of a line; code marks stay."""
    return _MARKUP.sub(lambda match: match[1] or match[2], text)


def _text(raw: object) -> str:
    return raw.strip() if isinstance(raw, str) else ""


def _texts(raw: object) -> list[str]:
    items = raw.split(",") if isinstance(raw, str) else raw if isinstance(raw, list) else []
    return [one.strip() for one in items if isinstance(one, str) and one.strip()]
