"""What grove was installed with, and how that adds, renews and removes packages."""

import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve, frozen

from grove_core.plugins.discovery import GROUPS, canonical_name

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_CORE: Final = "grove-core"
_OF_EXTRA: Final = re.compile(r"(?P<name>[\w.-]+).*;.*\bextra\s*==\s*['\"](?P<extra>[^'\"]*)")
_CREDENTIALS: Final = re.compile(r"://(?!git@)[^/\s]*@")


class Tool(Enum):
    """What makes environments for programs, by the file that it leaves in them."""

    UV = "uv-receipt.toml"
    PIPX = "pipx_metadata.json"


@frozen(kw_only=True)
class Package:
    """A package, as it has to be named to come as it is."""

    name: str
    extras: tuple[str, ...] = ()
    versions: str = ""
    marker: str = ""
    url: str = ""
    folder: Path | None = None

    @property
    def requirement(self) -> str:
        """What pip and uv are told, as one word that is not quoted."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        if self.folder is not None:
            return f"{self.folder}{extras}"
        origin = f" @ {self.url}" if self.url else self.versions
        return f"{self.name}{extras}{origin}{f' ; {self.marker}' if self.marker else ''}"


@frozen(kw_only=True)
class Installer:
    """What brings packages into the environment that grove runs in."""

    tool: Tool | None = None
    options: Sequence[str] = ()
    core: Package = Package(name=_CORE)
    beside: Sequence[Package] = ()

    def command(self, *distributions: str) -> str:
        """Return how to add packages."""
        if self.tool is Tool.UV:
            return self._by_uv(self.beside, distributions)
        if self.tool is Tool.PIPX:
            arguments = ["--pip-args", shlex.join(self.options)] if self.options else []
            words = ["pipx", "inject", *arguments, _CORE]
            return f"{shlex.join(words)} {' '.join(distributions)}"
        return f"pip install {' '.join(distributions)}"

    def reinstallation(self) -> str:
        """Return how to bring grove and all that was asked for beside it anew."""
        if self.tool is Tool.UV:
            return self._by_uv(self.beside, (), "--reinstall")
        if self.tool is Tool.PIPX:
            return f"pipx reinstall {_CORE}"  # with what was injected: it has written that down
        everything = (word for one in (self.core, *self.beside) for word in _for_pip(one))
        return shlex.join(["pip", "install", "--force-reinstall", *everything])

    def upgrade(self, distribution: str) -> str:
        """Return how to bring the newest version of a package that is there."""
        if self.tool is Tool.UV:
            return f"uv tool upgrade {_CORE}"
        if self.tool is Tool.PIPX:
            return f"pipx upgrade --include-injected {_CORE}"
        found = self._beside(distribution)
        words = _for_pip(found) if found else [distribution]
        return shlex.join(["pip", "install", "--upgrade", *words])

    def removal(self, distribution: str) -> str:
        """Return how to remove a package."""
        found = self._beside(distribution)
        if self.tool is None:
            return f"pip uninstall {found.name if found else distribution}"
        if found is None:
            return ""
        if self.tool is Tool.UV:
            return self._by_uv([one for one in self.beside if one is not found], ())
        return f"pipx uninject {_CORE} {found.name}"

    def folder_of(self, distribution: str) -> Path | None:
        """Tell where a package is run from its source."""
        found = self._beside(distribution)
        return found.folder if found else None

    def _beside(self, distribution: str) -> Package | None:
        wanted = canonical_name(distribution)
        return next((one for one in self.beside if canonical_name(one.name) == wanted), None)

    def _by_uv(self, beside: Sequence[Package], further: Sequence[str], *first: str) -> str:
        """Name all of it again, since what is not named goes, options included."""
        core = ["--editable"] if self.core.folder else []
        words = ["uv", "tool", "install", *first, *self.options, *core, self.core.requirement]
        for one in beside:
            words += ["--with-editable" if one.folder else "--with", one.requirement]
        added = [f"--with {word}" for word in further if self._beside(word) is None]
        return " ".join([shlex.join(words), *added])


@cache
def gather_installer() -> Installer:
    """Look at the environment that runs: once, since it stays the same and has many packages."""
    return installer_of(Path(sys.prefix), sys.path)


def installer_of(environment: Path, path: Sequence[str]) -> Installer:
    """Look at an environment."""
    plugins = _plugins_in(path)
    tool = next((tool for tool in Tool if (environment / tool.value).is_file()), None)
    if tool is None:
        core = _located(Package(name=_CORE), path)
        return Installer(core=core, beside=[plugins[name] for name in sorted(plugins)])
    from grove_core.health import receipts

    if tool is Tool.PIPX:
        names, options = receipts.read_pipx(environment / tool.value)
        return Installer(tool=tool, options=options, beside=[Package(name=one) for one in names])
    asked, options = receipts.read_uv(environment / tool.value)
    found = {canonical_name(one.name): _located(one, path) for one in asked}
    core = found.pop(_CORE, Package(name=_CORE))
    # What somebody has put in without uv would go as well.
    by_hand = plugins.keys() - set(_brought_by(core, path))
    found = {**{name: plugins[name] for name in by_hand}, **found}
    return Installer(
        tool=tool, options=options, core=core, beside=[found[name] for name in sorted(found)]
    )


def without_credentials(text: str) -> str:
    """Leave out names and passwords in addresses: what is printed may end up anywhere."""
    return _CREDENTIALS.sub("://", text)


def _plugins_in(path: Sequence[str]) -> Mapping[str, Package]:
    """Find the packages of plugins, by their canonical names."""
    from importlib.metadata import distributions

    found: dict[str, Package] = {}
    for one in distributions(path=list(path)):
        with suppress(Exception):  # broken metadata of one distribution concerns no other
            text = one.read_text("entry_points.txt") or ""
            if any(group in text for group in GROUPS) and _offers_plugins(one):
                # A distribution that is listed twice counts where Python looks first.
                plugin = _with_origin(Package(name=one.name), one)
                found.setdefault(canonical_name(one.name), plugin)
    return found


def _offers_plugins(distribution: "Distribution") -> bool:
    return any(point.group in GROUPS for point in distribution.entry_points)


def _brought_by(core: Package, path: Sequence[str]) -> Iterator[str]:
    """Name what the extras of grove's own package bring, canonically."""
    with suppress(Exception):  # metadata that cannot be read tells nothing
        for requirement in getattr(_distribution(core.name, path), "requires", None) or ():
            named = _OF_EXTRA.match(requirement)
            if named and named["extra"] in core.extras:
                yield canonical_name(named["name"])


