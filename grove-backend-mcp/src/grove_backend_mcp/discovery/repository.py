"""What git's own files say about the project, read without running git."""

import os
import re
from pathlib import Path
from typing import Final

from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext

_SECTION: Final = re.compile(r'\[\s*(\w+)(?:\s+"([^"]*)")?\s*\]')
_KEY_LINE: Final = re.compile(r'\s*(\w+)\s*=\s*"?([^"#;]+)')
_ADDRESS: Final = re.compile(r"(?:[a-z+]+://)(?:[^/@]*@)?[^/]+/(.+)|(?:[^/:@]+@)?[^/:]+:(.+)")
_UNWANTED: Final = re.compile(r"[^a-z0-9._/-]+")
_LONGEST_NAME: Final = 100
_DIGEST_LENGTH: Final = 8


def main_work_tree(root: Path) -> Path:
    """Find the directory that the client keeps a project's servers under."""
    top = _top_of(root)
    shared = top and _shared_directory(top)
    return shared.parent if shared and shared.name == ".git" else top or root


def project_name(context: BackendContext) -> str:
    """Name the project, alike on every machine, so that a server can be shared by several."""
    settings = context.settings
    if isinstance(settings, McpSettings) and settings.project:
        return settings.project
    top = _top_of(context.root)
    shared = top and _shared_directory(top)
    remote = _name_in_address(_value_in(shared, "remote", "origin", "url")) if shared else ""
    if remote:
        return remote
    import hashlib  # it loads OpenSSL, and most projects have a remote

    path = os.path.realpath(main_work_tree(context.root))
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST_LENGTH]
    return f"{_plain(os.path.basename(path)) or 'project'}-{digest}"  # noqa: PTH119 - a text


def _top_of(start: Path) -> Path | None:
    places = (start, *start.parents)
    return next((one for one in places if os.path.exists(one / ".git")), None)  # noqa: PTH110


def _shared_directory(top: Path) -> Path | None:
    """Find the directory that all work trees share; a submodule has one of its own."""
    entry = top / ".git"
    if os.path.isdir(entry):  # noqa: PTH112 - never raises
        return entry
    named = _text(entry).strip().replace("\0", "")
    if not named.startswith("gitdir:"):
        return None
    directory = top / named.removeprefix("gitdir:").strip()
    common = _text(directory / "commondir").strip().replace("\0", "")
    if common:
        # A linked work tree: both sides have to say so, for a clone can hold any such file.
        back = _text(directory / "gitdir").strip().replace("\0", "")
        shared = os.path.realpath(directory / common)
        is_inside = os.path.realpath(directory).startswith(f"{shared}/worktrees/")
        is_back = os.path.realpath(directory / back) == os.path.realpath(entry)
        return Path(shared) if is_inside and back and is_back else None
    worktree = _value_in(directory, "core", None, "worktree").replace("\0", "")
    is_own = bool(worktree) and os.path.realpath(directory / worktree) == os.path.realpath(top)
    return Path(os.path.realpath(directory)) if is_own else None


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
        return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
    except (OSError, ValueError):
        return ""
