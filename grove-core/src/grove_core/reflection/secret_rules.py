"""Find what is or holds a secret: the rules of detect-secrets and of `data/secrets.toml`."""

import base64
import binascii
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html import unescape
from itertools import pairwise
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from grove_core.reflection.data_files import load_toml

# Some rules of detect-secrets try every start against every end: long lines are cut, with overlap.
_WINDOW: Final = 2_000
_OVERLAP: Final = 600

Hit = tuple[str, int, int]
"""What was found, and where its value starts and ends."""


class _Rule(NamedTuple):
    kind: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool]

    def find(self, text: str) -> Iterator[Hit]:
        for match in self.pattern.finditer(text):
            start, end = _span(match)
            if self.check(text[start:end]) and not _is_made_up(text, start, end):
                yield self.kind, start, end


@cache
def _rules() -> tuple[list[_Rule], list[_Rule]]:
    """Compile the rules for lines, and those for a whole text."""
    data = load_toml("secrets.toml")
    for_lines: list[_Rule] = []
    for_texts: list[_Rule] = []
    for one in data["rule"]:
        regex = one["regex"]
        for name, fragment in data["fragments"].items():
            regex = regex.replace(f"<<{name}>>", fragment)
        rule = _Rule(one["name"], re.compile(regex), _CHECKS[one.get("check", "no_example")])
        (for_texts if one.get("over_lines") else for_lines).append(rule)
    return for_lines, for_texts


@cache
def _values() -> Mapping[str, re.Pattern[str]]:
    values = load_toml("secrets.toml")["values"]
    return {
        name: re.compile(regex if isinstance(regex, str) else "|".join(regex))
        for name, regex in values.items()
    }


@cache
def _placeholder_words() -> frozenset[str]:
    return frozenset(load_toml("secrets.toml")["placeholder_words"].split())


@cache
def _plugins() -> tuple[Any, ...]:
    """Make the rules of detect-secrets."""
    with warnings.catch_warnings():
        # requests complains about versions of what it stands on; nothing of it is used here.
        warnings.simplefilter("ignore")
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

        known: Mapping[str, Any] = get_mapping_from_secret_type_to_class()
    without = load_toml("secrets.toml")["detect_secrets_without"]
    return tuple(plugin() for kind, plugin in known.items() if kind not in without)


def detect(text: str) -> Iterator[Hit]:
    """Find everything in a text that is or holds a secret."""
    yield from _detect_plain(text)
    unescaped = _without_escapes(text)
    if unescaped is not None:
        whole, places = unescaped
        for kind, start, end in _detect_plain(whole):
            yield kind, places[start], places[end]
    for decoded, start, end in _base64_texts(text):
        for kind, _, _ in _detect_plain(decoded):
            yield f"{kind} in base64", start, end
            break


def _detect_plain(text: str) -> Iterator[Hit]:
    for_lines, for_texts = _rules()
    for rule in for_texts:
        yield from rule.find(text)
    for start, window in _windows(text):
        for rule in for_lines:
            for kind, at, end in rule.find(window):
                yield kind, start + at, start + end
        for plugin in _plugins():
            for value in set(plugin.analyze_string(window)):
                if _is_plausible(value):
                    at = start + window.find(value)
                    yield plugin.secret_type, at, at + len(value)


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Return the lines with their places, long ones in pieces."""
    start = 0
    for line in text.split("\n"):
        for at in range(0, max(len(line) - _OVERLAP, 1), _WINDOW - _OVERLAP):
            yield start + at, line[at : at + _WINDOW]
        start += len(line) + 1


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Find where the value is; the marks that end a sentence are not part of a bare one."""
    groups = match.groupdict()
    named = (name for name in ("double", "single", "back", "exact", "bare") if groups.get(name))
    name = next(named, None)
    if name is None:
        return match.span(min(match.re.groups, 1))
    start, end = match.span(name)
    if name == "bare":
        # A generated password may end in such a mark; with it the value is masked whole.
        end = start + (len(_stripped(groups[name])) or len(groups[name]))
    return start, end


def _stripped(value: str) -> str:
    while _values()["end_of_prose"].search(value):
        opening = {")": "(", "]": "[", "}": "{"}.get(value[-1])
        if opening and value.count(opening) >= value.count(value[-1]):
            break
        value = value[:-1]
    return value


# --- encodings ------------------------------------------------------------------------------------

_ESCAPE: Final = re.compile(r"\\(?P<marked>[_*~.-])|(?P<percent>%[2-7][0-9A-Fa-f])|&#x?\w{1,4};")
_BASE64: Final = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}(?:\n[A-Za-z0-9+/_-]{8,})*={0,2}"
)
_TO_STANDARD: Final = str.maketrans("-_", "+/", "\n=")


def _without_escapes(text: str) -> tuple[str, list[int]] | None:
    r"""Read a text as its reader does: ``ghp\_``, ``ghp%5F``, ``ghp&#95;`` and wide letters."""
    if text.isascii() and not _ESCAPE.search(text):
        return None
    read: list[str] = []
    places: list[int] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        read.extend(map(_narrow, text[end : match.start()]))
        places.extend(range(end, match.start()))
        end = match.end()
        plain = match["marked"] or unquote(match["percent"] or "") or unescape(match[0])
        read.extend(plain)
        places.extend([match.start()] * len(plain))
    read.extend(map(_narrow, text[end:]))
    places.extend(range(end, len(text) + 1))
    whole = "".join(read)
    return None if whole == text else (whole, places)


