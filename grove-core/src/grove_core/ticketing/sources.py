"""What the answers of ticket systems are read from, so that they need not be asked each time."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from grove_core.plugins.descriptors import ProjectContext, TicketProbe
from grove_core.plugins.facade import Plugins, Provided
from grove_core.ticketing.answers import is_list

SOURCES_SECONDS: Final = 0.5


def sources_of(
    probes: Sequence[Provided[TicketProbe]],
    plugins: Plugins,
    context_of: Callable[[str], ProjectContext],
) -> Sequence[Path] | None:
    """Collect what systems name, whether they are used here or not: each may come to be used.

    Args:
        probes: The systems that can count.
        plugins: What asks them.
        context_of: Where a system is to look, by its name.

    Returns:
        Files and folders; ``None`` when that is not all: a system does not tell.
    """
    found: list[Path] = []
    for provided in probes:
        answer = _ask(provided, plugins, context_of(provided.value.name))
        if answer is None:
            return None
        found += answer
    return found


def _ask(
    provided: Provided[TicketProbe], plugins: Plugins, context: ProjectContext
) -> Sequence[Path] | None:
    function, name = provided.value.sources, provided.value.name
    if function is None:
        return None
    answer = plugins.call(provided, function, context, seconds=SOURCES_SECONDS, default=None)
    if answer is None:
        return None
    if is_list(answer) and all(isinstance(one, Path) and one.is_absolute() for one in answer):
        return answer
    plugins.complain(provided, f"sources of {name}", "returned no list of absolute paths")
    return None
