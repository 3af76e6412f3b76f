"""Finds beads' store as ``bd`` does, looking at file names only and running nothing."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from grove_tickets.places import exists, find_repository, first_line, is_directory, real_path

_MARKER: Final = ".beads"


def find_store(cwd: Path, environment: Mapping[str, str]) -> Path | None:
    """Find the store that ``bd`` would use in a directory."""
    named = environment.get("BEADS_DIR")
    if named:
        store = _follow_redirect(cwd / named)
        if _is_store(store):
            return store
    for store in _candidates(cwd):
        if _is_store(store):
            return store
    return None


def _candidates(cwd: Path) -> Iterator[Path]:
    repository = find_repository(cwd)
    top = None if repository is None else repository.top
    for directory in (cwd, *cwd.parents):
        if directory == top:
            break
        yield _follow_redirect(directory / _MARKER)
    if repository is not None:
        if repository.common is not None:
            yield from _shared_stores(repository.top, repository.common)
        yield _follow_redirect(repository.top / _MARKER)


def _shared_stores(top: Path, common: Path) -> Iterator[Path]:
    """Return the stores of a linked work tree: its own only if it is redirected or a database."""
    own = top / _MARKER
    target = _follow_redirect(own)
    if target != own or _has_database(own):
        yield target
    main = common.parent if common.name == ".git" else None
    if main is None:
        yield _follow_redirect(common / _MARKER)  # a bare repository
        return
    yield _follow_redirect(main / _MARKER)
    if main in top.parents:
        for directory in top.parents:
            if directory == main:
                break
            yield _follow_redirect(directory / _MARKER)


def _follow_redirect(store: Path) -> Path:
    """Follow one ``redirect`` file, relative to the store's parent; a dangling one is ignored."""
    target = first_line(store / "redirect")
    if not target:
        return store
    redirected = real_path(store.parent / target)
    return redirected if is_directory(redirected) else store


def _is_store(store: Path) -> bool:
    return (
        any(exists(store / name) for name in ("metadata.json", "config.yaml"))
        or _has_dolt(store)
        or any(_sqlite_names(store))
    )


def _has_database(store: Path) -> bool:
    return _has_dolt(store) or any(
        ".backup" not in name and name != "vc.db" for name in _sqlite_names(store)
    )


def _has_dolt(store: Path) -> bool:
    return exists(store / "dolt") or exists(store / "embeddeddolt")


def _sqlite_names(store: Path) -> Iterator[str]:
    try:
        with os.scandir(store) as entries:
            yield from (entry.name for entry in entries if entry.name.endswith(".db"))
    except (OSError, ValueError):
        return
