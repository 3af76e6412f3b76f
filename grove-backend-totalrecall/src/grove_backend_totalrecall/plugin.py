"""Total Recall as a memory backend: found, and not available yet."""

from pathlib import Path

from grove_core import (
    BackendContext,
    BackendError,
    BackendSpec,
    Detection,
    MemoryBackend,
    hookimpl,
)

grove_api = 1

NOT_AVAILABLE = (
    "Total Recall is used here, but this release of grove-backend-totalrecall cannot read or write"
    " it: not available yet; learnings go to the next backend"
)
# Files of which at least one tells that a `memory` directory belongs to Total Recall.
_MARKERS = (
    ".claude/rules/total-recall.md",
    "rules/total-recall.md",
    ".claude/commands/recall-log.md",
    "memory/registers/_index.md",
)


@hookimpl
def grove_memory_backends() -> list[BackendSpec]:
    """Offer the backend ``total-recall``."""
    return [BackendSpec(name="total-recall", detect=detect, open=open_backend, paths=("memory",))]


def detect(context: BackendContext) -> Detection | None:
    """Tell whether Total Recall keeps this project's memory.

    A bare ``memory`` directory may be anybody's and does not count.

    Args:
        context: Where to look.

    Returns:
        The marker found, not usable; or ``None``.
    """
    memory = context.root / "memory"
    if not (memory / "daily").is_dir() or not (memory / "registers").is_dir():
        return None
    marker = _first_marker(context.root)
    if marker is None:
        return None
    return Detection(marker=str(marker), usable=False, note=NOT_AVAILABLE)


def _first_marker(root: Path) -> Path | None:
    return next((root / name for name in _MARKERS if (root / name).is_file()), None)


def open_backend(context: BackendContext) -> MemoryBackend:
    """Refuse, with words.

    Args:
        context: Where the backend was to work.

    Raises:
        BackendError: Always, in this release.
    """
    raise BackendError(f"{context.root}: {NOT_AVAILABLE}")
