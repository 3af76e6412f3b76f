"""Whether a value that stands where a secret could stand can be one."""

import re
from itertools import pairwise
from typing import Final

_PLACEHOLDER_WORDS: Final = frozenset(
    """a abc access admin alice all an and any api app apikey argon auth basic baz bar bcrypt bearer
    bob change changed changeit changeme client correct credential credentials db deleted demo dev
    docker dummy empty enter env example expired fake false fill foo from goes guest here host id in
    incorrect insert invalid is key letmein local localhost login md me missing mock my mysql name
    new nil none not null of old optional pass passphrase password passwd pbkdf placeholder please
    postgres provided put pw pwd qwerty rabbitmq redacted redis replace replaceme required root
    sample scrypt secret set sha some something stub super test testing the this to todo token true
    type undefined unset user username value with wrong xxx your yourself""".split()
)
_EXAMPLE: Final = re.compile("EXAMPLE", re.IGNORECASE)
_ELIDED: Final = re.compile(r"\.\.\.|…|\*{3,}|x{4,}|0{8,}|_{4,}", re.IGNORECASE)
_CUT: Final = re.compile(r"\.\.\.|…|\*{3,}")
_MIXED: Final = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{8,}", re.DOTALL)
# References, each with its name: $X, ${X}, $(x), {{ x }}, {x}, <x>, [x], %X%, @x. A bracket alone
# is a character of a password like any other. Some are cut at their first blank.
_TEMPLATE: Final = re.compile(
    r"^\$[A-Za-z_]|^\$[{(]|\$\{[\w.:?!=-]+\}|\$[A-Z][A-Z_]{2}|^\{\{|\{\{[^}]*\}\}|%[A-Z_]{2,40}%"
    r"|^[@&*][A-Za-z]+$|^\{.*\}$|^<[\w .|-]+>$|^\(.*\)$|^\[.*\]$|^[{(\[<#]+[\w.:\"'-]*$"
    r"|\{[a-z][a-z_.]{1,60}\}|[<\[](?:[a-z][a-z_. -]{2,60}|[A-Z][A-Z_. -]{2,60})[>\]]"
)
_CODE_NAME: Final = re.compile(r"(?:\w+(?:\.|::|->))*\w*(?:[a-z_]{2}|[A-Z_]{3})\w*!?")
_CODE_REST: Final = re.compile(
    r"[A-Za-z_.&*:]*|[a-z_]+=\w*|.*[)\]>](?:\?|(?:[.:|]|->)+[\w.():|]*)?", re.DOTALL
)
_BRACKET: Final = re.compile(r"[(\[<]")
_REPEATED: Final = re.compile(r"(.)\1*", re.DOTALL)
_VARIABLE: Final = re.compile(r"[A-Z][A-Z_]*")
# Names, paths and references: words with a short number at the end, between the usual joints.
_WORD: Final = r"(?:[A-Za-z]+\d{0,2}|\d{1,14}|v\d+|\d{1,2}[a-z]{4,12})"
_NAME: Final = re.compile(rf"[./:~_-]*{_WORD}(?:[./:_=,+-]+{_WORD})*[./:_-]*")
# Terms that have a digit and say nothing: algorithms, encodings, versions, durations, rules.
_TERMS: Final = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=[a-z])(?=[A-Z]))(?i:utf-?\d{1,2}(?:le|be)?|base-?(?:32|58|64|85)(?:url)?"
    r"|sha-?\d{1,3}(?:-\d{3})?|md5|aes-?\d{3}|rsa-?\d{4}|[ehpr]s(?:256|384|512)|p-?(?:256|384|521)"
    r"|x25519|ed25519|secp256[kr]1|pbkdf2|argon2(?:id|i|d)?|rfc-?\d{3,5}|iso-?\d{3,5}|k8s|i18n|l10n"
    r"|oauth2|min(?:imum)?[_-]?(?:length|len|chars)?\d{1,3})(?![a-z0-9])"
    r"|(?<![A-Z0-9])V\d{1,2}(?![a-z0-9])"
    r"|(?<![A-Za-z0-9])P(?:\d{1,4}[YMWD])*(?:T(?:\d{1,4}[HMS])+)?(?![A-Za-z0-9])"
)
_CLASS: Final = re.compile(r"(?:[A-Z][a-z]{2,}){2,}")
# `summer-2024`, `prod_db_2024_pw`: names have numbers as well, but seldom of four digits.
_DATED: Final = re.compile(r"[A-Za-z_-]+[_-]\d{4}(?:[_-][A-Za-z_-]+)?")
_LOCATION: Final = re.compile(r"://|^(?:arn|urn|ref|env|vault|file|sha\d+):")
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SYMBOLS: Final = frozenset("!@#$%^&*?+~|=")

