"""Solved-problem documents as the compound-engineering plugin writes them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grove_core.interchange.entries import Entry, Origin, Reading, left_out, read_instant
from grove_core.interchange.guessing import guess_category, guess_files, guess_tags, plain
from grove_core.interchange.markdown_text import (
    FrontMatter,
    Section,
    read_front_matter,
    sections_of,
    without_comments,
)
from grove_core.interchange.notes import read_notes
from grove_core.model.learning import Category, Criterion
from grove_core.reflection.limits import DETAIL_LENGTH_MAX, SUMMARY_LENGTH_MAX, TAGS_MAX
from grove_core.reflection.sanitise import close_fences
from grove_core.text import one_line, shorten

# By what a section is for: how its heading may begin. Filled in this order as far as there is room.
_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Problem": ("problem", "incident", "context", "issue", "summary", "overview", "what happened"),
    "Symptoms": ("symptom", "observable"),
    "Cause": ("root cause", "cause", "technical cause", "analysis"),
    "Solution": ("solution", "fix", "resolution", "working solution", "guidance", "guideline"),
    "Why it works": ("why this works", "why it works", "why this matters", "rationale", "why"),
    "Prevention": ("prevention", "preventing", "how to prevent", "lesson", "when to apply"),
    "What did not work": ("what didn't work", "what did not work", "failed", "investigation"),
}
_DECISIVE: Final = frozenset({"Solution", "Prevention"})
_TELLING: Final = frozenset({"Problem", "Symptoms", "Cause", "Solution", "Prevention"})
_LEAST_ROOM: Final = 60
_FENCE: Final = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_BLOCK_STARTS: Final = ("- ", "* ", "1.", "```", "~~~", ">", "#", "|")
_CATEGORIES: Final[Mapping[str, Category]] = {
    "build_error": Category.DEBUGGING,
    "runtime_error": Category.DEBUGGING,
    "test_failure": Category.DEBUGGING,
    "config_error": Category.PITFALL,
    "database_issue": Category.PITFALL,
    "integration_issue": Category.PITFALL,
    "logic_error": Category.PITFALL,
    "performance_issue": Category.PITFALL,
    "security_issue": Category.PITFALL,
    "ui_bug": Category.PITFALL,
    "dependency_issue": Category.DEPENDENCY,
    "tooling_decision": Category.DEPENDENCY,
    "developer_experience": Category.PROCESS,
    "documentation_gap": Category.PROCESS,
    "workflow": Category.PROCESS,
    "workflow_issue": Category.PROCESS,
    "architecture_pattern": Category.PATTERN,
    "best_practice": Category.PATTERN,
    "design_pattern": Category.PATTERN,
    "pattern": Category.PATTERN,
    "convention": Category.CONVENTION,
}
_UNREAD: Final = "its front matter cannot be read, so its headings count alone:"
_INDEXES: Final = frozenset({"readme.md", "index.md"})


def read_solution(text: str, origin: Origin) -> Reading:
    """Read a document of a solved problem."""
    lines = without_comments(text).split("\n")
    front = read_front_matter(lines)
    sections = sections_of(lines, front.start)
    parts = _parts_of(sections)
    if not front.values and origin.name.lower() in _INDEXES:
        return Reading(left_out=(left_out(1, origin.name, "a list of documents"),))
    if not front.values and not front.problem and not parts:
        return read_notes(text, origin)
    title = _title(front.values, sections)
    if not title:
        reason = "it has neither a title nor a heading; give it one"
        return Reading(left_out=(left_out(1, origin.name, reason, is_fault=True),))
    return Reading(entries=(_entry(title, front, sections, parts, origin),))


def _entry(
    title: str,
    front: FrontMatter,
    sections: Sequence[Section],
    parts: Mapping[str, str],
    origin: Origin,
) -> Entry:
    values = front.values
    notes = [f"{_UNREAD} {front.problem}"] if front.problem else []
    detail, is_whole = _detail(values, sections, parts, origin)
    if not is_whole:
        notes.append("detail: a digest of the document")
    files = [origin.path] if origin.path else []
    files += _files(values) + guess_files("\n".join(parts.values()))
    tags = _texts(values.get("tags")) or _texts(values.get("keywords"))
    if not tags:
        words = [_text(values.get(name)) for name in ("component", "module", "problem_type")]
        tags = guess_tags([*words, title], "solution")
        notes.append(f"tags: {', '.join(tags)} taken from its words")
    return Entry(
        line=1,
        fields={
            "category": _category(values, origin, title).value,
            "summary": shorten(one_line(plain(title)), SUMMARY_LENGTH_MAX),
            "detail": detail,
            "criteria_met": _criteria(values, parts),
            "tags": tags[:TAGS_MAX],
            "context_files": list(dict.fromkeys(files)),
        },
        timestamp=next(
            (when for name in ("date", "created", "last_updated") if (when := _when(values, name))),
            None,
        ),
        notes=tuple(notes),
    )


def _when(values: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - an instant or none
    return read_instant(_text(values.get(name)))


def _title(values: Mapping[str, Any], sections: Sequence[Section]) -> str:
    title = _text(values.get("title")) or _text(values.get("name"))
    return title or next((one.headings[-1] for one in sections if one.headings), "")


def _category(values: Mapping[str, Any], origin: Origin, title: str) -> Category:
    folder = _text(values.get("category")).rstrip("/").rpartition("/")[2]
    for said in (_text(values.get("problem_type")), folder, origin.folder):
        word = said.strip().lower().replace("-", "_").replace(" ", "_")
        for name in (word, word.removesuffix("s"), word.removesuffix("es")):
            if name in _CATEGORIES:
                return _CATEGORIES[name]
        # `docker_config_issue` and its like, of which each project has its own.
        if word.endswith(("_issue", "_issues", "_error", "_errors", "_bug", "_bugs", "_failure")):
            return Category.PITFALL
    return guess_category(title)


def _criteria(values: Mapping[str, Any], parts: Mapping[str, str]) -> list[str]:
    criteria = [Criterion.STABLE_FACT]
    if _DECISIVE & parts.keys():
        criteria.append(Criterion.BEHAVIOR_CHANGING)
    if "decision" in _text(values.get("problem_type")) or "Why it works" in parts:
        criteria.append(Criterion.DECISION_RATIONALE)
    return [one.value for one in criteria]


def _parts_of(sections: Sequence[Section]) -> dict[str, str]:
    """Put the sections under the names of what they are for; subsections go with theirs."""
    found: dict[str, list[str]] = {}
    for section in sections:
        name = next((part for title in section.headings[::-1] if (part := _part(title))), None)
        text = "\n".join(line.text for line in section.lines).strip()
        if name is not None and text:
            found.setdefault(name, []).append(text)
    return {name: "\n\n".join(found[name]) for name in _PARTS if name in found}


def _part(title: str) -> str | None:
    words = re.sub(r"^[\d.)\s]+", "", plain(title)).replace("\u2019", "'").strip().lower()
    return next((name for name, starts in _PARTS.items() if words.startswith(starts)), None)


def _detail(
    values: Mapping[str, Any],
    sections: Sequence[Section],
    parts: Mapping[str, str],
    origin: Origin,
) -> tuple[str, bool]:
    """Write what of the document fits into a learning, and tell whether that is all of it."""
    texts = dict(parts)
    if not texts:
        bodies = ("\n".join(line.text for line in one.lines).strip() for one in sections)
        texts = {"": "\n\n".join(filter(None, bodies))}
    if "Symptoms" not in texts and (symptoms := _texts(values.get("symptoms"))):
        texts["Symptoms"] = "\n".join(f"- {one}" for one in symptoms)
    cause = _text(values.get("root_cause"))
    if "Cause" not in texts and cause:
        texts["Cause"] = cause.replace("_", " ")
    ends = f"\n\nThe whole document: `{origin.path or origin.name}`"
    room = DETAIL_LENGTH_MAX - len(ends)
    written: dict[str, str] = {}
    is_whole = True
    # What is to be done comes before what did not work, whatever the order in the document.
    for name in ("", *_PARTS):
        if name not in texts:
            continue
        gap = "\n\n" if texts[name].startswith(_BLOCK_STARTS) else " "
        title = f"**{name}:**{gap}" if name else ""
        share = room if name not in _TELLING else max(room // 2, _LEAST_ROOM * 4)
        text = _cut(texts[name], min(room, share) - len(title) - 2)
        is_whole = is_whole and text == texts[name]
        if text:
            written[name] = f"{title}{text}"
            room -= len(written[name]) + 2
    return "\n\n".join(written.values()) + ends, is_whole


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
    first = _FENCE.split(text, 1)[0].strip()
    return shorten(first, room) if first else ""


def _files(values: Mapping[str, Any]) -> list[str]:
    named = [_text(values.get("module")), *_texts(values.get("related_files"))]
    named += _texts(values.get("files"))
    return [one for one in named if re.fullmatch(r"(?:[\w.@-]+/)*[\w.@-]+\.\w{1,8}", one)]


def _text(raw: object) -> str:
    return raw.strip() if isinstance(raw, str) else ""


def _texts(raw: object) -> list[str]:
    if isinstance(raw, str):
        return [part.strip() for part in raw.split(",") if part.strip()]
    if isinstance(raw, list):
        return [one.strip() for one in raw if isinstance(one, str) and one.strip()]
    return []
