"""Rating learnings on a terminal, with one key each."""

import os
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final

from grove_core.cli.render import counted
from grove_core.clock import format_instant
from grove_core.flow.reviewing import Answers, Question
from grove_core.reflection.submission import Rating

if TYPE_CHECKING:
    from rich.console import Console

_KEYS: Final = "y useful  n not useful  s skip  o open  b back  q quit"
_ESCAPE: Final = "\x1b"
_END_OF_INPUT: Final = "\x04"
_READ_SIZE: Final = 64
_QUIT: Final = ("q", _END_OF_INPUT)

ReadKeys = Callable[[], str]
"""Waits for keys; an empty text means that none will come any more."""


def ask(questions: Sequence[Question], console: "Console") -> Sequence[Rating]:
    """Go through learnings with whoever sits at the terminal."""
    with _single_keys(sys.stdin.fileno()) as read_keys:
        answers = _ask_all(questions, console, read_keys)
    return [
        Rating(learning_id=one.found.hit.learning.id, useful=useful)
        for one, useful in zip(questions, answers.given, strict=True)
        if useful is not None
    ]


def _ask_all(questions: Sequence[Question], console: "Console", read_keys: ReadKeys) -> Answers:
    answers = Answers((None,) * len(questions))
    try:
        _show(questions, answers, console)
        for key in _keys(read_keys):
            if key in _QUIT:
                break
            if key == "o":
                _show_details(questions[answers.position], console)
                continue
            after = _press(answers, key)
            if after is answers:
                continue
            console.print(_WORDS[key], style="dim")
            answers = after
            if answers.are_complete:
                break
            _show(questions, answers, console)
    except (KeyboardInterrupt, OSError):
        # What was answered so far stays; a terminal that has gone cannot be told.
        return answers
    return answers


_WORDS: Final = {"y": "→ useful", "n": "→ not useful", "s": "→ skipped", "b": "→ back"}


def _press(answers: Answers, key: str) -> Answers:
    """Do what a key stands for; other keys do nothing."""
    match key:
        case "y":
            return answers.answer(True)  # noqa: FBT003 - an answer, no option
        case "n":
            return answers.answer(False)  # noqa: FBT003
        case "s":
            return answers.answer(None)
        case "b":
            return answers.back()
    return answers


def _keys(read_keys: ReadKeys) -> Iterator[str]:
    """Return keys one by one; what arrows and the like send is no letter."""
    while keys := read_keys():
        if not keys.startswith(_ESCAPE):
            yield from keys.lower()


def _show(questions: Sequence[Question], answers: Answers, console: "Console") -> None:
    """Show a learning in a few lines; the shortest terminal has 24 of them."""
    from rich.text import Text

    question = questions[answers.position]
    learning = question.found.hit.learning
    console.print()
    head = Text(f"{answers.position + 1}/{len(questions)}  ", style="bold")
    head.append(learning.category.value, style="cyan")
    head.append(f"  {learning.id}", style="dim")
    console.print(head)
    console.print(Text(learning.summary, style="bold"))
    console.print(Text(describe_use(question), style="dim"))
    console.print(Text(_KEYS))


def _show_details(question: Question, console: "Console") -> None:
    from rich.text import Text

    learning = question.found.hit.learning
    console.print()
    console.print(Text(learning.detail))
    origin = f"ticket {learning.ticket_id}, " if learning.ticket_id else ""
    for name, value in (
        ("Files", ", ".join(learning.context_files)),
        ("Tags", ", ".join(learning.tags)),
        ("Written", f"{format_instant(learning.timestamp)}, {origin}{learning.confidence.value}"),
    ):
        if value:
            console.print(Text(f"{name}: {value}", style="dim"))
    console.print(Text(_KEYS))


def describe_use(question: Question) -> str:
    """Return how a learning has fared, in one line."""
    stats = question.stats
    rated = stats.rated_useful
    used = f"shown in {counted(stats.surfaced, 'session')}, used in {stats.referenced}"
    if not rated.total:
        return f"{used}; never rated"
    return f"{used}; useful to {rated.count} of {counted(rated.total, 'rating')}"


@contextmanager
def _single_keys(descriptor: int) -> Iterator[ReadKeys]:
    """Hand over keys as they are pressed; the terminal is as before afterwards, come what may."""
    before = termios.tcgetattr(descriptor)
    handlers = {
        number: signal.signal(number, _interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
    }
    try:
        tty.setcbreak(descriptor, termios.TCSADRAIN)
        yield lambda: os.read(descriptor, _READ_SIZE).decode("utf-8", "replace")
    finally:
        _restore(descriptor, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _restore(descriptor: int, before: list[int | list[bytes | int]]) -> None:
    try:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    except termios.error:
        return  # the terminal has gone


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
