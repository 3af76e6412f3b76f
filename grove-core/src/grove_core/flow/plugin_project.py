"""A new plugin as a project of its own, from a template that works."""

import re
from collections.abc import Collection, Mapping
from enum import Enum
from pathlib import Path
from string import Template
from typing import Final

from grove_core import __version__
from grove_core.config.schema import config_keys
from grove_core.errors import GroveError, StorageError
from grove_core.model.value import frozen
from grove_core.plugins.discovery import BACKEND_GROUP, TICKET_GROUP, canonical_name
from grove_core.storage import files

_TEMPLATES: Final = Path(__file__).parents[1] / "plugin_templates"
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST_NAME: Final = 30
_FILE_MODE: Final = 0o644
# A program of such a name would be read as something else, or as what runs another program.
_SHELL_WORDS: Final = frozenset(
    "bash break builtin case cd command continue coproc dash declare do done elif else env"
    " esac eval exec exit export false fi find flock for function getopts if let local mapfile"
    " nice nohup npx parallel popd pushd read readonly return select set setsid sh shift"
    " source stdbuf sudo then time timeout trap true typeset unset until uvx watch while xargs"
    " zsh".split()
)
_COMMON_FILES: Final = {".gitignore": "gitignore", ".github/workflows/ci.yml": "ci.yml"}


class PluginKind(Enum):
    """What a plugin can be written for."""

    BACKEND = "backend"
    TICKET = "ticket"

    @property
    def group(self) -> str:
        """The entry point group."""
        return BACKEND_GROUP if self is PluginKind.BACKEND else TICKET_GROUP

    @property
    def prefix(self) -> str:
        """What the names of such distributions begin with."""
        return "grove-backend-" if self is PluginKind.BACKEND else "grove-tickets-"

    @property
    def files(self) -> Mapping[str, str]:
        """The project's files, in which ``MODULE`` stands for the module, by their templates."""
        main = "backend.py" if self is PluginKind.BACKEND else "tracker.py"
        return {
            "pyproject.toml": "pyproject.toml",
            "README.md": "README.md",
            "src/MODULE/__init__.py": "init.py",
            f"src/MODULE/{main}": main,
            "tests/test_contract.py": "test_contract.py",
        }


@frozen(kw_only=True)
class PluginProject:
    """A plugin that is not written yet."""

    kind: PluginKind
    name: str

    @property
    def distribution(self) -> str:
        """What the package is called."""
        return f"{self.kind.prefix}{self.name}"

    @property
    def module(self) -> str:
        """What is imported."""
        return self.distribution.replace("-", "_")

    @property
    def page(self) -> str:
        """Where the package index would show it."""
        return f"https://pypi.org/project/{self.distribution}/"

    def texts(self) -> dict[str, str]:
        """Fill in the templates."""
        words = {
            "name": self.name,
            "distribution": self.distribution,
            "module": self.module,
            "page": self.page,
            "core_range": _range_of(__version__),
        }
        own = {path: f"{self.kind.value}/{source}" for path, source in self.kind.files.items()}
        found = {
            path.replace("MODULE", self.module): _filled(source, words)
            for path, source in (own | _COMMON_FILES).items()
        }
        # Type checkers read the annotations of a package only where it says that it has some.
        return {**found, f"src/{self.module}/py.typed": ""}


class _PercentTemplate(Template):
    """``%{name}``: a dollar means something in workflows and shells."""

    delimiter = "%"


def _filled(source: str, words: Mapping[str, str]) -> str:
    template = (_TEMPLATES / f"{source}.template").read_text(encoding="utf-8")
    return _PercentTemplate(template).substitute(words)


def _range_of(version: str) -> str:
    """Return the versions of grove that keep what a plugin relies on."""
    major, minor = (int(part) for part in version.split(".")[:2])
    last = f"0.{minor + 1}" if major == 0 else str(major + 1)
    return f">={major}.{minor},<{last}"


def project_of(
    kind: PluginKind, name: str, *, taken: Collection[str], packages: Collection[str]
) -> PluginProject:
    """Plan a plugin."""
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise GroveError(
            f"{name!r} does not do as a name: small letters and digits of ASCII, with single"
            f" hyphens between, a letter first, at most {_LONGEST_NAME}; such as acme or acme-notes"
        )
    if name.startswith("grove-"):
        short = name.removeprefix(kind.prefix).removeprefix("grove-")
        raise GroveError(f"name the {kind.value} alone, such as {short}: grove- comes before it")
    if name in taken:
        raise GroveError(f"a {kind.value} called {name} is installed: choose another name")
    if kind is PluginKind.BACKEND and name in _reserved_names():
        raise GroveError(f"{name} is a word of grove's own configuration: choose another name")
    if kind is PluginKind.TICKET and name in _SHELL_WORDS:
        raise GroveError(f"{name} is a word of the shell: choose another name")
    project = PluginProject(kind=kind, name=name)
    if project.distribution in {canonical_name(one) for one in packages}:
        raise GroveError(f"there is a package {project.distribution} already: choose another name")
    return project


def _reserved_names() -> frozenset[str]:
    """Name what stands beside the backends' own sections and in their order."""
    keys = (key.split(".") for key in config_keys())
    return frozenset({"config", *(key[1] for key in keys if key[0] == "backends")})


def write_project(project: PluginProject, folder: Path) -> tuple[Path, ...]:
    """Write a project where there is nothing yet."""
    texts = project.texts()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise StorageError(f"{folder} is not empty: name another folder with --into")
        written = tuple(folder / path for path in sorted(texts))
        for path in written:
            path.parent.mkdir(parents=True, exist_ok=True)
            text = texts[path.relative_to(folder).as_posix()]
            files.replace(path, text.encode(), mode=_FILE_MODE)
    except OSError as error:
        raise StorageError(f"cannot write {folder}: {error.strerror or error}") from error
    return written
