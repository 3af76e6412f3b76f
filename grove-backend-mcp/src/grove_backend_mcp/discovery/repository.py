"""What git's own files say about the project, read without running git."""

import os
import re
from pathlib import Path
from typing import Final

from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext

_MOST_BYTES: Final = 1024 * 1024
_SECTION: Final = re.compile(r'\[\s*(\w+)(?:\s+"([^"]*)")?\s*\]')
_KEY_LINE: Final = re.compile(r'\s*(\w+)\s*=\s*"?([^"#;]+)')
_ADDRESS: Final = re.compile(r"(?:[a-z+]+://)(?:[^/@]*@)?[^/]+/(.+)|(?:[^/:@]+@)?[^/:]+:(.+)")
_UNWANTED: Final = re.compile(r"[^a-z0-9._/-]+")
_LONGEST_NAME: Final = 100
_DIGEST_LENGTH: Final = 8


def main_work_tree(root: Path) -> Path:
    """Find the directory that the client keeps a project's servers under."""
    top = _top_of(root)
    if top is None:
        return root
    shared = _shared_directory(top)
    return shared.parent if shared is not None and shared.name == ".git" else top


def project_name(context: BackendContext) -> str:
    """Name the project, alike on every machine, so that a server can be shared by several."""
    settings = context.settings
    if isinstance(settings, McpSettings) and settings.project:
        return settings.project
    top = _top_of(context.root)
    shared = _shared_directory(top) if top is not None else None
    remote = _name_in_address(_origin(shared)) if shared is not None else ""
    return remote or _name_of_folder(os.path.realpath(main_work_tree(context.root)))


def _name_of_folder(path: str) -> str:
    import hashlib  # it loads OpenSSL, and most projects have a remote

    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST_LENGTH]
    return f"{_plain(os.path.basename(path)) or 'project'}-{digest}"  # noqa: PTH119 - a text


def _top_of(start: Path) -> Path | None:
    for place in (start, *start.parents):
        if os.path.exists(place / ".git"):  # noqa: PTH110 - never raises
            return place
    return None


def _shared_directory(top: Path) -> Path | None:
    """Find the directory that all work trees share; a submodule has one of its own."""
    entry = top / ".git"
    if os.path.isdir(entry):  # noqa: PTH112 - never raises
        return entry
    named = _text(entry).strip()
    if not named.startswith("gitdir:") or "\0" in named:
        return None
    directory = top / named.removeprefix("gitdir:").strip()
    if _text(directory / "commondir"):
        return _shared_by_work_trees(directory, entry)
    worktree = _value_in(directory, "core", None, "worktree").replace("\0", "")
    is_own = bool(worktree) and os.path.realpath(directory / worktree) == os.path.realpath(top)
    return Path(os.path.realpath(directory)) if is_own else None


def _shared_by_work_trees(directory: Path, entry: Path) -> Path | None:
    """Find what a linked work tree belongs to, where both sides say so."""
    back = _text(directory / "gitdir").strip().replace("\0", "")
    common = _text(directory / "commondir").strip().replace("\0", "")
    shared = os.path.realpath(directory / common)
    is_inside = os.path.dirname(os.path.realpath(directory)) == f"{shared}/worktrees"  # noqa: PTH120
    is_back = os.path.realpath(directory / back) == os.path.realpath(entry)
    return Path(shared) if is_inside and back and is_back else None


def _origin(shared: Path) -> str:
    """Return the address of the remote ``origin``, as the repository's configuration writes it."""
    return _value_in(shared, "remote", "origin", "url")


def _value_in(directory: Path, section: str, subsection: str | None, key: str) -> str:
    """Return the first value of a key of a repository's configuration; empty without one."""
    is_there = False
    for line in _text(directory / "config").splitlines():
        header = _SECTION.match(line.strip())
        if header is not None:
            is_there = header[1].lower() == section and header[2] == subsection
        elif is_there and (found := _KEY_LINE.match(line)) and found[1].lower() == key:
            return found[2].strip()
    return ""


def _name_in_address(address: str) -> str:
    found = None if address.startswith("file:") else _ADDRESS.fullmatch(address)
    # A directory of this machine is called otherwise on every other one.
    path = (found[1] or found[2]) if found is not None else address.rstrip("/").rpartition("/")[2]
    parts = [each for each in path.removesuffix("/").removesuffix(".git").split("/") if each]
    return _plain("/".join(parts[-2:]))


def _plain(text: str) -> str:
    """Leave what may stand in a tag, and in a path on the server."""
    parts = (part.strip(".-") for part in _UNWANTED.sub("-", text.lower()).split("/"))
    return "/".join(part for part in parts if part)[:_LONGEST_NAME]


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
