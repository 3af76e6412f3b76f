"""The servers that grove knows, each a file beside this module with tables of a configuration."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import tomli
from attrs import frozen

from grove_backend_mcp.mappings.mapping import ServerMapping, mapping_of
from grove_backend_mcp.mappings.schemas import required_of
from grove_backend_mcp.servers import Tool


@frozen(kw_only=True)
class Profile:
    """A server that is known: what it calls itself, which tools tell it apart, and its mapping."""

    name: str
    servers: str
    tools: Mapping[str, Sequence[str]]
    absent: Sequence[str]
    mapping: ServerMapping

    def fits(self, tools: Sequence[Tool], server_name: str = "") -> bool:
        """Check the name, and that the tools require what they are expected to."""
        if server_name and not re.fullmatch(self.servers, server_name.strip(), re.IGNORECASE):
            return False
        known = {tool.name: tool for tool in tools}
        has_other = any(name in known for name in self.absent)
        return not has_other and all(
            name in known and required_of(known[name]).issuperset(required)
            for name, required in self.tools.items()
        )


def profile_names() -> Sequence[str]:
    """List the names that a configuration may give."""
    return list(dict.fromkeys(_profile(name).name for name in _index()))


def profile_of_package(package: str) -> str | None:
    """Find the profile of a package by its name."""
    known = ((name, one) for name, packages in _index().items() for one in packages)
    wanted = _normalised(package)
    return next((name for name, one in known if _normalised(one) == wanted), None)


def _normalised(name: str) -> str:
    """Write a name as registries compare it; a module's name is then its package's as well."""
    return name.lower() if name.startswith("@") else re.sub(r"[-_.]+", "-", name).lower()


def profiles(named: str = "") -> Iterator[Profile]:
    """Read the profiles, or those of one name; of two that fit a server, the first one counts."""
    every = map(_profile, _index())
    return (one for one in every if not named or one.name == named)


def match_profile(tools: Sequence[Tool], server_name: str = "", named: str = "") -> Profile | None:
    """Find the profile of a server."""
    return next((one for one in profiles(named) if one.fits(tools, server_name)), None)


@cache
def _index() -> Mapping[str, Sequence[str]]:
    return _read("index")


@cache
def _profile(file_name: str) -> Profile:
    document = _read(file_name)
    name = document.pop("name", file_name)
    facts = {key: document.pop(key, ()) for key in ("servers", "tools", "absent")}
    return Profile(name=name, mapping=mapping_of(document, profile=name), **facts)


def _read(name: str) -> dict[str, Any]:
    return tomli.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
