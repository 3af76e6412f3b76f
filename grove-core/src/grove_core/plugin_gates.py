"""The gates of plugins, as a project opens them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from attrs import evolve

from grove_core.plugins.descriptors import ProjectContext
from grove_core.plugins.gates import GateSpec, PluginGate
from grove_core.plugins.manager import Contribution, Plugins

OPEN_SECONDS: Final = 0.5


class OpenGate(NamedTuple):
    """A plugin's gate, open for a project."""

    source: Contribution[GateSpec]
    gate: PluginGate

    @property
    def name(self) -> str:
        """The gate's name."""
        return self.source.value.name


def open_gates(
    plugins: Plugins, context: ProjectContext, settings: Mapping[str, Any], most_blocks: int
) -> list[OpenGate]:
    """Open the gates that are on, as long as together they block no more often in a row."""
    found: list[OpenGate] = []
    left = most_blocks
    for one in plugins.gates():
        own, ask = evolve(context, settings=settings.get(one.name)), one.value.open
        opened: object = plugins.call(one, "open", ask, own, seconds=OPEN_SECONDS, default=None)
        if opened is None:
            continue
        if not isinstance(opened, PluginGate):
            plugins.complain(one, f"open of {one.name}", "returned no PluginGate")
        elif opened.most_blocks > left:
            why = f"it blocks {opened.most_blocks} times, and the client takes {left} more in a row"
            plugins.complain(one, f"gate {one.name}", f"is off: {why}")
        else:
            left -= opened.most_blocks
            found.append(OpenGate(one, opened))
    return found


def literals_of(gates: Iterable[OpenGate]) -> frozenset[str]:
    """Collect the words without which no gate looks at a call; an empty one for all calls."""
    return frozenset(word for one in gates for word in one.gate.literals)
