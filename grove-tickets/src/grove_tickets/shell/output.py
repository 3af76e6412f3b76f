"""What commands print, where their words alone tell it."""

import re
from typing import Final

from attrs import frozen

from grove_tickets.shell.quoting import printed_escapes
from grove_tickets.shell.words import UNKNOWN, is_known

_CONVERSION: Final = re.compile(r"%(.)", re.DOTALL)
_PLAIN_CONVERSIONS: Final = frozenset("%sdi")
_MAX_PRINTED: Final = 65_536
_ECHO_FLAGS: Final = re.compile(r"-[neE]+")


@frozen
class Outcome:
    """How a command ends."""

    output: str | None = None
    status: bool | None = None


SILENT: Final = Outcome("")
DONE: Final = Outcome("", status=True)
FAILED: Final = Outcome("", status=False)
UNCERTAIN: Final = Outcome()


def together(outcomes: list[Outcome]) -> Outcome:
    """Return the outcome of commands that run one after another."""
    outputs = [outcome.output for outcome in outcomes if outcome.output is not None]
    known = len(outputs) == len(outcomes)
    return Outcome("".join(outputs) if known else None, outcomes[-1].status if outcomes else None)


def printed(words: tuple[str, ...], stdin: str | None) -> str | None:
    """Return what a program prints."""
    if sum(map(len, words)) > _MAX_PRINTED:
        return None
    match words:
        case ("cat",) | ("cat", "-") | ("tee", *_):
            return stdin
        case ("echo", *rest):
            return _echoed(rest)
        case ("printf", "--", layout, *rest) | ("printf", layout, *rest):
            return _formatted(layout, rest)
        case ("which", name) | ("command", "-v", name) | ("type", "-p" | "-P", name):
            return f"{UNKNOWN}/{name}\n"
        case _:
            return None


def _echoed(words: list[str]) -> str:
    flags = ""
    while words and _ECHO_FLAGS.fullmatch(words[0]):
        flags += words[0]
        words = words[1:]
    text = " ".join(words)
    if flags.rfind("e") > flags.rfind("E"):
        text = printed_escapes(text)
    return text if "n" in flags else text + "\n"


def _formatted(layout: str, words: list[str]) -> str | None:
    """Return what ``printf`` prints: the layout as often as there are words for it."""
    pieces = _CONVERSION.split(printed_escapes(layout))
    kinds = pieces[1::2]
    many = UNKNOWN in words and len(words) > 1  # the layout is used who knows how often
    if many or not is_known(layout) or not _PLAIN_CONVERSIONS.issuperset(kinds):
        return None
    wanted = len(kinds) - kinds.count("%")
    printed = []
    rest = list(reversed(words))
    while True:
        printed.append(pieces[0])
        for kind, text in zip(kinds, pieces[2::2], strict=True):
            printed += ["%" if kind == "%" else rest.pop() if rest else "", text]
        if not rest or not wanted:
            return "".join(printed)
