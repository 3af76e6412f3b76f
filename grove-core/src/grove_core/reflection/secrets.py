"""Secrets in texts that grove is about to write, by detect-secrets and `data/secrets.toml`."""

import base64
import binascii
import re
import unicodedata
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import unescape
from itertools import pairwise
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from attrs import evolve

from grove_core.errors import ReflectionError
from grove_core.model.learning import Rejection
from grove_core.reflection import load_toml
from grove_core.reflection.candidates import LEARNING_FIELDS
from grove_core.reflection.submission import Reference, Submission
from grove_core.text import one_line, remove_invisible

_DIGEST_LENGTH: Final = 16
_SHOWN: Final = 4
# Of a value shorter than this the first characters would tell too much.
_SHOWN_FROM: Final = 20
# Longer texts are refused for their length; this much covers what their refusal can quote.
_LONGEST: Final = 10_000
# Some rules of detect-secrets try every start against every end: long lines are cut, with overlap.
_WINDOW: Final = 2_000
_OVERLAP: Final = 600


class FoundSecret(NamedTuple):
    """A secret in a text."""

    kind: str
    value: str

    @property
    def digest(self) -> str:
        """What lets it pass in ``secrets.allow``."""
        content = self.value.encode("utf-8", "surrogatepass")
        return sha256(content).hexdigest()[:_DIGEST_LENGTH]

    @property
    def masked(self) -> str:
        """The little of it that may be shown."""
        shown = self.value[:_SHOWN] if len(self.value) >= _SHOWN_FROM else ""
        return f"{shown}*** ({len(self.value)} characters)"


def find_leak(value: Any, allowed: Container[str], field: str = "") -> Rejection | None:  # noqa: ANN401 - any JSON value
    """Object to the first secret in a text, or in the texts and names of a JSON value."""
    for name, text in _texts(value, field):
        bounded = text if len(text) <= _LONGEST else one_line(remove_invisible(text))[:_LONGEST]
        for secret in find_secrets(bounded):
            if secret.digest not in allowed:
                reason = (
                    f"{name}: holds what looks like a secret ({secret.kind}: {secret.masked}):"
                    " leave the value out and say where it is kept, and change it if it is in use;"
                    f" if it is none, add {secret.digest} to secrets.allow in .grove/config.toml"
                )
                return Rejection(reason=reason, field=name)
    return None


def _texts(value: Any, field: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON value
    """Walk through all texts of a JSON value; of a nested field its outermost name counts."""
    waiting: list[tuple[str, Any]] = [(field, value)]
    while waiting:
        name, one = waiting.pop(0)
        if isinstance(one, str):
            yield name or "the candidate", one
        elif isinstance(one, list):
            waiting.extend((name, entry) for entry in one)
        elif isinstance(one, dict):
            for key, entry in one.items():
                yield "the name of a field", key
                if key in LEARNING_FIELDS:
                    waiting.append((name or key, entry))
                    continue
                inner = name or "an unknown field"
                # `"password": "..."` is a secret for its name.
                waiting.append((inner, f"{key}: {entry}" if isinstance(entry, str) else entry))


def without_secrets(
    submission: Submission, allowed: Container[str]
) -> tuple[Submission, tuple[str, ...]]:
    """Leave out what a submission says besides its candidates where it holds a secret."""
    left_out: list[str] = []

    def safe(text: str | None, field: str) -> str | None:
        leak = find_leak(text, allowed, field)
        if leak is None:
            return text
        left_out.append(f"{leak.reason}; it was left out")
        return None

    def safe_references(
        every: Sequence[Reference], name: str, remark: str
    ) -> tuple[Reference, ...]:
        named = [one for one in every if safe(one.id, f"{name}.id")]
        return tuple(evolve(one, remark=safe(one.remark, f"{name}.{remark}")) for one in named)

    name = "the name of an unknown field"
    cleaned = evolve(
        submission,
        learnings_used=safe_references(submission.learnings_used, "learnings_used", "how"),
        corrections=safe_references(submission.corrections, "corrections", "why"),
        ratings=tuple(one for one in submission.ratings if safe(one.learning_id, "ratings.id")),
        notes=safe(submission.notes, "notes") or "",
        nothing_learned=safe(submission.nothing_learned, "nothing_learned"),
        unknown_fields=tuple(one for one in submission.unknown_fields if safe(one, name)),
    )
    return cleaned, tuple(left_out)


# --- finding --------------------------------------------------------------------------------------

_ESCAPE: Final = re.compile(r"\\(?P<marked>[_*~.-])|(?P<percent>%[2-7][0-9A-Fa-f])|&#x?\w{1,4};")
_BASE64: Final = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}(?:\n[A-Za-z0-9+/_-]{8,})*={0,2}"
)
# Where a token was cut in two: by the end of a line, or into strings that are added.
_SEAM: Final = re.compile(r"""["']\s{0,9}\+?\s{0,9}["']|(?<=\w)\n(?=\w)""")
_TO_STANDARD: Final = str.maketrans("-_", "+/", "\n=")


class _Rule(NamedTuple):
    kind: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool]
    is_over_lines: bool
    is_form: bool
    """It goes by a provider's form alone, so that a secret is found whatever stands around it."""

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        for match in self.pattern.finditer(text):
            start, end = _span(match)
            made_up = _form("made_up").fullmatch(text, start, end)
            in_tests = made_up and _form("in_tests").match(text, end)
            if self.check(text[start:end]) and not in_tests:
                yield start, end, self.kind


