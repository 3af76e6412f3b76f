"""Whether the files can be used, without touching them."""

import os
from pathlib import Path
from typing import Final

from grove_backend_markdown.store import Store
from grove_core import Health, StorageError, confined

_NAMED_PROBLEMS: Final = 10
_BY_HAND: Final = "Correct the file by hand"
_REPAIR: Final = "grove maintain repair repairs what merges have done; repair the rest by hand"


def look_at(store: Store, inside: Path | None) -> Health:
    """Look whether learnings can be read from a store and written to it."""
    location = str(store.target)
    try:
        count, problems = store.look()
        if inside is not None:
            confined(store.target, inside)
        _refuse_unwritable(store)
    except (StorageError, OSError) as error:
        return Health(ok=False, detail=str(error), location=location)
    detail = "1 learning" if count == 1 else f"{count} learnings"
    if not problems:
        return Health(ok=True, detail=detail, location=location)
    faults = "1 fault" if len(problems) == 1 else f"{len(problems)} faults"
    named = problems[:_NAMED_PROBLEMS]
    if len(problems) > _NAMED_PROBLEMS:
        named.append(f"and {len(problems) - _NAMED_PROBLEMS} more")
    detail = f"{detail}; {faults}: {'; '.join(named)}"
    fix = _BY_HAND if inside is None else _REPAIR
    return Health(ok=True, detail=detail, location=location, fix=fix)


def _refuse_unwritable(store: Store) -> None:
    path = store.target
    place = next(one for one in (path, *path.parents) if one.exists())
    kind = "file" if place == path and not store.spread else "directory"
    if not (place.is_file() if kind == "file" else place.is_dir()):
        raise StorageError(f"{place} is no {kind}; move it out of the way")
    if not os.access(place, os.W_OK):
        raise StorageError(f"{place} cannot be written to; correct its permissions")