def _narrow(character: str) -> str:
    """Return the usual form of a character, where it is one character as well."""
    usual = character if character.isascii() else unicodedata.normalize("NFKC", character)
    return usual if len(usual) == 1 else character


def _base64_texts(text: str) -> Iterator[tuple[str, int, int]]:
    """Find what is base64 of plain text."""
    for match in _BASE64.finditer(text):
        letters = match[0].translate(_TO_STANDARD)
        # One letter too many, as in a run that was cut, is six bits and no byte.
        decoded = _decode(letters[: len(letters) - (len(letters) % 4 == 1)], "ascii")
        if decoded and all(one.isprintable() or one in "\t\n\r" for one in decoded):
            yield decoded, *match.span()


def _decode(letters: str, encoding: str) -> str | None:
    try:
        whole = letters + "=" * (-len(letters) % 4)
        return base64.b64decode(whole, validate=True).decode(encoding)
    except (binascii.Error, UnicodeDecodeError):
        return None


# --- what a value looks like ----------------------------------------------------------------------

_SYMBOLS: Final = frozenset("!@#$%^&*?+~|=")
_SHORTEST_PASSWORD: Final = 6
_SHORTEST_TOKEN: Final = 12
_LONGEST_WORD: Final = 15
_LETTERS_PER_TURN: Final = 3.5
_LEAST_CHECKED: Final = 4
_LONG: Final = 20
# Between letters and digits: names of algorithms have fewer, random texts more.
_TURNS: Final = 4


def _is(kind: str, value: str) -> bool:
    return _values()[kind].fullmatch(value) is not None


def _has(kind: str, value: str) -> bool:
    return _values()[kind].search(value) is not None


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _is_plausible(value: str) -> bool:
    """Leave out what detect-secrets has found and is no secret all the same."""
    return not _has("example", value) and not _is_placeholder(value) and _has_digit(value)


def _is_made_up(text: str, start: int, end: int) -> bool:
    made_up = _values()["made_up"].fullmatch(text, start, end)
    return bool(made_up and _values()["in_tests"].match(text, end))


def _is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret and is none."""
    if _has("placeholder", value) or _is_elided(value):
        return True
    words = _values()["words"].findall(value)
    if not words or not _SYMBOLS.isdisjoint(value):
        return False
    return all(word.lower() in _placeholder_words() for word in words)


def _is_elided(value: str) -> bool:
    """Tell a value with its middle or an end left out from one that happens to repeat itself."""
    if _has("example_word", value):
        return True
    left = _values()["elided"].split(value)
    return len(left) > 1 and not (left[0] and left[-1] and _is("mixed", "".join(left)))


def _is_password(value: str) -> bool:
    """Return whether a value can be a password that a person or a generator has chosen."""
    if len(value) < _SHORTEST_PASSWORD or _is_placeholder(value) or _has("location", value):
        return False
    if value.isalpha():
        return len(value) > _LONGEST_WORD or _is_shuffled(value)
    if not any(map(str.isalpha, value)):
        return False
    said = _without_terms(value)
    if _is("name", said):
        # `hunter2` is a password and `db-credentials` a name; joints tell them apart.
        return _has_digit(said) and (said.isalnum() or _is("dated", value))
    return _has_digit(said) or not _SYMBOLS.isdisjoint(value)


def _is_token(value: str) -> bool:
    """Return whether a value can be a token or a key made by a machine."""
    if len(value) < _SHORTEST_TOKEN or _is_placeholder(value) or _has("location", value):
        return False
    if not value.isascii() or _has("cut", value) or any(map(str.isspace, value)):
        return False
    said = _without_terms(value)
    if _is("class", said):
        return False
    if not _has_digit(value):
        return value.isalpha() and _is_shuffled(value)
    return any(map(str.isalpha, value)) and not _is("name", said)


def _is_strong(value: str) -> bool:
    """Tell a secret from a word where prose may follow as well."""
    if value.isalnum() and len(value) >= _LONG:
        turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(value))
        return turns >= _TURNS and _is_token(value)
    said = _without_terms(value)
    if not (_is_password(value) and _has_digit(said) and any(map(str.isalpha, said))):
        return False
    shuffled = said != said.lower() and said.isalnum() and not _is("word_and_number", said)
    return shuffled or (not _SYMBOLS.isdisjoint(said) and "/" not in said)


def _is_basic(value: str) -> bool:
    """Return whether the value of ``Authorization: Basic`` holds a user and a password."""
    _, colon, password = (_decode(value.rstrip("="), "utf-8") or "").partition(":")
    return bool(colon) and len(password) >= _LEAST_CHECKED and not _is_placeholder(password)


def _without_terms(value: str) -> str:
    """Put an ``x`` for each term of the trade that has digits: ``sha256``, ``UTF-16LE``."""
    return _values()["terms"].sub("x", value)


def _is_shuffled(letters: str) -> bool:
    """Tell letters in random case from words joined in camel case."""
    turns = sum(first.islower() and second.isupper() for first, second in pairwise(letters))
    return len(letters) >= _SHORTEST_TOKEN and turns * _LETTERS_PER_TURN >= len(letters)


_CHECKS: Final[Mapping[str, Callable[[str], bool]]] = {
    "any": lambda _: True,
    "no_example": lambda value: not _has("example", value),
    "no_placeholder": lambda value: not _is_placeholder(value),
    "password": _is_password,
    "token": _is_token,
    "strong": _is_strong,
    "machine_made": lambda value: value.isalnum() and _is_strong(value),
    "word_and_year": lambda value: _is("word_and_year", _without_terms(value)),
    "basic": _is_basic,
}
