"""What plugins themselves know to look at (the hook ``grove_health_checks``)."""

from collections.abc import Sequence
from typing import Final

from grove_core.health.check import Check, broken, ok, warning
from grove_core.health.running import Probe
from grove_core.model.memory import Health
from grove_core.plugins.descriptors import HealthCheck
from grove_core.plugins.facade import Provided
from grove_core.workspace import Workspace

_PLUGIN_SECONDS: Final = 2.0
_LIMIT_SECONDS: Final = 5.0
"""Longer than the plugin's own limit, so that the report names the plugin."""


def probes_of_plugins(workspace: Workspace) -> Sequence[Probe]:
    """List the plugins' own checks."""
    return [
        Probe(
            name=offered.value.name,
            look=lambda offered=offered: [_look(workspace, offered)],  # type: ignore[misc]
            seconds=_LIMIT_SECONDS,
        )
        for offered in workspace.plugins.health_checks()
    ]


def _look(workspace: Workspace, offered: Provided[HealthCheck]) -> Check:
    before = len(workspace.plugins.report().problems)
    health: object = workspace.plugins.call(
        offered,
        offered.value.run,
        workspace.context(),
        seconds=_PLUGIN_SECONDS,
        default=None,
    )
    name = offered.value.name
    if not isinstance(health, Health):
        problems = workspace.plugins.report().problems[before:]
        why = "; ".join(one.detail for one in problems) or "it gave no health"
        mend = f"Upgrade {offered.source.distribution}, or report this to its authors"
        return broken(name, f"{offered.source} could not look: {why}", mend)
    detail = f"{health.detail} ({health.location})" if health.location else health.detail
    if health.ok:
        return warning(name, detail, health.mend) if health.mend else ok(name, detail)
    return broken(name, detail, health.mend or "Mend what it names")