def _located(asked: Package, path: Sequence[str]) -> Package:
    """Say of a package that may be installed where it came from."""
    found = _distribution(asked.name, path)
    return asked if found is None else _with_origin(asked, found)


def _distribution(name: str, path: Sequence[str]) -> "Distribution | None":
    from importlib.metadata import Distribution

    return next(iter(Distribution.discover(name=name, path=list(path))), None)


def _with_origin(asked: Package, distribution: "Distribution") -> Package:
    """Read where a distribution came from, which pip and uv write down as PEP 610 says."""
    try:
        told = json.loads(distribution.read_text("direct_url.json") or "{}")
        url = without_credentials(told["url"])
        return evolve(asked, **_origin(url, told))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return asked


def _origin(url: str, told: Mapping[str, Any]) -> dict[str, Any]:
    folder = told.get("dir_info")
    if isinstance(folder, dict) and folder.get("editable") is True:
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        return {"folder": Path(url2pathname(urlsplit(url).path))}
    return {"url": _address(url, told)}


def _address(url: str, told: Mapping[str, Any]) -> str:
    repository = told.get("vcs_info")
    if isinstance(repository, dict):
        revision = repository.get("requested_revision")
        url = f"{repository.get('vcs')}+{url}{f'@{revision}' if revision else ''}"
    folder = told.get("subdirectory")
    return f"{url}#subdirectory={folder}" if folder else url


def _for_pip(one: Package) -> Sequence[str]:
    return ["-e", one.requirement] if one.folder else [one.requirement]
