"""Texts that give orders to the agent that reads them, also in disguise."""

import codecs
import re
import unicodedata
from base64 import b64decode
from binascii import Error, unhexlify
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from grove_core.model.learning import Candidate, Rejection
from grove_core.reflection import load_toml

_CODE: Final = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED: Final = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])[\s)\"]+|\n|(?<=[。！？])|<!--|-->|</?\w+>")  # noqa: RUF001 - meant
_BULLET: Final = re.compile(r"^[\s>#*+•-]+|^\s*\d{1,3}[.)] ")
_ESCAPE: Final = re.compile(r"\[\d{0,3}(?:;\d{1,3})*m")
_NEGATION: Final = re.compile(
    r"\b(?:never|not|no longer|cannot|nobody|instead of|avoid|without)\b|n't\b"
)
_ENCODED: Final = re.compile(r"(?:[0-9a-f]{2}){16,}|[A-Za-z0-9+/]{24,}={0,2}")
_PART: Final = re.compile(r"<<(\w+)>>")
_LEET: Final = str.maketrans("013457", "oieast")
_LEET_WORD: Final = re.compile(r"\b(?=\w*[a-z])(?=\w*[013457])\w{2,}\b")
_ENGLISH: Final = re.compile(r"\b(?:all|and|the|to|you|your|not|run|user|rules)\b")
_LONG_NAME: Final = re.compile(r"\w+(?:[-_]\w+){3,}")
_DECODED_WORDS_MIN: Final = 2
_REASON: Final = (
    "It tells the agent who reads it what to do ({said}). Say what is true of the project:"
    ' "… fails when …", not "do …".'
)
_SAID_LENGTH: Final = 40


def find_instruction(candidate: Candidate) -> Rejection | None:
    """Object to a candidate that gives orders against the reader's user or rules."""
    tags = " ".join(one.replace("-", " ") for one in candidate.tags)
    text = "\n".join((candidate.summary, candidate.detail, tags, *candidate.context_files))
    said = next(_orders(_ESCAPE.sub("", text)), None)
    if said is None:
        return None
    quoted = " ".join(said.split())
    shown = quoted if len(quoted) <= _SAID_LENGTH else f"{quoted[: _SAID_LENGTH - 1]}…"
    return Rejection(reason=_REASON.format(said=f'"{shown}"'), field="detail")


def _orders(text: str) -> Iterator[str]:
    """Find what is an order, in the words of the text."""
    patterns = _patterns()
    yield from _disguised(text)
    for sentence in _sentences(unicodedata.normalize("NFKC", text)):
        unquoted = _QUOTED.sub(" … ", sentence)
        is_endorsed = any(one.search(unquoted) for one in patterns["endorsed"])
        spoken = sentence if is_endorsed else unquoted
        for pattern in patterns["anywhere"]:
            if found := pattern.search(spoken):
                yield found.group()
        for pattern in patterns["denied"]:
            found = pattern.search(spoken)
            if found and not _NEGATION.search(spoken[: found.start() + 1]):
                yield found.group()


def _sentences(text: str) -> Iterator[str]:
    """Take a text apart, and read each sentence in the ways in which one may be hidden as well."""
    for line in _SENTENCE_END.split(text.replace("’", "'")):
        plain = " ".join(_BULLET.sub("", line or "").replace("`", "").lower().split())
        leet = _LEET_WORD.sub(lambda match: match[0].translate(_LEET), plain)
        spaced = _LONG_NAME.sub(lambda match: match[0].replace("-", " ").replace("_", " "), plain)
        turned = filter(_ENGLISH.search, (plain[::-1], codecs.encode(plain, "rot13")))
        yield from dict.fromkeys(filter(None, (plain, leet, spaced, *turned)))


def _disguised(text: str) -> Iterator[str]:
    """Find what is written so that it does not look like an order."""
    outside = _CODE.sub(" ", text)
    for pattern in _patterns()["form"]:
        if found := pattern.search(outside):
            yield found.group()
    for word in re.findall(r"\w{3,}", text):
        if not word.isascii() and len({*map(_script, filter(str.isalpha, word))}) > 1:
            yield word
    for encoded in _ENCODED.findall(text):
        if len(_decoded(encoded).split()) >= _DECODED_WORDS_MIN:
            yield encoded


def _script(letter: str) -> str:
    """Return the alphabet of a letter, as far as one may be mistaken for another."""
    if letter.isascii():
        return "LATIN"
    name = unicodedata.name(letter, "").partition(" ")[0]
    return name if name in {"CYRILLIC", "GREEK", "CHEROKEE", "ARMENIAN"} else "LATIN"


def _decoded(encoded: str) -> str:
    """Return what an encoded text says, empty if it is no text."""
    for decode in (unhexlify, b64decode):
        try:
            text = decode(encoded).decode("ascii")
        except (Error, ValueError):
            continue
        if text.isprintable():
            return text
    return ""


@cache
def _patterns() -> dict[str, list[re.Pattern[str]]]:
    """Compile the patterns of the rules, apart by whether a denial makes them harmless."""
    data = load_toml("instructions.toml")
    found: dict[str, list[re.Pattern[str]]] = {
        "form": [*map(re.compile, data["form"]["patterns"])],
        "endorsed": [re.compile(data["quotation"]["endorsed"])],
    }
    for rule in data["rules"]:
        group = found.setdefault("denied" if rule.get("unless_denied") else "anywhere", [])
        group += (re.compile(_whole(one, data["parts"])) for one in rule["patterns"])
    return found


def _whole(pattern: str, parts: Mapping[str, str]) -> str:
    """Put the parts in, which may have parts themselves."""
    whole = _PART.sub(lambda match: parts[match[1]], pattern)
    return whole if whole == pattern else _whole(whole, parts)