@cache
def _rules() -> list[_Rule]:
    data = load_toml("secrets.toml")
    rules: list[_Rule] = []
    for one in data["rule"]:
        regex = one["regex"]
        for name, fragment in data["fragments"].items():
            regex = regex.replace(f"<<{name}>>", fragment)
        check = _CHECKS[one.get("check", "no_example")]
        rules.append(
            _Rule(one["name"], re.compile(regex), check, "over_lines" in one, "source" in one)
        )
    return rules


@cache
def _plugins() -> Sequence[Any]:
    """Make the rules of detect-secrets."""
    try:
        with warnings.catch_warnings():
            # requests complains about versions of what it stands on; nothing of it is used here.
            warnings.simplefilter("ignore")
            from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

            known: Mapping[str, Any] = get_mapping_from_secret_type_to_class()
    except ImportError as error:
        raise ReflectionError(
            f"texts cannot be checked for secrets, so none is stored: {error}; install grove-core"
            " again with its dependencies"
        ) from error
    without = load_toml("secrets.toml")["detect_secrets_without"]
    return [plugin() for kind, plugin in known.items() if kind not in without]


def find_secrets(text: str) -> Sequence[FoundSecret]:
    """Find keys, tokens, private keys and passwords in a text, also in what it encodes."""
    if len(text) < _SHOWN:
        return []
    visible = remove_invisible(text)
    found = _find_plain(visible)
    if (read := _without_escapes(visible)) != visible:
        known = {_without_escapes(one.value) for one in found}
        found |= {one: None for one in _find_plain(read) if one.value not in known}
    for encoded, decoded in _base64_texts(visible):
        kinds = [one.kind for one in _find_plain(decoded)]
        if kinds:
            found[FoundSecret(f"{kinds[0]} in base64", encoded)] = None
    if not found and (joined := _SEAM.sub("", visible)) != visible:
        for rule in (one for one in _rules() if one.is_form and not one.is_over_lines):
            values = (joined[start:end] for start, end, _ in rule.find(joined))
            found |= {FoundSecret(rule.kind, one): None for one in values if one not in visible}
    return list(found)


def _find_plain(text: str) -> dict[FoundSecret, None]:
    """Find the secrets of a text in their order; of two that overlap, the first and longer one."""
    covered = 0
    found: dict[FoundSecret, None] = {}
    for start, end, kind in sorted(_detect(text), key=lambda hit: (hit[0], -hit[1])):
        if start >= covered:
            covered = end
            found[FoundSecret(kind, text[start:end])] = None
    return found


def _detect(text: str) -> Iterator[tuple[int, int, str]]:
    for rule in _rules():
        if rule.is_over_lines:
            yield from rule.find(text)
    for place, window in _windows(text):
        for rule in _rules():
            if not rule.is_over_lines:
                for start, end, kind in rule.find(window):
                    yield place + start, place + end, kind
        for plugin in _plugins():
            for value in set(plugin.analyze_string(window)):
                example = _has("example", value) or _is_placeholder(value)
                if not example and _has_digit(value):
                    start = place + window.find(value)
                    yield start, start + len(value), plugin.secret_type


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
    while _has("end_of_prose", value):
        opening = {")": "(", "]": "[", "}": "{"}.get(value[-1])
        if opening and value.count(opening) >= value.count(value[-1]):
            break
        value = value[:-1]
    return value


def _without_escapes(text: str) -> str:
    r"""Read a text as its reader does: ``ghp\_``, ``ghp%5F``, ``ghp&#95;`` and wide letters."""

    def plain(match: re.Match[str]) -> str:
        return match["marked"] or unquote(match["percent"] or "") or unescape(match[0])

    return unicodedata.normalize("NFKC", _ESCAPE.sub(plain, text))


def _base64_texts(text: str) -> Iterator[tuple[str, str]]:
    """Find what is base64 of plain text, and the text."""
    for match in _BASE64.finditer(text):
        letters = match[0].translate(_TO_STANDARD)
        # One letter too many, as in a run that was cut, is six bits and no byte.
        decoded = _decode(letters[: len(letters) - (len(letters) % 4 == 1)], "ascii")
        if decoded and all(one.isprintable() or one in "\t\n\r" for one in decoded):
            yield match[0], decoded


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


@cache
def _form(name: str) -> re.Pattern[str]:
    regex = load_toml("secrets.toml")["values"][name]
    return re.compile(regex if isinstance(regex, str) else "|".join(regex))


@cache
def _placeholder_words() -> frozenset[str]:
    return frozenset(load_toml("secrets.toml")["placeholder_words"].split())


def _is(form: str, value: str) -> bool:
    return _form(form).fullmatch(value) is not None


def _has(form: str, value: str) -> bool:
    return _form(form).search(value) is not None


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret and is none."""
    if _has("placeholder", value) or _has("example_word", value):
        return True
    # Its middle or an end is left out, or it happens to repeat itself.
    left = _form("elided").split(value)
    if len(left) > 1 and not (left[0] and left[-1] and _is("mixed", "".join(left))):
        return True
    words = _form("words").findall(value)
    if not words or not _SYMBOLS.isdisjoint(value):
        return False
    return all(word.lower() in _placeholder_words() for word in words)


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
    return _form("terms").sub("x", value)


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
