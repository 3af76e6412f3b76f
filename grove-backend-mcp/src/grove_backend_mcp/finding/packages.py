"""Which package a server's words name, as far as a profile knows it."""

import re
from collections.abc import Iterator
from typing import Final

from grove_backend_mcp.servers import ServerEntry, Transport

_SCOPED: Final = re.compile(r"(@[^@/]+/[^@/]+)(@.*)?")
_PLAIN: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(\[[^\]]*\])?(([@=<>~!]).*)?")
_INSTALLED: Final = re.compile(r".*/node_modules/((?:@[^/]+/)?[^/]+)(/.*)?", re.DOTALL)
_LONGEST_WORD: Final = 1024


def known_package(entry: ServerEntry) -> tuple[str, str] | None:
    """Return whether a server is one of those that a profile is made for."""
    if entry.transport is not Transport.STDIO:
        return None
    from grove_backend_mcp.mappings.profiles import PACKAGES

    profiles = {_normal(name): profile for name, profile in PACKAGES.items()}
    for name in _names_in(entry):
        if (profile := profiles.get(_normal(name))) is not None:
            return name, profile
    return None


def _names_in(entry: ServerEntry) -> Iterator[str]:
    yield entry.command.rpartition("/")[2]
    for word in (entry.command, *entry.args):
        if len(word) > _LONGEST_WORD:
            continue
        if (installed := _INSTALLED.fullmatch(word)) is not None:
            yield installed[1]
        elif (scoped := _SCOPED.fullmatch(word)) is not None:
            yield scoped[1]
        elif (plain := _PLAIN.fullmatch(word)) is not None:
            yield plain[1]


def _normal(name: str) -> str:
    """Write a name as registries compare it; a module's name is then its package's as well."""
    return name.lower() if name.startswith("@") else re.sub(r"[-_.]+", "-", name).lower()
