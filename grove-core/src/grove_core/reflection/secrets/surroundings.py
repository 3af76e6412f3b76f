"""Secrets known by context: passwords in URLs, assignments, headers, options."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from grove_core.reflection.secrets.plausibility import (
    is_password,
    is_placeholder,
    is_token,
    without_terms,
)

Hit: TypeAlias = tuple[str, int, int]
"""What was found, and where its value starts and ends."""

_QUOTED: Final = (
    r"""(?:"(?P<double>[^"\n]{1,300})"|'(?P<single>[^'\n]{1,300})'|`(?P<back>[^`\n]{1,300})`"""
)
_VALUE: Final = _QUOTED + r"""|(?P<bare>[^\s"'`,;]{1,300}))"""
# Between a key and its value: `"password": "`, `['DB_PASSWORD'] = '`, `**Password:** `.
_ASSIGNS: Final = (
    r"""\\?["'`]?\]?\*{0,2}\s{0,4}(?:=>|:=|={1,3}|[:\uff1a]|→|->)\*{0,2}\s{0,4}\\?(?:\$(?=["']))?"""
)

_CALLED_SO: Final = (
    r"(?:password|passwd|passphrase|passwort|kennwort|contrase(?:ñ|n)a|mot de passe|wachtwoord"
    r"|senha|пароль|パスワード|密码|pwd|(?<=[_.-])pass|(?<![A-Za-z])pw)"
)
_CALLED_KEY: Final = (
    r"(?:(?:api|app|application|access|account|auth|client|encryption|master|private|secret|service"
    r"|shared|signing|admin|deploy|webhook|license|storage|jwt|hmac|session|encrypt|cookie)"
    r"[ _-]?key"
    r"|secret[_-]?key[_-]?base|secret|token|(?<=_)pat|credentials?|bearer|connection[_-]?string"
    r"|salt)"
)
# Tokens that are no secret: they mark a place, a form, an attempt.
_NOT_A_MARKER: Final = (
    r"(?![\w.-]{0,60}?(?:page|next|(?-i:[Ss]ync)|continuation|resume|cursor|csrf|xsrf"
    r"|idempotency|dedupe)"
    r"[_-]?(?:token|key))"
)
_KEY_START: Final = r"(?<![\w.-])"
_PASSWORD_ASSIGNED: Final = re.compile(
    rf"{_KEY_START}[\w.-]{{0,60}}?{_CALLED_SO}{_ASSIGNS}{_VALUE}", re.IGNORECASE
)
_TOKEN_ASSIGNED: Final = re.compile(
    rf"{_KEY_START}{_NOT_A_MARKER}[\w.-]{{0,60}}?{_CALLED_KEY}{_ASSIGNS}{_VALUE}",
    re.IGNORECASE,
)
# `pass: 12` counts tests as well.
_PASS_ASSIGNED: Final = re.compile(rf"{_KEY_START}pass{_ASSIGNS}{_VALUE}", re.IGNORECASE)
_TABLE_ROW: Final = re.compile(
    rf"\|[^|\n]{{0,60}}?(?:{_CALLED_SO}|{_CALLED_KEY})[^|\n]{{0,20}}\|\s{{0,20}}{_VALUE}",
    re.IGNORECASE,
)
_ATTRIBUTE: Final = r"\b(?:key|name)\s?=\s?[\"'][\w.:-]{0,60}?%s[\"']\s{1,4}value\s?=\s?" + _VALUE
_PASSWORD_ATTRIBUTE: Final = re.compile(_ATTRIBUTE % _CALLED_SO, re.IGNORECASE)
_TOKEN_ATTRIBUTE: Final = re.compile(_ATTRIBUTE % _CALLED_KEY, re.IGNORECASE)
_STATEMENT: Final = re.compile(
    r"(?:\bidentified\s+(?:with\s+[\w'\"]{1,40}\s+)?by\s+(?:password\s+)?"
    r"|\bconvertto-securestring\s+(?:-string\s+)?"
    rf"|-pass(?:in|out)?\s+pass:|\bopenssl\b[^\n]{{0,80}}?\s-k\s+"
    rf"|\bjdbc:oracle:\w{{1,8}}:\w{{1,40}}/){_VALUE}",
    re.IGNORECASE,
)
_COOKIE: Final = re.compile(
    r"\bcookie[\"']?:\s?[^\n]{0,200}?\b[\w.-]{0,40}(?:sess\w{0,12}|sid|auth|token|jwt)="
    r"(?P<bare>[^\s;,\"'`]{16,500})",
    re.IGNORECASE,
)
_URL_USER: Final = re.compile(r"\bhttps?://(?P<bare>[\w-]{20,200})@(?!\S{0,60}sentry)")
# What stands on the line below its key: blocks of YAML, pairs of a name and a value.
_BELOW: Final = (
    r"(?:(?<![\w.-])[\w.-]{0,60}?%s[\"'*]{0,3}\s{0,4}[:=]\*{0,2}"
    r"[ \t]{0,3}[>|]?[+-]?[ \t]{0,3}\n[ \t>]{0,20}"
    r"|\bname[\"']?:\s?[\"']?[\w.-]{0,60}?%s[\"']?\s{0,3},?\n[ \t>]{0,20}[\"']?value[\"']?:\s{0,3})"
    + _VALUE
    + r"[ \t]{0,20}[,}\]]{0,3}$"
)
_PASSWORD_BELOW: Final = re.compile(_BELOW % (_CALLED_SO, _CALLED_SO), re.IGNORECASE | re.MULTILINE)
_TOKEN_BELOW: Final = re.compile(_BELOW % (_CALLED_KEY, _CALLED_KEY), re.IGNORECASE | re.MULTILINE)
_PASSED: Final = re.compile(
    rf"{_KEY_START}[\w.-]{{0,60}}?{_CALLED_SO}[\"']?\s{{0,4}}[,(]\s{{0,4}}"
    r"(?P<quote>[\"'])(?P<bare>[^\"'\n]{1,300})(?P=quote)"
    rf"|<(?:[\w.:-]{{0,60}}?{_CALLED_SO})>(?P<double>[^<\n]{{1,300}})<",
    re.IGNORECASE,
)
_PASSWORD_OPTION: Final = re.compile(
    rf"--?(?:password|passwd|pass|passphrase)[= ]{_VALUE}", re.IGNORECASE
)
_TOKEN_OPTION: Final = re.compile(
    rf"--?(?:(?:auth-|access-|api-)?token|api-?key|secret)[= ]{_VALUE}", re.IGNORECASE
)
_SHORT_OPTION: Final = re.compile(
    r"\b(?:mysql\w*|mariadb\w*|sshpass|mongo(?:sh|dump)?|redis-cli|docker login)\b[^\n]{0,80}?"
    rf"\s-(?:p|a)\s?{_VALUE}"
)
_USER_OPTION: Final = re.compile(rf"\s(?:-u|--user)[= ]?[\"']?[\w.@+-]{{1,60}}:{_VALUE}")
_NETRC: Final = re.compile(rf"\b(?:login|user)\s+\S{{1,100}}\s+pass(?:word)?\s+{_VALUE}")
_NAMED: Final = (
    r"(?<![A-Za-z])(?:password|passphrase|passwort|kennwort|contraseña|mot de passe"
    r"|pass\s?code|credentials?|creds|secret|token"
    r"|(?:api|master|access|secret|private|encryption|signing)[ _-]?key)\b"
)
_IN_PROSE: Final = re.compile(
    rf"{_NAMED}(?:\s[\w@./()-]{{1,60}}){{0,5}}?"
    rf"\s?(?:\s(?:is|was|are|ist|lautet|remains|stays)|:|=|\()?\s(?=\S*\d){_VALUE}",
    re.IGNORECASE,
)
_PROSE_VERB: Final = re.compile(
    r"(?<![A-Za-z])(?:password|passphrase|passwort|kennwort)"
    r"\s(?:is|was|are|ist|lautet|remains|stays)\s"
    rf"{_VALUE}",
    re.IGNORECASE,
)
_LOGIN: Final = re.compile(
    r"\b(?:credentials?|creds|log\s?in|login|logs in|sign in|account|user)\b[^\n/]{0,40}?"
    rf"\b[\w.@+-]{{1,60}}\s?[:/]\s?(?=\S*\d){_VALUE}",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(r"\b(?:bearer|token)\s+(?P<bare>[\w.+/=~-]{16,2000})", re.IGNORECASE)
_BASIC: Final = re.compile(
    r"\b(?:basic\s+|_?auth[\"']?\s?[:=]\s?[\"']?)(?P<bare>[A-Za-z0-9+/]{8,400}={0,2})",
    re.IGNORECASE,
)
_URL: Final = re.compile(
    r"\b[A-Za-z][A-Za-z0-9+.-]{1,30}://(?P<user>[^\s:/?#@\"'`<>]{0,200}):"
    r"(?P<bare>[^\s/\"'`<>]{1,300})@(?P<host>[\w.\[\]-]+)"
)
_LOOPBACK: Final = re.compile(r"localhost|127\.[\d.]+|0\.0\.0\.0|\[|example\.|.*\.example|host")
_ENDS_OF_PROSE: Final = re.compile(r"[.:?)\]}\\|*]$|(?<!\d\d)!$")
_OPENING: Final = {")": "(", "]": "[", "}": "{"}
# A made-up password that a lesson about tests quotes.
_IN_TESTS: Final = re.compile(r"[\"'`]? in (?:the |our )?(?:tests?|fixtures?|specs?|factories)\b")
_MADE_UP: Final = re.compile(r"[a-z]{3,12}\d{0,3}")
# `Root-2024`, which is a word and a year, where nothing else than a password can follow.
_WORD_AND_YEAR: Final = re.compile(r"[A-Z][a-z]{2,20}[-_.@#]?\d{4}!?")
_LEAST_CHECKED: Final = 4
_LONG: Final = 20
# Between letters and digits: names of algorithms have fewer, random texts more.
_TURNS: Final = 4
_MARKS: Final = frozenset("!@#$%^&*?+~|=")
# Names of classes, versions, formats.
_WORD_AND_NUMBER: Final = re.compile(r"(?:[A-Z]*[a-z]*)+\d{0,4}|[A-Za-z]+\d{1,4}[A-Z]?[A-Za-z]*")


def find_by_surroundings(text: str) -> Iterator[Hit]:
    """Find values that stand where a secret stands and can be one."""
    for kind, pattern, is_secret in _RULES:
        for match in pattern.finditer(text):
            start, end = _span(match)
            value = text[start:end]
            if is_secret(value) and not _is_made_up(text, start, end):
                yield kind, start, end
    yield from _in_urls(text)


def find_over_lines(text: str) -> Iterator[Hit]:
    """Find values that stand on the line below their key."""
    for kind, pattern, is_secret in _RULES_OVER_LINES:
        for match in pattern.finditer(text):
            start, end = _span(match)
            if is_secret(text[start:end]):
                yield kind, start, end


def _is_made_up(text: str, start: int, end: int) -> bool:
    return bool(_MADE_UP.fullmatch(text, start, end) and _IN_TESTS.match(text, end))


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Find where the value is; the marks that end a sentence are not part of a bare one."""
    groups = match.groupdict()
    name = next(name for name in ("double", "single", "back", "bare") if groups.get(name))
    start, end = match.span(name)
    if name == "bare":
        stripped = _stripped(groups[name])
        # A generated password may end in such a mark; with it the value is masked whole.
        end = start + (len(stripped) if stripped else len(groups[name]))
    return start, end


def _stripped(value: str) -> str:
    """Cut off what ends a sentence or a clause; after two digits a `!` belongs to a password."""
    while _ENDS_OF_PROSE.search(value):
        opening = _OPENING.get(value[-1])
        if opening and value.count(opening) >= value.count(value[-1]):
            break
        value = value[:-1]
    return value


def _in_urls(text: str) -> Iterator[Hit]:
    for match in _URL.finditer(text):
        value, user = match["bare"], match["user"]
        if is_placeholder(value) or value.lower() == user.lower() or value.isdigit():
            continue
        if _LOOPBACK.match(match["host"]) and not is_token(value):
            continue
        yield "password in a URL", *match.span("bare")


def _is_strong(value: str) -> bool:
    """Tell a secret from a word where prose may follow as well."""
    if value.isalnum() and len(value) >= _LONG:
        turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(value))
        return turns >= _TURNS and is_token(value)
    said = without_terms(value)
    digits = any(character.isdigit() for character in said)
    letters = any(character.isalpha() for character in said)
    shuffled = said != said.lower() and said.isalnum() and not _WORD_AND_NUMBER.fullmatch(said)
    marked = not _MARKS.isdisjoint(said) and "/" not in said
    return is_password(value) and digits and letters and (shuffled or marked)


def _is_word_and_year(value: str) -> bool:
    return bool(_WORD_AND_YEAR.fullmatch(without_terms(value)))


def _is_machine_made(value: str) -> bool:
    return value.isalnum() and _is_strong(value)


def _is_basic(value: str) -> bool:
    """Return whether the value of ``Authorization: Basic`` holds a user and a password."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return False
    _, colon, password = decoded.partition(":")
    return bool(colon) and len(password) >= _LEAST_CHECKED and not is_placeholder(password)


_RULES: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...]] = (
    ("password", _PASSWORD_ASSIGNED, is_password),
    ("password", _PASS_ASSIGNED, _is_strong),
    ("password", _PASSWORD_ATTRIBUTE, is_password),
    ("password", _STATEMENT, is_password),
    ("password", _PASSED, is_password),
    ("password", _PASSWORD_OPTION, is_password),
    ("password", _SHORT_OPTION, is_password),
    ("password", _USER_OPTION, is_password),
    ("password", _NETRC, is_password),
    ("secret or token", _TOKEN_ASSIGNED, is_token),
    ("secret or token", _TOKEN_ATTRIBUTE, is_token),
    ("secret or token", _TABLE_ROW, _is_strong),
    ("secret or token", _TOKEN_OPTION, is_token),
    ("secret or token", _COOKIE, is_token),
    ("token in a URL", _URL_USER, _is_machine_made),
    ("authorization header", _HEADER, is_token),
    ("authorization header", _BASIC, _is_basic),
    ("password", _PROSE_VERB, _is_word_and_year),
    ("password", _IN_PROSE, _is_strong),
    ("password", _LOGIN, _is_strong),
)

_RULES_OVER_LINES: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...]] = (
    ("password", _PASSWORD_BELOW, is_password),
    ("secret or token", _TOKEN_BELOW, is_token),
)
