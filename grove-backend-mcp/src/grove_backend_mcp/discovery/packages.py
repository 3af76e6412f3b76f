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
    from grove_backend_mcp.mappings.profiles import normalised_package, profile_of_package

    for name in _names_in(entry):
        if (profile := profile_of_package(normalised_package(name))) is not None:
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
