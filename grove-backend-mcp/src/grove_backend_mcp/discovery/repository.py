"""What git's own files say about the project, read without running git."""

import os
import re
from pathlib import Path
from typing import Final

from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext

_ORIGIN: Final = re.compile(
    r'^\s*\[remote "origin"\][^\[]*?^\s*url\s*=\s*"?([^"#;\n]+)', re.MULTILINE
)
_ADDRESS: Final = re.compile(r"(?:[a-z+]+://)(?:[^/@]*@)?[^/]+/(.+)|(?:[^/:@]+@)?[^/:]+:(.+)")
_UNWANTED: Final = re.compile(r"[^a-z0-9._/-]+")
_LONGEST_NAME: Final = 100
_DIGEST_LENGTH: Final = 8


def main_work_tree(root: Path) -> Path:
    """Find the directory that the client keeps a project's servers under."""
    shared = _git_directory(root)
    top = next((one for one in (root, *root.parents) if os.path.exists(one / ".git")), root)  # noqa: PTH110
    return shared.parent if shared is not None and shared.name == ".git" else top


def project_name(context: BackendContext) -> str:
    """Name the project, alike on every machine, so that a server can be shared by several."""
    settings = context.settings
    if isinstance(settings, McpSettings) and settings.project:
        return settings.project
    shared = _git_directory(context.root)
    origin = _ORIGIN.search(_text(shared / "config")) if shared is not None else None
    if origin is not None and (name := _name_in_address(origin[1].strip())):
        return name
    import hashlib  # it loads OpenSSL, and most projects have a remote

    path = os.path.realpath(main_work_tree(context.root))
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST_LENGTH]
    return f"{_plain(os.path.basename(path)) or 'project'}-{digest}"  # noqa: PTH119 - a text


def _git_directory(root: Path) -> Path | None:
    """Find the directory that all work trees of a repository share; a submodule has its own."""
    entry = next((one / ".git" for one in (root, *root.parents) if (one / ".git").exists()), None)
    if entry is None or entry.is_dir():
        return entry
    directory = entry.parent / _text(entry).strip().removeprefix("gitdir:").strip()
    common = _text(directory / "commondir").strip()
    if not common:
        return directory if directory.name != ".git" else None
    # A linked work tree: both sides have to say so, for an archive can hold any such file.
    shared, back = os.path.realpath(directory / common), _text(directory / "gitdir").strip()
    is_inside = os.path.realpath(directory).startswith(f"{shared}/worktrees/")
    is_back = os.path.realpath(directory / back) == os.path.realpath(entry)
    return Path(shared) if is_inside and is_back else None


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
        content = path.read_bytes() if path.is_file() else b""
    except (OSError, ValueError):
        return ""
    return content.decode("utf-8", "replace").replace("\0", "")
