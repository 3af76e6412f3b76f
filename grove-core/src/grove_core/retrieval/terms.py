"""What texts are made into before they are compared: terms of letters and digits only."""

import re
from zlib import crc32

from grove_core.stemmer import STOP_WORDS, stems

# A word, or words held together as in `read_file`, `os.path`, `crates/uv-client/src/lib.rs`.
_CHUNK = re.compile(r"[^\W_]+(?:[_\-./:\\]+[^\W_]+)*")
# Where such a script meets Latin letters, as in a sentence that names a program.
# Compiled where it is needed: that takes longer than a search.
_SCRIPT_CHANGE = "(?<=[A-Za-z0-9])(?=[\u0900-\uffef])|(?<=[\u0900-\uffef])(?=[A-Za-z0-9])"
_SEGMENT_END = re.compile(r"[./:\\]+")
_PART_END = re.compile(r"[_\-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SHORTEST = 2
_LONGEST = 64
"""Longer ones are encoded data; the beginning tells them apart well enough."""
_MOST_SEGMENTS = 4
"""A whole of more segments is a path or an address, which is matched as such or not at all."""
# From here on (Indic scripts, Thai, Chinese, Japanese, Korean) words are not told by blanks, or are
# cut up by marks that are no letters: two neighbours at a time stand for them.
_FIRST_BY_PAIRS = "\u0900"


def words(text: str) -> list[str]:
    """Pick the terms of a text in order."""
    found: list[str] = []
    for chunk in _chunks(text):
        if chunk.isalpha() and chunk.isascii() and (chunk.islower() or chunk.istitle()):
            _add(chunk, found)
            continue
        segments = _SEGMENT_END.split(chunk)
        if 1 < len(segments) <= _MOST_SEGMENTS:
            _add("".join(filter(str.isalnum, chunk)), found)
        for segment in segments:
            parts = _PART_END.split(segment)
            if len(parts) > 1:
                _add("".join(parts), found)
            for part in parts:
                _add(part, found)
    return _stemmed(found)


def identifiers(text: str) -> list[str]:
    """Pick the terms of a text that are written together of several words."""
    found: list[str] = []
    for chunk in _chunks(text):
        if chunk.islower() and chunk.isalpha():
            continue
        for segment in _SEGMENT_END.split(chunk):
            parts = _PART_END.split(segment)
            if len(parts) > 1:
                _add("".join(parts), found)
    return _stemmed(found)


def _stemmed(found: list[str]) -> list[str]:
    known = stems(found)
    return [known[word] for word in found]


def key(kind: str, value: str) -> str:
    """Make one term of something that is looked for as a whole."""
    text = f"{kind}:{value}".encode("utf-8", "surrogatepass")
    return f"k{crc32(text):08x}{crc32(text[::-1]) & 0xFFFFFF:06x}"


def _chunks(text: str) -> list[str]:
    if not text.isascii():
        from unicodedata import normalize

        text = re.sub(_SCRIPT_CHANGE, " ", normalize("NFKC", text))
    return _CHUNK.findall(text)


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
