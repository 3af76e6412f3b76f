"""What grove was installed with, and how that brings further packages."""

import sys
from enum import Enum
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.plugins.discovery import GROUPS

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
        plugins: The distributions of plugins that are there.
    """

    tool: Tool | None = None
    plugins: tuple[str, ...] = ()

    def command(self, *distributions: str) -> str:
        """Say how to add packages.

        Args:
            distributions: Their names.

        Returns:
            A shell command.
        """
        if self.tool is Tool.UV:
            # What is not named again goes.
            names = dict.fromkeys((*self.plugins, *distributions))
            return " ".join(["uv tool install", _CORE, *(f"--with {name}" for name in names)])
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
    found = (point.dist for group in GROUPS for point in entry_points(group=group))
    return Installer(
        tool=next((tool for tool in Tool if (environment / tool.value).is_file()), None),
        plugins=tuple(sorted({one.name for one in found if one is not None})),
    )
