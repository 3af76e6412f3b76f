"""``grove schema``: what ``--json`` prints."""

import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Final

import rich_click as click

from grove_core.cli.app import grove_command
from grove_core.errors import GroveError
from grove_core.plugins.discovery import PluginState
from grove_core.project import Project
from grove_core.services.result import Line, Result

_FILE: Final = "documents.md"
_SECTION: Final = re.compile(
    r"^## (?P<title>[^\n]+)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
_ROW: Final = re.compile(r"^\| `(?P<key>[^`]+)` \| ?(?P<meaning>.*?) ?\|$", re.MULTILINE)


@click.command("schema", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND]...")
@grove_command
def command(project: Project, *, words: tuple[str, ...]) -> Result:
    """Show the keys of a command's JSON document, or which commands have one.

    `a[].b` is the key `b` of each object in the list `a`, and `a{}` an object whose keys are names.
    """
    known = dict(_documents(project))
    title = " ".join(("grove", *words))
    if not words:
        names = [name.removeprefix("grove ") for name in known]
        return Result(document={"commands": names}, lines=names, ids=names)
    if title not in known:
        raise GroveError(f"{title} has no JSON document of its own; `grove schema` names those")
    text = known[title]
    keys = {row["key"]: row["meaning"] for row in _ROW.finditer(text)}
    prose = [line for line in text.strip().splitlines() if line and not line.startswith("|")]
    width = max(map(len, keys), default=0)
    lines: list[Line] = [[(f"{key:{width}}", "bold"), f"  {keys[key]}"] for key in keys]
    return Result(
        document={"command": title, "keys": keys, "notes": " ".join(prose)},
        lines=[*lines, *([""] if lines and prose else []), *prose],
        ids=list(keys),
    )


def _documents(project: Project) -> Iterator[tuple[str, str]]:
    """Yield title and text of every document, of grove and of plugins."""
    project.plugins.load_all()
    loaded = (one for one in project.plugins.found if one.state is PluginState.LOADED)
    targets = (plugin.target.partition(":")[0] for plugin in loaded)
    packages = dict.fromkeys(["grove_core", *(one.partition(".")[0] for one in targets)])
    for package in packages:
        yield from sections(package).items()


def sections(package: str) -> Mapping[str, str]:
    """Read what a package says of its commands' documents."""
    try:
        text = (resources.files(package) / _FILE).read_text(encoding="utf-8")
    except (ImportError, OSError):
        return {}
    return {one["title"].strip(): one["text"] for one in _SECTION.finditer(text)}
