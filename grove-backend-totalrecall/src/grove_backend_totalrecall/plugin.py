"""What grove learns from this plugin; everything else is imported when it is used."""

from collections.abc import Sequence
from enum import Enum

from attrs import field, frozen

from grove_core import (
    USER_ONLY,
    BackendContext,
    BackendSpec,
    Detection,
    Health,
    HealthCheck,
    MemoryBackend,
    ProjectContext,
    hookimpl,
)


class Via(Enum):
    """How a learning gets into the daily log."""

    APPEND = "append"
    """grove appends it itself."""
    CLAUDE = "claude"
    """The client is run with Total Recall's own command; where that fails, it is appended."""


@frozen(kw_only=True, eq=False, repr=False)
class TotalRecallSettings:
    """What can be configured."""

    via: Via = field(default=Via.APPEND, metadata=USER_ONLY)
    working_memory: bool = False


grove_api = 2

_COMMANDS = ("context", "forget", "init", "init-ids", "log", "maintain", "promote", "search",
             "status", "write")  # fmt: skip
# What belongs to Total Recall in a project. Not all of `memory`: where no one uses Total Recall
# that may be a package of the project's own, in which changes are work.
_PATHS = (
    "memory/daily",
    "memory/registers",
    "memory/archive",
    "memory/.recall",
    "memory/SCHEMA.md",
    "CLAUDE.local.md",
    ".claude/rules/total-recall.md",
    "rules/total-recall.md",
    *(f".claude/commands/recall-{name}.md" for name in _COMMANDS),
)


@hookimpl
def grove_memory_backends() -> Sequence[BackendSpec]:
    """Offer the backend ``total-recall``."""
    return [
        BackendSpec(
            name="total-recall",
            detect=_detect,
            open=_open,
            settings=TotalRecallSettings,
            paths=_PATHS,
            shared=("memory/daily/*.md",),
        )
    ]


@hookimpl
def grove_health_checks() -> Sequence[HealthCheck]:
    """Offer a look at what is missing."""
    return [HealthCheck(name="total recall", run=_check)]


def _detect(context: BackendContext) -> Detection | None:
    """Return whether Total Recall keeps this project's memory."""
    from grove_backend_totalrecall.installation import DAILY, find_installation

    installation = find_installation(context)
    if installation is None:
        return None
    from grove_backend_totalrecall.health import describe, why_outside, why_unusable

    marker = installation.markers[0]
    if (outside := why_outside(installation.root / DAILY, installation.root)) is not None:
        return Detection(marker=marker, usable=False, note=f"{outside.detail} → {outside.fix}")
    if installation.is_initialised:
        return Detection(marker=marker, note=f"found {describe(installation)}")
    why = why_unusable(installation)
    return Detection(marker=marker, usable=False, note=f"{why.detail} → {why.fix}")


def _open(context: BackendContext) -> MemoryBackend:
    from grove_backend_totalrecall.backend import TotalRecallBackend

    return TotalRecallBackend(context)


def _check(context: ProjectContext) -> Health:
    from datetime import datetime

    from grove_backend_totalrecall.health import check_project

    return check_project(context, datetime.now().astimezone().date())
