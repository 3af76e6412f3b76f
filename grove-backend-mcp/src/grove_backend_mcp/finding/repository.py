"""What git's own files say about the project, read without running git."""

import os
import re
from pathlib import Path
from typing import Final

from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext

_MOST_BYTES: Final = 1024 * 1024
_SECTION: Final = re.compile(r'\[\s*(\w+)(?:\s+"([^"]*)")?\s*\]')
_URL_LINE: Final = re.compile(r'\s*url\s*=\s*"?([^"#;]+)', re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(?:[a-z+]+://)(?:[^/@]*@)?[^/]+/(.+)|(?:[^/:@]+@)?[^/:]+:(.+)")
_UNWANTED: Final = re.compile(r"[^a-z0-9._/-]+")
_LONGEST_NAME: Final = 100
_DIGEST_LENGTH: Final = 8


def main_work_tree(root: Path) -> Path:
    """Find the directory that the client keeps a project's servers under.

    Args:
        root: The project's root, anywhere in a work tree.

    Returns:
        The repository's main work tree, also from a linked one; the root itself without git.
    """
    top = _top_of(root)
    if top is None:
        return root
    shared = _shared_directory(top)
    return shared.parent if shared is not None and shared.name == ".git" else top


def project_name(context: BackendContext) -> str:
    """Name the project, alike on every machine, so that a server can be shared by several.

    Args:
        context: Where the backend works.

    Returns:
        The configured name, else owner and repository of the remote ``origin`` in lower case; else
        the root's own name with a digest of its path, since many folders have the same name.
    """
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
    if not _belongs_to(directory, top):
        return None  # anybody can write a file that names another project's repository
    common = _text(directory / "commondir").strip().replace("\0", "")
    return Path(os.path.realpath(directory / (common or ".")))


def _belongs_to(directory: Path, top: Path) -> bool:
    """Tell whether git's own directory says that a work tree is its, as git writes it."""
    entry = os.path.realpath(top / ".git")
    back = _text(directory / "gitdir").strip()
    if back and "\0" not in back:
        return os.path.realpath(directory / back) == entry
    # A submodule's directory names its work tree in its configuration.
    for line in _text(directory / "config").splitlines():
        name, _, value = line.partition("=")
        if name.strip().lower() == "worktree":
            return os.path.realpath(directory / value.strip()) == os.path.realpath(top)
    return False


def _origin(shared: Path) -> str:
    """Give the address of the remote ``origin``, as the repository's configuration writes it."""
    is_origin = False
    for line in _text(shared / "config").splitlines():
        section = _SECTION.match(line.strip())
        if section is not None:
            is_origin = section[1].lower() == "remote" and section[2] == "origin"
        elif is_origin and (found := _URL_LINE.match(line)):
            return found[1].strip()
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
