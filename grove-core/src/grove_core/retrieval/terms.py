"""Learnings, texts and queries as terms: letters and digits only, to be counted and weighed."""

import json
import re
from collections.abc import Iterable, Mapping
from math import log
from typing import Any, Final, NamedTuple
from zlib import crc32

from grove_core.codec import learning_from_dict, learning_to_dict
from grove_core.model.learning import Learning
from grove_core.model.memory import Query
from grove_core.stats.lines import microseconds
from grove_core.stemmer import STOP_WORDS, stems

# A word, or words held together as in `read_file`, `os.path`, `crates/uv-client/src/lib.rs`.
_CHUNK: Final = re.compile(r"[^\W_]+(?:[_\-./:\\]+[^\W_]+)*")
# Where such a script meets Latin letters, as in a sentence that names a program.
# Compiled where it is needed: that takes longer than a search.
_SCRIPT_CHANGE: Final = "(?<=[A-Za-z0-9])(?=[\u0900-\uffef])|(?<=[\u0900-\uffef])(?=[A-Za-z0-9])"
_SEGMENT_END: Final = re.compile(r"[./:\\]+")
_PART_END: Final = re.compile(r"[_\-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SHORTEST: Final = 2
_LONGEST: Final = 64
"""Longer ones are encoded data; the beginning tells them apart well enough."""
_MOST_SEGMENTS: Final = 4
"""A whole of more segments is a path or an address, which is matched as such or not at all."""
# From here on (Indic scripts, Thai, Chinese, Japanese, Korean) words are not told by blanks, or are
# cut up by marks that are no letters: two neighbours at a time stand for them.
_FIRST_BY_PAIRS: Final = "\u0900"

# How much a word counts by where it stands. Measured with the title at 1.5, 2, 3 and 4.
TITLE_WEIGHT: Final = 2.0
DESCRIPTION_WEIGHT: Final = 1.0
# How much is counted, per unit of rarity, for what is matched as a whole. Files and directories
# were measured; labels and tickets hardly occur in what could be measured, and are set by hand.
FILE_WEIGHT: Final = 1.0
DIRECTORY_WEIGHT: Final = 0.5
TAG_WEIGHT: Final = 0.5
TICKET_WEIGHT: Final = 5.0
NAMED_TICKET_WEIGHT: Final = 2.5

# More than a person writes of one matter; a log that was pasted would only cost time.
_MOST_CHARACTERS: Final = 8_001
_MOST_FILES: Final = 100
_MOST_NAMED_TICKETS: Final = 20
_AROUND_IDS: Final = "\"'`()[]{}<>,;:.!?"
_AROUND_PATHS: Final = "\"'`()[]{}<>,;:!?*"
_LONGEST_SUFFIX: Final = 8
_MOST_NAMED_FILES: Final = 50
_LONGEST_END: Final = 4_000


class IndexedText(NamedTuple):
    """The terms of a learning's fields, joined by blanks."""

    summary: str
    tags: str
    detail: str
    paths: str
    keys: str


def indexed_text(learning: Mapping[str, Any]) -> IndexedText:
    """Make the fields of a learning into terms."""
    tags, files = learning["tags"], learning["context_files"]
    keys = [*tag_keys(tags), *file_keys(files), *directory_keys(files), *area_keys(files)]
    return IndexedText(
        summary=" ".join(words(learning["summary"])),
        tags=" ".join(words(" ".join((*tags, learning["category"])))),
        detail=" ".join(words(learning["detail"])),
        paths=" ".join(words(" ".join(files))),
        keys=" ".join(dict.fromkeys([*keys, *ticket_keys(learning["ticket_id"] or "")])),
    )


class Entry(NamedTuple):
    """A learning, and where it comes from."""

    id: str
    backend: str
    personal: bool
    status: str
    scope: str
    category: str
    confidence: str
    created: int
    complete: bool
    document: str

    def fields(self) -> dict[str, Any]:
        """Read the learning's fields, as ``learning_to_dict`` names them."""
        fields: dict[str, Any] = json.loads(self.document)
        return fields

    @property
    def summary(self) -> str:
        """What it says in one line."""
        return str(self.fields()["summary"])


def entry_of(learning: Learning, *, backend: str, personal: bool, complete: bool = True) -> Entry:
    """Make a learning into what the index keeps."""
    return Entry(
        id=learning.id,
        backend=backend,
        personal=personal,
        status=learning.status.value,
        scope=learning.scope.value,
        category=learning.category.value,
        confidence=learning.confidence.value,
        created=microseconds(learning.timestamp),
        complete=complete,
        document=json.dumps(learning_to_dict(learning), separators=(",", ":")),
    )


def learning_of(entry: Entry) -> Learning:
    """Make an entry into a learning again."""
    return learning_from_dict(entry.fields())


def text_of(entry: Entry) -> IndexedText:
    """Make an entry into terms."""
    return indexed_text({**entry.fields(), "category": entry.category})


def words(text: str) -> list[str]:
    """Pick the terms of a text in order."""
    return _stemmed(_terms_in(text)[0])


def identifiers(text: str) -> list[str]:
    """Pick the terms of a text that are written together of several words."""
    return _stemmed(_terms_in(text)[1])


def _terms_in(text: str) -> tuple[list[str], list[str]]:
    """Pick all terms of a text, and those among them that are put together of parts."""
    found: list[str] = []
    joined: list[str] = []
    if not text.isascii():
        from unicodedata import normalize

        text = re.sub(_SCRIPT_CHANGE, " ", normalize("NFKC", text))
    for chunk in _CHUNK.findall(text):
        if chunk.isalpha() and chunk.isascii() and (chunk.islower() or chunk.istitle()):
            _add(chunk, found)
            continue
        segments = _SEGMENT_END.split(chunk)
        if 1 < len(segments) <= _MOST_SEGMENTS:
            _add("".join(filter(str.isalnum, chunk)), found)
        for segment in segments:
            parts = _PART_END.split(segment)
            if len(parts) > 1:
                before = len(found)
                _add("".join(parts), found)
                joined += found[before:]
            for part in parts:
                _add(part, found)
    return found, joined


def tag_keys(tags: Iterable[str]) -> list[str]:
    """Name tags as wholes."""
    return [_key("tag", tag.strip().lower()) for tag in tags]


def ticket_keys(ticket_id: str) -> list[str]:
    """Name a ticket as a whole."""
    return [_key("ticket", ticket_id.strip().lower())] if ticket_id.strip() else []


def file_keys(files: Iterable[str]) -> list[str]:
    """Name files as wholes."""
    return [_key("file", "/".join(parts)) for parts in map(_parts, files) if parts]


def directory_keys(files: Iterable[str]) -> list[str]:
    """Name the directories that files lie in."""
    directories = dict.fromkeys("/".join(parts[:-1]) for parts in map(_parts, files) if parts[1:])
    return [_key("directory", directory) for directory in directories]


def area_keys(files: Iterable[str]) -> list[str]:
    """Name the parts of a project that files lie in."""
    areas: dict[str, None] = {}
    for parts in map(_parts, files):
        if not any(part.startswith(".") for part in parts[:-1]):
            areas.update(dict.fromkeys("/".join(parts[:end]) for end in range(2, len(parts))))
    return [_key("area", area) for area in areas]


def _key(kind: str, value: str) -> str:
    """Make one term of something that is looked for as a whole."""
    text = f"{kind}:{value}".encode("utf-8", "surrogatepass")
    return f"k{crc32(text):08x}{crc32(text[::-1]) & 0xFFFFFF:06x}"


def _parts(file: str) -> list[str]:
    return [part for part in file.replace("\\", "/").split("/") if part not in {"", "."}]


def _add(word: str, found: list[str]) -> None:
    word = word[:_LONGEST].lower()
    if word.isascii():
        if len(word) >= _SHORTEST and word not in STOP_WORDS:
            found.append(word)
        return
    # Lower-casing may leave a mark that is no letter.
    word = "".join(filter(str.isalnum, word))
    if max(word, default="") < _FIRST_BY_PAIRS:
        found.append(word)
    else:
        found.extend([word[at : at + 2] for at in range(max(1, len(word) - 1))])


def _stemmed(found: list[str]) -> list[str]:
    known = stems(found)
    return [known[word] for word in found]


class QueryTerms(NamedTuple):
    """What is looked for."""

    words: Mapping[str, float]
    path_words: Mapping[str, float]
    keys: Mapping[str, float]
    identifiers: frozenset[str]
    areas: frozenset[str]

    def all_terms(self) -> Mapping[str, float]:
        """Put together all terms that can make a learning a candidate."""
        return {**self.path_words, **self.words, **self.keys}


def terms_of(query: Query) -> QueryTerms:
    """Make what is known of the work at hand into terms."""
    tags, files = query.tags, query.files[:_MOST_FILES]
    said = _together(query.ticket_description, query.text)
    stressed = _together(query.ticket_title, query.error_signature)
    counts: dict[str, float] = {}
    for part, weight in (
        (stressed, TITLE_WEIGHT),
        (said, DESCRIPTION_WEIGHT),
        (" ".join(tags), DESCRIPTION_WEIGHT),
    ):
        for word in words(part):
            counts[word] = counts.get(word, 0.0) + weight
    keys = dict.fromkeys(file_keys(files), FILE_WEIGHT)
    keys.update(dict.fromkeys(directory_keys(files), DIRECTORY_WEIGHT))
    keys.update(dict.fromkeys(tag_keys(tags), TAG_WEIGHT))
    for named in _tickets_named_in(f"{stressed} {said}"):
        keys.update(dict.fromkeys(ticket_keys(named), NAMED_TICKET_WEIGHT))
    keys.update(dict.fromkeys(ticket_keys(query.ticket_id), TICKET_WEIGHT))
    return QueryTerms(
        words={word: 1 + log(count) for word, count in counts.items()},
        path_words=dict.fromkeys(words(" ".join(files)), 1.0),
        keys=keys,
        identifiers=frozenset(identifiers(f"{stressed} \n {said}")),
        areas=frozenset(area_keys(files)),
    )


def _together(*texts: str) -> str:
    return " \n ".join(text[:_MOST_CHARACTERS] for text in texts)


def _tickets_named_in(text: str) -> list[str]:
    """Pick what looks like the id of a ticket that this work follows up: ``app-12``, ``#12``."""
    found: dict[str, None] = {}
    for word in text.split():
        name = word.strip(_AROUND_IDS)
        if ("-" in name or name.startswith("#")) and any(map(str.isdigit, name)):
            found[name] = None
            found[name.removeprefix("#")] = None
    return list(found)[:_MOST_NAMED_TICKETS]


def asked_in(prompt: str) -> str:
    """Take of a prompt what is searched for: all of it, or the ends of a very long one."""
    if len(prompt) <= 2 * _LONGEST_END:
        return prompt
    return f"{prompt[:_LONGEST_END]}\n{prompt[-_LONGEST_END:]}"


def files_named_in(text: str) -> tuple[str, ...]:
    """Pick what looks like a file's path or name."""
    found: dict[str, None] = {}
    for word in text.split():
        path = word.strip(_AROUND_PATHS).rstrip(".").removeprefix("@").removeprefix("./")
        # A line number may follow, as compilers write it.
        path = path.partition(":")[0] if "://" not in path else ""
        if _is_path(path):
            found[path] = None
            if len(found) == _MOST_NAMED_FILES:
                break
    return tuple(found)


def _is_path(path: str) -> bool:
    # Learnings name files as the project sees them; `path=/api/v1` stands in logs.
    if path.startswith("/") or "=" in path:
        return False
    directory, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if dot and stem and suffix.isalnum() and not suffix.isdigit():
        return len(suffix) <= _LONGEST_SUFFIX
    # Words with a stroke between, such as "and/or", are no path; two strokes mostly make one.
    return bool(name) and directory.count("/") >= 1 and not directory.startswith("//")
