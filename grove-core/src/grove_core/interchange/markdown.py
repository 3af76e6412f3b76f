"""Markdown: documents such as ``docs/solutions/*.md``, each one learning; and a page for people."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from attrs import evolve

from grove_core.interchange.entries import (
    Entry,
    complete,
    left_out,
    read_instant,
)
from grove_core.model.learning import (
    DETAIL_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    TAGS_MAX,
    Category,
    Criterion,
    Learning,
    LearningStatus,
)
from grove_core.reflection.candidates import close_fences
from grove_core.text import one_line, shorten

_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n((?s:.*?))(?m:^)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE: Final = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_BULLET: Final = re.compile(r"\s+| {0,3}(?:[-*+]|\d{1,3}[.)])[ \t]+")
_COMMENT: Final = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_MARKUP: Final = re.compile(
    r"\[([^\[\]]+)\]\([^()\s]*\)|(?<![\w*])(?:\*\*|__)(?=\S)(.+?)(?<=\S)(?:\*\*|__)"
)
_PATH: Final = re.compile(r"(?:[\w.@-]+/)*[\w.@-]+\.\w{1,8}")
_MARKED_PATH: Final = re.compile(r"`((?:[\w.@-]+/)+[\w.@-]+\.\w{1,8})(?::\d+)?`")
_MOST_FILES: Final = 10
WHOLE: Final = "The whole document: "
"""Begins the last line of a learning that was made of a document."""
_TITLES: Final = ("title", "description", "summary", "name")
_DATES: Final = ("date", "created", "last_updated")
_INDEXES: Final = frozenset({"readme.md", "index.md", "memory.md"})
# What a digest keeps first: what to do, then why, then what happened.
_ORDER: Final = (
    r"solution|fix|resolution|working solution|guidance|guideline",
    r"prevent|how to prevent|lesson|when to apply",
    r"root cause|cause|technical cause|analysis|why|rationale",
    r"problem|incident|context|issue|summary|overview|symptom|what happened",
)
_CRITERIA: Final = {
    0: Criterion.BEHAVIOR_CHANGING,
    1: Criterion.BEHAVIOR_CHANGING,
    2: Criterion.DECISION_RATIONALE,
}
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
        words = _plain(self.title).lstrip("0123456789.) ").lower()
        found = (at for at, starts in enumerate(_ORDER) if re.match(starts, words))
        return next(found, len(_ORDER))

    @property
    def whole(self) -> str:
        """The text below its title."""
        return f"**{_plain(self.title)}:**\n\n{self.text}" if self.title else self.text


# --- a document -----------------------------------------------------------------------------------


def read_document(text: str, place: PurePath) -> list[Entry]:
    """Read a document: YAML front matter by PyYAML, a title, the text.

    A place outside of the project is absolute.
    """
    values, body, problem = _front_matter(text)
    body = _COMMENT.sub("", body).strip()
    sections = _sections(body)
    titles = [*_named(values, *_TITLES), *(one.title for one in sections if one.title)]
    if not values and not problem and (reason := _why_no_lesson(body, place)):
        rules = _rules(sections, place) if place.name.lower() not in _INDEXES else []
        return [evolve(left_out(1, place.name, reason), rules=tuple(rules))]
    if not titles or not body:
        reason = "it has no title; give it one" if body else "it has no text below its title"
        return [left_out(1, place.name, reason, is_fault=True)]
    return [_entry(titles[0], values, sections, place, [problem] if problem else [])]


def _front_matter(text: str) -> tuple[dict[str, list[str]], str, str]:
    """Return the values as lists of texts, the text below, and what is wrong with them."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, text, ""
    import yaml

    body = text[match.end() :]
    try:
        # The loader that makes texts of everything: neither dates nor objects, and `no` stays `no`.
        values = yaml.load(match[1], yaml.BaseLoader)  # noqa: S506 - safe as well
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or type(error).__name__
        place = f"line {mark.line + 2}: {said}" if mark else said
        return {}, body, f"its front matter cannot be read ({place}); its headings count alone"
    return (
        {name: _texts(raw) for name, raw in values.items()} if isinstance(values, dict) else {},
        body,
        "",
    )


def _texts(raw: object) -> list[str]:
    items = raw if isinstance(raw, list) else [raw]
    return [one.strip() for one in items if isinstance(one, str) and one.strip()]


def _named(values: Mapping[str, list[str]], *names: str) -> list[str]:
    return [text for name in names for text in values.get(name, ())]


def _why_no_lesson(body: str, place: PurePath) -> str:
    if place.name.lower() in _INDEXES:
        return "a list of documents"
    lines = [line for line in body.split("\n") if line.strip() and not _HEADING.fullmatch(line)]
    rules = sum(_BULLET.match(line) is not None for line in lines)
    if rules * 2 > len(lines) and "```" not in body:
        return "a list of rules that always hold: leave it where the agent reads it"
    return ""


def _rules(sections: Sequence[_Section], place: PurePath) -> Iterator[Entry]:
    """Make an entry of each item of a list; what continues one belongs to it."""
    for section in sections:
        for item in re.split(r"\n(?= {0,3}(?:[-*+]|\d{1,3}[.)])[ \t])", f"\n{section.text}"):
            text = one_line(_plain(_BULLET.sub("", item.strip(), count=1)))
            if not _BULLET.match(item) or not text:
                continue
            about = f"{_plain(section.title)}: " if section.title else ""
            fields: dict[str, Any] = {
                "summary": shorten(text, SUMMARY_LENGTH_MAX),
                "detail": f"{about}{text}\n\nA rule of `{place}`.",
                "context_files": [] if place.is_absolute() else [str(place)],
            }
            yield Entry(line=1, fields=fields, notes=tuple(complete(fields)))


