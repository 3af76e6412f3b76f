"""What is measured at every size: the hooks of a session, a search, the numbers."""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve, frozen
from scenarios import AFTER_TOOL, BEFORE_TOOL, END, PROMPT, START, STOP, TICKETS, Step
from worlds import World

USUAL: Final = 1_000
"""The size that the absolute budgets are for."""

TIMES_THE_USUAL: Final = 2.0
"""How many times its own cost at the usual size a hook may cost with more learnings."""

# The file lies where the work is, and no learning names it.
_UNNAMED_FILE: Final = "app/orders_7/export_7.py"


@frozen(kw_only=True, eq=False)
class Kind:
    """A row of the tables.

    Attributes:
        title: What it is.
        step: What is done.
        grows: Whether its work is with learnings or events, so that beyond the usual size the
            budget is a multiple of its own cost.
    """

    title: str
    step: Step
    grows: bool = False


READ: Final = evolve(
    AFTER_TOOL,
    title="`hook post-tool-use` of a Read",
    payload="PostToolUse-Read",
    changes={"tool_input": {"file_path": _UNNAMED_FILE}},
)
"""The client sends whole paths: ``in_world`` makes it one."""
_SEARCH: Final = Step(
    title="",
    world=TICKETS,
    words=("search", "export", "of", "large", "orders", "timeout", "--json"),
    speaks=True,
)
SESSION_START: Final = Kind(title="`hook session-start`", step=START, grows=True)
SESSION_END: Final = Kind(title="`hook session-end`", step=END, grows=True)
SEARCH: Final = Kind(title="`grove search WORDS --json`", step=_SEARCH)
STATS: Final = Kind(title="`grove stats --json`", step=evolve(_SEARCH, words=("stats", "--json")))
KINDS: Final[Sequence[Kind]] = (
    SESSION_START,
    Kind(title="`hook user-prompt-submit`", step=PROMPT, grows=True),
    Kind(title="`hook pre-tool-use`, nothing to do", step=BEFORE_TOOL),
    Kind(title=READ.title, step=READ),
    Kind(title="`hook stop` that approves", step=STOP),
    SESSION_END,
    SEARCH,
    STATS,
)


def steps_in(worlds: Mapping[str, World]) -> Mapping[tuple[str, str], Step]:
    """Make the steps of every size.

    Args:
        worlds: The worlds; each has its number of learnings as its name.

    Returns:
        The steps by the name of the world and the title of the kind, in the order of a session.
    """
    return {
        (name, kind.title): in_world(kind.step, name, world)
        for name, world in worlds.items()
        for kind in KINDS
    }


def in_world(step: Step, name: str, world: World) -> Step:
    """Let a step happen in a world.

    Args:
        step: The step.
        name: The world's name; "0" for one without learnings, where hooks have nothing to say.
        world: The world.

    Returns:
        The step there.
    """
    changes = step.changes
    if step is READ:
        changes = {"tool_input": {"file_path": str(world.project / _UNNAMED_FILE)}}
    is_hook = step.payload is not None
    speaks = step.speaks and not (is_hook and name == "0")
    return evolve(step, world=name, changes=changes, speaks=speaks)