_SHORTEST_PASSWORD: Final = 6
_SHORTEST_TOKEN: Final = 12
_LONGEST_WORD: Final = 15
_LETTERS_PER_TURN: Final = 3.5


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret and is none."""
    if not any(character.isalnum() for character in value):
        return True
    if _is_elided(value) or _TEMPLATE.search(value) or _is_code(value):
        return True
    if _REPEATED.fullmatch(value) or _VARIABLE.fullmatch(value):
        return True
    words = _WORDS.findall(value)
    if not words or not _SYMBOLS.isdisjoint(value):
        return False
    return all(word.lower() in _PLACEHOLDER_WORDS for word in words)


def is_password(value: str) -> bool:
    """Return whether a value can be a password that a person or a generator has chosen."""
    if len(value) < _SHORTEST_PASSWORD or is_placeholder(value) or _LOCATION.search(value):
        return False
    if value.isalpha():
        return len(value) > _LONGEST_WORD or _is_shuffled(value)
    said = without_terms(value)
    has_digit = any(character.isdigit() for character in said)
    if not any(character.isalpha() for character in value):
        return False
    if _NAME.fullmatch(said):
        # `hunter2` is a password and `db-credentials` a name; joints tell them apart.
        return has_digit and (said.isalnum() or bool(_DATED.fullmatch(value)))
    return has_digit or not _SYMBOLS.isdisjoint(value)


def is_token(value: str) -> bool:
    """Return whether a value can be a token or a key made by a machine."""
    if len(value) < _SHORTEST_TOKEN or is_placeholder(value) or _LOCATION.search(value):
        return False
    if not value.isascii() or _CUT.search(value) or any(map(str.isspace, value)):
        return False
    said = without_terms(value)
    if _CLASS.fullmatch(said):
        return False
    letters = sum(character.isalpha() for character in value)
    digits = sum(character.isdigit() for character in value)
    if not digits:
        return value.isalpha() and _is_shuffled(value)
    return letters > 0 and not _NAME.fullmatch(said)


def without_terms(value: str) -> str:
    """Put an ``x`` for each term of the trade that has digits: ``sha256``, ``UTF-16LE``."""
    return _TERMS.sub("x", value)


def _is_elided(value: str) -> bool:
    """Tell a value with its middle or an end left out from one that happens to repeat itself."""
    if _EXAMPLE.search(value):
        return True
    left = _ELIDED.split(value)
    if len(left) == 1:
        return False
    return not (left[0] and left[-1] and _MIXED.fullmatch("".join(left)))


def _is_code(value: str) -> bool:
    """Tell a call, a subscript or a type, perhaps cut at a comma, from brackets in a password."""
    bracket = _BRACKET.search(value)
    if bracket is None or not _CODE_NAME.fullmatch(value[: bracket.start()]):
        return False
    return bool(_CODE_REST.fullmatch(value[bracket.end() :]))


def _is_shuffled(letters: str) -> bool:
    """Tell letters in random case from words joined in camel case."""
    turns = sum(first.islower() and second.isupper() for first, second in pairwise(letters))
    return len(letters) >= _SHORTEST_TOKEN and turns * _LETTERS_PER_TURN >= len(letters)
