"""Whether a value that stands where a secret could stand can be one.

Lessons speak of secrets without giving any: placeholders, references to variables, names, words of
prose. An entropy threshold alone takes checksums for secrets and lets passwords pass, so this looks
at what the value is made of.
"""

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
_REPEATED: Final = re.compile(r"(.)\1*", re.DOTALL)
_ELIDED: Final = re.compile(r"\.\.\.|…|\*{3,}|x{4,}|0{8,}|_{4,}|EXAMPLE", re.IGNORECASE)
# References: ${X}, $X, %X%, {x}, {{ x }}, <x>, #{x}, @x, (x), [x].
_TEMPLATE_MARKS: Final = re.compile(
    r"^\$\w|\$[{(]|\$[A-Z][A-Z_]{2}|%\w+%|[{}<>()\[\]]|^[@&*][A-Za-z]+$"
)
_VARIABLE: Final = re.compile(r"[A-Z][A-Z_]*")
# Names, paths and references: words with a short number at the end, between the usual joints.
_WORD: Final = r"(?:[A-Za-z]+\d{0,2}|\d{1,14}|v\d+)"
_NAME: Final = re.compile(rf"[./:~_-]*{_WORD}(?:[./:_=,+-]+{_WORD})*[./:_-]*")
_LOCATION: Final = re.compile(r"://|^(?:arn|urn|ref|env|vault|file|sha\d+):")
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SYMBOLS: Final = frozenset("!@#$%^&*?+~|=")

_SHORTEST_PASSWORD: Final = 6
_SHORTEST_TOKEN: Final = 12
_LONGEST_WORD: Final = 15
_LETTERS_PER_TURN: Final = 3.5


def is_placeholder(value: str) -> bool:
    """Tell whether a value stands for a secret and is none.

    Args:
        value: What stands where a secret could stand.

    Returns:
        Whether it is a template, a variable's name, elided, one repeated character, or made of the
        words that examples are made of.
    """
    if not any(character.isalnum() for character in value):
        return True
    if _ELIDED.search(value) or _TEMPLATE_MARKS.search(value):
        return True
    if _REPEATED.fullmatch(value) or _VARIABLE.fullmatch(value):
        return True
    words = _WORDS.findall(value)
    if not words or not _SYMBOLS.isdisjoint(value):
        return False
    return all(word.lower() in _PLACEHOLDER_WORDS for word in words)


def is_password(value: str) -> bool:
    """Tell whether a value can be a password that a person or a generator has chosen.

    Args:
        value: What stands where a password stands.

    Returns:
        Whether it has six characters or more of at least two kinds and is no name and no word.
    """
    if len(value) < _SHORTEST_PASSWORD or is_placeholder(value) or _LOCATION.search(value):
        return False
    if value.isalpha():
        return len(value) > _LONGEST_WORD or _is_shuffled(value)
    has_letter = any(character.isalpha() for character in value)
    has_digit = any(character.isdigit() for character in value)
    if not has_letter:
        return False
    if _NAME.fullmatch(value):
        # `hunter2` is a password and `db-credentials` a name; joints tell them apart.
        return has_digit and value.isalnum()
    return has_digit or not _SYMBOLS.isdisjoint(value)


def is_token(value: str) -> bool:
    """Tell whether a value can be a token or a key made by a machine.

    Args:
        value: What stands where a token stands.

    Returns:
        Whether it has twelve characters or more, without blanks, and is no name.
    """
    if len(value) < _SHORTEST_TOKEN or is_placeholder(value) or _LOCATION.search(value):
        return False
    if not value.isascii() or any(character.isspace() for character in value):
        return False
    letters = sum(character.isalpha() for character in value)
    digits = sum(character.isdigit() for character in value)
    if not digits:
        return value.isalpha() and _is_shuffled(value)
    return letters > 0 and not _NAME.fullmatch(value)


def _is_shuffled(letters: str) -> bool:
    """Tell letters in random case from words joined in camel case."""
    turns = sum(first.islower() and second.isupper() for first, second in pairwise(letters))
    return len(letters) >= _SHORTEST_TOKEN and turns * _LETTERS_PER_TURN >= len(letters)
