"""What a source does not say, guessed from its words; each guess is named as one."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from grove_core.model.learning import Category, Criterion
from grove_core.reflection.limits import SUMMARY_LENGTH_MAX, TAGS_MAX
from grove_core.reflection.sanitise import clean_tag
from grove_core.reflection.schema import read_enum
from grove_core.text import one_line, shorten

TAGS_GUESSED: Final = 4
_SHORTEST_TAG: Final = 3
_LONGEST_TAG: Final = 24
_WORD: Final = re.compile(r"[\w-]*\w")
# Code, paths and addresses: what is telling about them stands in other words as well.
_NO_WORD: Final = re.compile(r"`[^`]*`|\S*[/@\\]\S*|\S+\.\w\S*")
_PARAGRAPH_END: Final = re.compile(r"\n\s*\n|\n\s*(?:[-*+]|\d+[.)])\s|\n\s*```")
_SENTENCE: Final = re.compile(r".{20,}?[.!?](?=\s|$)")
_EMPHASIS: Final = re.compile(r"(?<![\w*])(\*\*|\*|__|_)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
_LINK: Final = re.compile(r"\[([^\[\]]+)\]\([^()\s]*\)")
_PATH: Final = re.compile(r"`((?:[\w.@-]+/)+[\w.@-]+\.\w{1,8})(?::\d+)?`")
_FILES_GUESSED: Final = 10
# Tried in this order, so that a ban counts before the custom that it belongs to.
_CATEGORIES: Final = (
    (Category.DEBUGGING, r"debug\w*|stack ?traces?|troubleshoot\w*|diagnos\w+|log level"),
    (
        Category.PITFALL,
        r"never|avoid|don'?t|do not|gotchas?|pitfalls?|beware|careful|caveats?|bugs?",
    ),
    (Category.DEPENDENCY, r"dependenc\w+|packages?|librar\w+|versions?|upgrade\w*|pinned"),
    (
        Category.PROCESS,
        r"deploy\w*|releases?|ci|pipelines?|workflows?|commit\w*|pull requests?|run",
    ),
    (Category.CONVENTION, r"always|conventions?|styles?|naming|names?|format\w*|prefer\w*|use"),
    (Category.DOMAIN, r"customers?|business|domain|users? (?:may|can)|regulat\w+|legal"),
)
_CATEGORY_WORDS: Final = tuple(
    (category, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for category, words in _CATEGORIES
)
_CHANGES: Final = re.compile(
    r"\b(?:should|must|never|always|avoid|don'?t|do not|use|prefer|instead|make sure)\b",
    re.IGNORECASE,
)
_GIVES_REASON: Final = re.compile(
    r"\b(?:because|since|so that|in order to|rather than|due to|decided|trade-?off)\b",
    re.IGNORECASE,
)
_EMPTY_WORDS: Final = frozenset(
    """about after all also always and any are avoid because before but can cannot could did does
    don done each every file files for from get had has have how into its just like make more most
    must need never not note notes now off once one only other our out over own please prefer
    project run same see should since some such sure than that the their them then there these they
    this those through too under until use used using via was way were what when where which while
    who why will with without you your""".split()
)


def guess_category(*texts: str) -> Category:
    """Guess what kind of knowledge a text holds."""
    for text in texts:
        for category, words in _CATEGORY_WORDS:
            if words.search(text):
                return category
    return Category.CONVENTION


def guess_criteria(text: str) -> list[str]:
    """Return which criteria the words of a text support."""
    found = [
        criterion.value
        for criterion, words in (
            (Criterion.BEHAVIOR_CHANGING, _CHANGES),
            (Criterion.DECISION_RATIONALE, _GIVES_REASON),
        )
        if words.search(text)
    ]
    return found or [Criterion.STABLE_FACT.value]


def guess_tags(texts: Iterable[str], spare: str) -> list[str]:
    """Take tags from the words of texts."""
    found: dict[str, None] = {}
    for text in texts:
        for word in _WORD.findall(_NO_WORD.sub(" ", text)):
            tag = clean_tag(word)
            if tag and _tells_something(tag):
                found.setdefault(tag)
    return list(found)[:TAGS_GUESSED] or [spare]


def _tells_something(tag: str) -> bool:
    long_enough = _SHORTEST_TAG <= len(tag) <= _LONGEST_TAG
    return long_enough and not tag.isdigit() and tag not in _EMPTY_WORDS


def guess_files(text: str) -> list[str]:
    """Find the paths of files that a text names in code marks."""
    return list(dict.fromkeys(match[1] for match in _PATH.finditer(text)))[:_FILES_GUESSED]


def first_sentence(text: str) -> str:
    """Make a summary of the beginning of a text."""
    line = one_line(plain(_PARAGRAPH_END.split(text.strip(), maxsplit=1)[0]))
    match = _SENTENCE.match(line)
    return shorten(line if match is None else match[0], SUMMARY_LENGTH_MAX)


def plain(text: str) -> str:
    """Take emphasis and the targets of links out of markdown; code marks stay."""
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text))


def complete(fields: dict[str, Any], spare_tag: str) -> tuple[str, ...]:
    """Fill in what the schema demands and a source may well leave out."""
    summary, detail = _text(fields.get("summary")), _text(fields.get("detail"))
    filled: list[tuple[str, str]] = []
    if read_enum(Category, fields.get("category")) is None:
        said = _text(fields.get("category"))
        fields["category"] = guess_category(summary, detail).value
        instead = f'"{shorten(one_line(said), TAGS_MAX)}" is unknown, ' if said else ""
        filled.append(("category", f"{instead}{fields['category']} was guessed"))
    if not _has_item(fields.get("criteria_met")):
        fields["criteria_met"] = guess_criteria(f"{summary}\n{detail}")
        filled.append(("criteria_met", f"{_listed(fields['criteria_met'])} was guessed"))
    if not _has_item(fields.get("tags")):
        fields["tags"] = guess_tags([summary], spare_tag)
        filled.append(("tags", f"{_listed(fields['tags'])} taken from its words"))
    return tuple(f"{name}: {words}" for name, words in filled)


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else ""


def _has_item(raw: object) -> bool:
    items = raw if isinstance(raw, list) else [raw]
    return any(isinstance(item, str) and item.strip() for item in items)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words)
