"""``grove plugins new``: a plugin as a project of its own, from a template that works."""

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

import rich_click as click

from grove_core import __version__
from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.result import Result
from grove_core.config.schema import config_keys
from grove_core.errors import GroveError, StorageError
from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    TICKET_GROUP,
    Plugin,
    canonical_name,
    discover,
    extras,
)
from grove_core.services.packages import install_command

if TYPE_CHECKING:
    from rich.console import Console

_TEMPLATES: Final = Path(__file__).parents[1] / "plugin_templates"
_PREFIXES: Final = {"backend": "grove-backend-", "ticket": "grove-tickets-"}
_GROUPS: Final = {"backend": BACKEND_GROUP, "ticket": TICKET_GROUP}
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST_NAME: Final = 30


class PercentTemplate(Template):
    """``%{name}``: a dollar means something in workflows and shells."""

    delimiter = "%"


@click.command("new")
@click.argument("kind", type=click.Choice([*_PREFIXES]))
@click.argument("name")
@click.option(
    "--into",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The project's folder, empty or not there yet; by default named as the package, here.",
)
@grove_command
def command(invocation: Invocation, *, kind: str, name: str, into: Path | None) -> Result:
    """Write a plugin of your own that works, with tests, to go on from.

    A `backend` keeps learnings; this one keeps them in a file of JSON lines. A `ticket` system
    tells when a ticket is closed; this one knows a made-up tracker. The project has a
    `pyproject.toml`, tests against the rules that plugins have to keep, a README and a CI workflow.
    """
    distribution = f"{_PREFIXES[kind]}{name}"
    found = discover(invocation.project.paths.home)
    if objection := _objection(kind, name, distribution, found):
        raise GroveError(objection)
    folder = into if into is not None else Path(distribution)
    page = f"https://pypi.org/project/{distribution}/"
    major, minor = (int(part) for part in __version__.split(".")[:2])
    words = {
        "name": name,
        "distribution": distribution,
        "module": distribution.replace("-", "_"),
        "page": page,
        # Minor versions of 0 may break what a plugin relies on.
        "core_range": f">={major}.{minor},<{major + 1 if major else f'0.{minor + 1}'}",
    }
    written = _write_project(kind, words, folder)
    following = _following(distribution, folder)

    def human(console: "Console") -> None:
        for path in written:
            console.print(f"wrote {path}")
        console.print("\nNext, in the environment that grove is installed in:\n")
        for line in following:
            console.print(f"  {line}")
        console.print(f"\nThe name is free as long as there is no {page}")

    return Result(
        document={
            "distribution": distribution,
            "folder": folder.absolute(),
            "written": [path.absolute() for path in written],
            "next": following,
        },
        human=human,
        ids=[str(path.absolute()) for path in written],
    )


def _objection(kind: str, name: str, distribution: str, found: Sequence[Plugin]) -> str:
    """Say why a plugin cannot have a name; nothing where it can."""
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        return (
            f"{name!r} does not do as a name: small letters and digits of ASCII, with single"
            f" hyphens between, a letter first, at most {_LONGEST_NAME}; such as acme or acme-notes"
        )
    if name.startswith("grove-"):
        short = name.removeprefix(_PREFIXES[kind]).removeprefix("grove-")
        return f"name the {kind} alone, such as {short}: grove- comes before it"
    # What stands beside the backends' own sections and in their order.
    keys = [key.split(".") for key in config_keys()]
    if kind == "backend" and name in {"config", *(key[1] for key in keys if key[0] == "backends")}:
        return f"{name} is a word of grove's own configuration: choose another name"
    if any(name == one.name and one.group == _GROUPS[kind] for one in found):
        return f"a {kind} called {name} is installed: choose another name"
    # What grove's own package can bring is taken where nothing is installed as well.
    packages = {canonical_name(one.distribution) for one in found}
    if distribution in packages.union(*extras().values()):
        return f"there is a package {distribution} already: choose another name"
    return ""


def _write_project(kind: str, words: Mapping[str, str], folder: Path) -> list[Path]:
    """Fill in the templates, where there is nothing yet."""
    texts: dict[Path, str] = {}
    for root in (_TEMPLATES / "common", _TEMPLATES / kind):
        for path in root.rglob("*.template"):
            name = path.relative_to(root).as_posix().replace("MODULE", words["module"])
            text = PercentTemplate(path.read_text(encoding="utf-8")).substitute(words)
            texts[folder / name.removesuffix(".template")] = text
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise StorageError(f"{folder} is not empty: name another folder with --into")
        for place, text in texts.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {folder}: {error.strerror or error}") from error
    return sorted(texts)


def _following(distribution: str, folder: Path) -> list[str]:
    """Return how to install and try the project in the environment that grove runs in."""
    place = shlex.quote(folder.as_posix() if folder.is_absolute() else f".{os.sep}{folder}")
    install = install_command(editable=f"{place}'[dev]'")
    is_pip = install.startswith("pip ")
    python = "python" if is_pip else shlex.quote(sys.executable)
    return [
        f"{python} -m {install}" if is_pip else install,
        f"{python} -m pytest {place}",
        f"grove plugins check {distribution}",
    ]
