"""What is measured: the steps of a session's life, in the order in which a client takes them."""

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve, frozen
from history import History
from measuring import Command
from worlds import GROVE, LAUNCHER, World

TICKETS: Final = "tickets"
SESSIONS: Final = "sessions"
USUAL: Final = History(learnings=1_000, events=10_000)
LARGE: Final = History(learnings=100_000, events=1_000_000)
LARGE_BUDGET: Final = 2.0

_UNRELATED: Final = {"tool_input": {"command": "ls -la app"}}
_PROMPT: Final = {
    "prompt": "The export of orders times out in the nightly run: rows of a large order are read"
    " one by one. Please make the OrderStore prefetch them, and look at the retry of the worker."
}


@frozen(kw_only=True, eq=False)
class Step:
    """Something that is measured in every round.

    Attributes:
        title: What it is, for the table.
        world: The world that it happens in.
        budget: The most it may cost, as a multiple of starting Python; ``None`` for no budget.
        words: The program and its arguments, ``grove`` itself left out.
        payload: The name of the recorded payload, for a hook.
        changes: Fields of the payload that differ from the recorded ones.
        speaks: Whether it must print something; else it must print nothing.
        program: The program that is started.
        edits: Whether a source file gets one more line just before, which is not measured.
    """

    title: str
    world: str
    budget: float | None = None
    words: tuple[str, ...]
    payload: str | None = None
    changes: Mapping[str, object] = {}
    speaks: bool = False
    program: str = str(GROVE)
    edits: bool = False

    def command(self, world: World, session_id: str) -> Command:
        """Make ready for this step, and make its command.

        Args:
            world: Where it happens.
            session_id: The session that it belongs to.

        Returns:
            The command.
        """
        if self.edits:
            world.edit()
        stdin = b""
        if self.payload is not None:
            stdin = world.payload(self.payload, session_id, self.changes)
        return world.command(self.program, *self.words, stdin=stdin)


START: Final = Step(
    title="`hook session-start`, ticket mode, git not counted",
    world=TICKETS,
    words=("hook", "session-start"),
    payload="SessionStart-startup",
    budget=15.0,
    speaks=True,
)
PROMPT: Final = Step(
    title="`hook user-prompt-submit`",
    world=TICKETS,
    words=("hook", "user-prompt-submit"),
    payload="UserPromptSubmit",
    changes=_PROMPT,
    budget=11.0,
    speaks=True,
)
BEFORE_TOOL: Final = Step(
    title="`hook pre-tool-use`, nothing to do",
    world=TICKETS,
    words=("hook", "pre-tool-use"),
    payload="PreToolUse-Bash",
    changes=_UNRELATED,
    budget=1.3,
)
AFTER_TOOL: Final = Step(
    title="`hook post-tool-use`, no open intent",
    world=TICKETS,
    words=("hook", "post-tool-use"),
    payload="PostToolUse-Bash",
    changes=_UNRELATED,
    budget=1.3,
)
STOP: Final = Step(
    title="`hook stop` after a prompt, ticket mode",
    world=TICKETS,
    words=("hook", "stop"),
    payload="Stop-first",
    budget=11.0,
)
END: Final = Step(
    title="`hook session-end`",
    world=TICKETS,
    words=("hook", "session-end"),
    payload="SessionEnd-other",
    budget=4.0,
)
STEPS: Final[Sequence[Step]] = (
    Step(title="`grove --version`", world=TICKETS, words=("--version",), speaks=True),
    START,
    PROMPT,
    BEFORE_TOOL,
    evolve(
        BEFORE_TOOL,
        title="the same through the plugin's launcher",
        program=str(LAUNCHER),
        words=("pre-tool-use",),
        budget=None,
    ),
    AFTER_TOOL,
    STOP,
    evolve(STOP, title="`hook stop` again, nothing changed", budget=4.0),
    END,
    evolve(START, title="`hook session-start`, session mode, git not counted", world=SESSIONS),
    evolve(
        STOP,
        title="`hook stop` after a start, session mode, nothing changed, git not counted",
        world=SESSIONS,
    ),
    evolve(
        STOP,
        title="`hook stop` again, session mode, nothing changed, git not counted",
        world=SESSIONS,
        budget=4.0,
    ),
    evolve(
        STOP,
        title="`hook stop` after an uncounted change, session mode, git not counted",
        world=SESSIONS,
        edits=True,
    ),
    evolve(END, title="`hook session-end`, session mode", world=SESSIONS),
    Step(title="`grove --help`", world=TICKETS, words=("--help",), budget=15.0, speaks=True),
)
LARGE_STEPS: Final[Sequence[Step]] = (START, PROMPT, END)


def bare_python(world: World) -> Command:
    """Make the yardstick: Python started in the same environment, to do nothing.

    Args:
        world: Where it is started.

    Returns:
        The command.
    """
    return world.command(sys.executable, "-c", "pass")
