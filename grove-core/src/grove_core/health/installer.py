"""What grove was installed with, and how that brings further packages."""

import json
import shlex
import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attrs import field, frozen

from grove_core.plugins.discovery import GROUPS

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_CORE: Final = "grove-core"


class Tool(Enum):
    """What makes environments for programs, by the file that it leaves in them."""

    UV = "uv-receipt.toml"
    PIPX = "pipx_metadata.json"


@frozen(kw_only=True)
class Installer:
    """What brings packages into the environment that grove runs in.

    Attributes:
        tool: What made the environment for grove; ``None`` where pip, or something else, did.
        plugins: The distributions of plugins that are there; each with its folder where it is run
            from its source, else with ``None``.
    """

    tool: Tool | None = None
    plugins: Mapping[str, Path | None] = field(factory=dict)

    def command(self, *distributions: str) -> str:
        """Say how to add packages.

        Args:
            distributions: Their names.

        Returns:
            A shell command.
        """
        if self.tool is Tool.UV:
            # What is not named again goes; by its name alone, a source would come from the index.
            wanted = {**self.plugins, **{name: self.plugins.get(name) for name in distributions}}
            return " ".join(["uv tool install", _CORE, *map(_for_uv, wanted, wanted.values())])
        if self.tool is Tool.PIPX:
            return f"pipx inject {_CORE} {' '.join(distributions)}"
        return f"pip install {' '.join(distributions)}"


def gather_installer() -> Installer:
    """Look at the environment that runs.

    Returns:
        What made it, and the plugins in it.
    """
    from importlib.metadata import entry_points

    environment = Path(sys.prefix)
    points = (point.dist for group in GROUPS for point in entry_points(group=group))
    found = {one.name: one for one in points if one is not None}
    return Installer(
        tool=next((tool for tool in Tool if (environment / tool.value).is_file()), None),
        plugins={name: _source_of(found[name]) for name in sorted(found)},
    )


def _for_uv(name: str, source: Path | None) -> str:
    return f"--with {name}" if source is None else f"--with-editable {shlex.quote(str(source))}"


def _source_of(distribution: "Distribution") -> Path | None:
    """Find the folder of what is installed to be changed; the format is that of PEP 610."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        told = json.loads(distribution.read_text("direct_url.json") or "{}")
        is_editable = told.get("dir_info", {}).get("editable") is True
        return Path(url2pathname(urlsplit(told["url"]).path)) if is_editable else None
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
