"""The interpreter and what is installed in it."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core import __version__
from grove_core.health.check import Check, broken, ok, warning
from grove_core.health.installer import Installer, gather_installer

_DISTRIBUTION: Final = "grove-core"
_OLDEST: Final = (3, 11)
_CACHE_TAG: Final = "CACHEDIR.TAG"
INSTALL: Final = (
    "Install grove where it stays: uv tool install 'grove-core[markdown,tickets]'"
    " (or: pip install 'grove-core[markdown,tickets]')"
)


@frozen(kw_only=True)
class InstallationFacts:
    """The interpreter and the distribution."""

    python: tuple[int, int, int]
    executable: str
    version: str
    installed_version: str | None
    has_script: bool
    cache: Path | None = None
    installer: Installer = Installer()


def cache_around(environment: Path) -> Path | None:
    """Find the cache that an environment lies in: it will be cleared some day."""
    return next((one for one in environment.parents if (one / _CACHE_TAG).is_file()), None)


def gather_installation() -> InstallationFacts:
    """Look at this process's own environment."""
    from importlib.metadata import PackageNotFoundError, distribution

    installed: str | None = None
    has_script = False
    try:
        found = distribution(_DISTRIBUTION)
    except PackageNotFoundError:
        pass
    else:
        installed = found.version
        scripts = found.entry_points.select(group="console_scripts")
        has_script = "grove" in scripts.names
    return InstallationFacts(
        python=(sys.version_info.major, sys.version_info.minor, sys.version_info.micro),
        executable=sys.executable,
        version=__version__,
        installed_version=installed,
        has_script=has_script,
        cache=cache_around(Path(sys.prefix)),
        installer=gather_installer(),
    )


def judge_installation(facts: InstallationFacts) -> Sequence[Check]:
    """Return whether the interpreter will do and the installation is whole."""
    return [_python(facts), _distribution(facts)]


def _python(facts: InstallationFacts) -> Check:
    text = ".".join(str(number) for number in facts.python)
    detail = f"Python {text} ({facts.executable})"
    if facts.python < _OLDEST:
        oldest = ".".join(str(number) for number in _OLDEST)
        return broken("python", detail, f"Install grove into a Python of {oldest} or newer")
    return ok("python", detail)


def _distribution(facts: InstallationFacts) -> Check:
    name = "installation"
    anew = f"Install grove-core anew: {facts.installer.reinstallation()}"
    if facts.installed_version is None:
        detail = "grove-core runs without its metadata, so it cannot tell its own plugins"
        return broken(name, detail, anew)
    if not facts.has_script:
        return broken(name, "the entry point of the program grove is missing", anew)
    if facts.cache is not None:
        detail = f"grove {facts.version} runs from the cache {facts.cache}, which is cleared"
        return warning(name, detail, INSTALL)
    if facts.installed_version != facts.version:
        detail = f"grove {facts.version} runs, its metadata says {facts.installed_version}"
        return warning(name, detail, anew)
    return ok(name, f"grove {facts.version}, with the entry point of its program")
