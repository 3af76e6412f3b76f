"""``grove config``."""

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import rich_click as click
from attrs import evolve

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.cli.settings import (
    EffectiveSetting,
    effective_settings,
    examine_settings,
    in_json,
    in_toml,
    setting_named,
)
from grove_core.cli.suggestions import config_keys
from grove_core.config import ConfigProblem, Origin, Source
from grove_core.config.values import printable
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

_ORIGINS: Final = {
    Source.ENVIRONMENT: "environment variable",
    Source.PROJECT: "project file",
    Source.USER: "user file",
    Source.DEFAULT: "default",
}
_OF_URL: Final = re.compile(r"(://[^\s/?#@:]*:)[^\s@]*@")
_NAMED: Final = re.compile(r"(\bpassword\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&]+)", re.IGNORECASE)


@click.group("config", invoke_without_command=True)
@grove_command
def command(invocation: Invocation) -> Result:
    """Show the settings in force, where each comes from, and what is wrong with them.

    Alone it does what `grove config show` does.
    """
    return _shown(invocation.workspace, only_changed=False)


@command.command("show")
@click.option("--changed", is_flag=True, help="Only what a file or the environment sets.")
@grove_command
def show(invocation: Invocation, *, changed: bool) -> Result:
    """Show every key with its value in force and what sets it; a star marks what is set.

    Passwords in addresses are left out here; `grove config get` prints a value as it is.
    """
    return _shown(invocation.workspace, only_changed=changed)


@command.command("get")
@click.argument("key", shell_complete=config_keys)
@grove_command
def get(invocation: Invocation, *, key: str) -> Result:
    """Print the value in force of one key: text as it is, everything else as TOML has it."""
    setting = setting_named(invocation.workspace, key)
    return Result(
        document=_document(setting),
        human=lambda console: console.print(_bare(setting), soft_wrap=True),
        ids=[_bare(setting)],
        warnings=_warnings_on(key, invocation.workspace),
    )


@command.command("path")
@grove_command
def path(invocation: Invocation) -> Result:
    """Show where the configuration files are, the stronger one first, and whether they exist."""
    files = _files(invocation.workspace)

    def human(console: "Console") -> None:
        for one in files:
            state = "" if one["exists"] else "  does not exist"
            if one["exists"] and not one["used"]:
                state = "  is not used: the project has no .grove of its own"
            console.print(f"{one['source'].value:<8} {one['path']}{state}")

    return Result(
        document={"files": files},
        human=human,
        ids=[str(one["path"]) for one in files if one["exists"] and one["used"]],
    )


@command.command("validate")
@grove_command
def validate(invocation: Invocation) -> Result:
    """Name every mistake in the files and the environment, with its place.

    A mistake costs one key, which then has what the next weaker layer says. Sections of plugins are
    checked by what the plugins declare. What is set and has no effect is named and is no mistake: a
    section that no plugin reads, an override of what is not installed, a key that nothing acts on
    yet, a project's value that waits for `grove trust`. Exit code 1 when there is a mistake.
    """
    found = examine_settings(invocation.workspace)
    problems, warnings = found.mistakes, [*map(str, found.waiting), *found.idle]

    def human(console: "Console") -> None:
        for problem in problems:
            console.print(str(problem), style="yellow")
        files = [str(one["path"]) for one in _files(invocation.workspace) if one["used"]]
        where = ", ".join(files) or "no file exists"
        console.print(f"{counted(len(problems), 'mistake')} ({where}).")

    return Result(
        document={
            "valid": not problems,
            "problems": [_problem_document(one) for one in problems],
            "warnings": warnings,
        },
        human=human,
        ids=list(dict.fromkeys(one.key or _place(one.origin) for one in problems)),
        exit_code=1 if problems else 0,
        warnings=warnings,
    )


def _shown(workspace: Workspace, *, only_changed: bool) -> Result:
    found = [one for one in effective_settings(workspace) if one.is_changed or not only_changed]
    settings = [evolve(one, value=_without_password(one.value)) for one in found]
    return Result(
        document={"settings": [_document(one) for one in settings]},
        human=lambda console: _human(settings, console),
        ids=[one.key for one in settings],
        warnings=_warnings(workspace),
    )


def _without_password(value: object) -> object:
    """Mask what an address of a database or a server may hold: people paste what is shown."""
    if not isinstance(value, str):
        return value
    return _NAMED.sub(r"\1***", _OF_URL.sub(r"\1***@", value))


def _warnings(workspace: Workspace) -> list[str]:
    return [str(problem) for problem in workspace.loaded_config.problems]


def _warnings_on(key: str, workspace: Workspace) -> list[str]:
    """Name the mistakes with one key; of all others only the number, for they may be many."""
    problems = workspace.loaded_config.problems
    own = [str(one) for one in problems if one.key == key]
    others = len(problems) - len(own)
    if others:
        number = counted(others, "mistake")
        own.append(f"{number} in the configuration; see grove config validate")
    return own


def _document(setting: EffectiveSetting) -> dict[str, Any]:
    return {
        "key": setting.key,
        "value": in_json(setting.value),
        "default": in_json(setting.default),
        "changed": setting.is_changed,
        "origin": _origin_document(setting.origin),
        "help": setting.help,
    }


def _origin_document(origin: Origin) -> dict[str, Any]:
    return {"source": origin.source, "file": origin.file, "variable": origin.variable}


def _problem_document(problem: ConfigProblem) -> dict[str, Any]:
    return {
        "key": problem.key or None,
        "origin": _origin_document(problem.origin),
        "message": problem.message,
    }


def _files(workspace: Workspace) -> list[dict[str, Any]]:
    places = (
        (Source.PROJECT, workspace.project.config_file, workspace.project.initialised),
        (Source.USER, workspace.paths.config_file, True),
    )
    found = []
    for source, place, may_be_used in places:
        exists = os.path.lexists(place)
        found.append(
            {"source": source, "path": place, "exists": exists, "used": exists and may_be_used}
        )
    return found


def _human(settings: Sequence[EffectiveSetting], console: "Console") -> None:
    from rich.text import Text

    widest = max((len(one.key) for one in settings), default=0)
    for one in settings:
        line = Text()
        line.append("* " if one.is_changed else "  ", style="yellow")
        line.append(f"{printable(one.key):<{widest}}", style="bold" if one.is_changed else "")
        line.append(f" = {printable(in_toml(one.value))}")
        line.append(f"  ({_origin_in_words(one.origin)})", style="dim")
        console.print(line)
    if not settings:
        console.print("Nothing is set: every key has its default.")


def _origin_in_words(origin: Origin) -> str:
    place = _place(origin)
    return f"{_ORIGINS[origin.source]}{f' {place}' if place else ''}"


def _place(origin: Origin) -> str:
    return str(origin.file or origin.variable or "")


def _bare(setting: EffectiveSetting) -> str:
    text = in_toml(setting.value)
    if text.startswith('"'):
        import json

        return printable(str(json.loads(text)))
    return text
