"""Where the learnings lie."""

from pathlib import Path
from typing import Final

from grove_core import Area, BackendContext, StorageLayout

DIRECTORY: Final = ".grove"
PROJECT_FILE: Final = f"{DIRECTORY}/learnings.md"
PROJECT_FOLDER: Final = f"{DIRECTORY}/learnings"
_PERSONAL_FILE: Final = "personal-learnings.md"


def file_of(context: BackendContext) -> Path:
    """Return which file learnings are written to in the layout ``single``."""
    if context.area is Area.PERSONAL:
        return context.home / _PERSONAL_FILE
    return context.root / PROJECT_FILE


def is_spread(context: BackendContext) -> bool:
    """Return whether each new learning gets a file of its own; personal ones never do."""
    return context.layout is StorageLayout.SPREAD and context.area is Area.PROJECT


def area_of(context: BackendContext) -> Path | None:
    """Return which directory symbolic links must not lead out of."""
    return None if context.area is Area.PERSONAL else context.root


def folder_of(context: BackendContext) -> Path | None:
    """Tell in which folder further files with learnings may lie."""
    return None if context.area is Area.PERSONAL else context.root / PROJECT_FOLDER