def _sections(body: str) -> list[_Section]:
    """Divide a text at its headings; those within code are none."""
    title, lines, in_code = "", list[str](), False
    sections: list[_Section] = []
    for line in body.split("\n"):
        in_code ^= _FENCE.match(line) is not None
        heading = None if in_code else _HEADING.fullmatch(line)
        if heading is None:
            lines.append(line)
        else:
            sections.append(_Section(title, "\n".join(lines).strip()))
            title, lines = heading[1], []
    sections.append(_Section(title, "\n".join(lines).strip()))
    return [one for one in sections if one.title or one.text]


def _entry(
    title: str,
    values: Mapping[str, list[str]],
    sections: Sequence[_Section],
    place: PurePath,
    notes: list[str],
) -> Entry:
    inside = "" if place.is_absolute() else str(place)
    parts = [one for one in sections if one.text]
    if symptoms := values.get("symptoms"):
        parts.append(_Section("Symptoms", "\n".join(f"- {one}" for one in symptoms)))
    whole = "\n\n".join(one.whole for one in sorted(parts, key=lambda one: one.rank))
    ends = f"\n\n{WHOLE}`{inside or place.name}`"
    digest = _cut(whole, DETAIL_LENGTH_MAX - len(ends))
    if digest != whole:
        notes.append("detail: a digest of the document")
    kinds = " ".join([*_named(values, "problem_type", "category"), place.parent.name])
    found = (one for one, words in _CATEGORIES if re.search(words, kinds, re.IGNORECASE))
    criteria = {_CRITERIA[one.rank] for one in sections if one.rank in _CRITERIA}
    named = filter(_PATH.fullmatch, _named(values, "module", "related_files"))
    marked = (match[1] for one in sections for match in _MARKED_PATH.finditer(one.text))
    paths = dict.fromkeys(filter(None, (inside, *named, *marked)))
    fields: dict[str, Any] = {
        "category": next(found, Category.CONVENTION).value,
        "summary": shorten(one_line(_plain(title)), SUMMARY_LENGTH_MAX),
        "detail": digest + ends,
        "criteria_met": [one.value for one in {Criterion.STABLE_FACT, *criteria}],
        "tags": [tag for text in _named(values, "tags") for tag in text.split(",")][:TAGS_MAX],
        "context_files": list(paths)[:_MOST_FILES],
    }
    times = filter(None, map(read_instant, _named(values, *_DATES)))
    notes += complete(fields)
    return Entry(line=1, fields=fields, timestamp=next(times, None), notes=tuple(notes))


def _cut(text: str, room: int) -> str:
    """Cut a text at the end of a paragraph, else of a line; code is kept whole or left out."""
    if len(text) <= room:
        return text
    for end in ("\n\n", "\n"):
        at = text.rfind(end, 0, room - 1)
        while at > room // 3:
            if close_fences(text[:at]) == text[:at]:
                return f"{text[:at]}\n…"
            at = text.rfind(end, 0, at)
    return shorten(one_line(text.partition("```")[0]) or "…", room)


def _plain(text: str) -> str:
    """Take emphasis and the targets of links out of a line; code marks stay."""
    return _MARKUP.sub(lambda match: match[1] or match[2], text)


# --- the page -------------------------------------------------------------------------------------

_SPECIAL: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|#"})
# CommonMark: from a row of backquotes to the next row of the same length.
_CODE: Final = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")


def write_markdown(learnings: Iterable[Learning], project: str) -> str:
    """Write learnings as a page for people, by category, in the order given."""
    by_category: dict[Category, list[str]] = {one: [] for one in Category}
    for learning in learnings:
        quoted = "\n".join(f"> {line}".rstrip() for line in learning.detail.split("\n"))
        text = f"### {_escaped(learning.summary)}\n\n{_facts(learning)}\n\n{quoted}"
        by_category[learning.category].append(text)
    parts = [f"# Learnings of {_escaped(project)}"]
    for category, texts in by_category.items():
        parts += [f"## {category.value.capitalize()}", *texts] if texts else []
    return "\n\n".join(parts) + "\n"


def _facts(learning: Learning) -> str:
    lists = {
        "ticket": [learning.ticket_id or ""],
        "tags": learning.tags,
        "files": learning.context_files,
        "supersedes": learning.supersedes,
    }
    is_active = learning.status is LearningStatus.ACTIVE
    facts = [
        *([] if is_active else [f"**{learning.status.value}**"]),
        f"{learning.timestamp:%Y-%m-%d}",
        f"scope {learning.scope.value}",
        f"confidence {learning.confidence.value}",
        *(
            f"{name} {', '.join(map(_escaped, items))}"
            for name, items in lists.items()
            if any(items)
        ),
        f"`{learning.id}`",
    ]
    return " · ".join(facts)


def _escaped(text: str) -> str:
    """Keep a line of text from being read as markdown; code in it stays as it is meant."""
    written: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        written += [text[at : code.start()].translate(_SPECIAL), code[0]]
        at = code.end()
    return "".join([*written, text[at:].translate(_SPECIAL)])
