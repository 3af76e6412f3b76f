"""``grove config``."""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import rich_click as click
from attrs import asdict, evolve

from grove_core.cli.app import grove_command
from grove_core.cli.groups import LazyGroup
from grove_core.cli.result import Result
from grove_core.config.edit import in_toml
from grove_core.config.load import Origin, Source
from grove_core.errors import ConfigError
from grove_core.project import Project
from grove_core.services.result import Line
from grove_core.services.settings import (
    EffectiveSetting,
    effective_settings,
    examine_settings,
    read_setting,
    setting_named,
    write_setting,
)
from grove_core.text import counted, escape_invisible

_ORIGINS: Final = {
    Source.ENVIRONMENT: "environment variable",
    Source.PROJECT: "project file",
    Source.USER: "user file",
    Source.DEFAULT: "default",
}
# Passwords in addresses of databases and servers: people paste what is shown.
_OF_URL: Final = re.compile(r"(://[^\s/?#@:]*:)[^\s@]*@")
_NAMED: Final = re.compile(r"(\bpassword\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&]+)", re.IGNORECASE)


@click.group("config", cls=LazyGroup, invoke_without_command=True)
@grove_command
def command(project: Project) -> Result:
    """Show the settings in force, where each comes from, and what is wrong with them.

    Alone it does what `grove config show` does.
    """
    return _shown(project, only_changed=False)


@command.command("show")
@click.option("--changed", is_flag=True, help="Only what a file or the environment sets.")
@grove_command
def show(project: Project, *, changed: bool) -> Result:
    """Show every key with its value in force and what sets it; a star marks what is set.

    Passwords in addresses are left out here; `grove config get` prints a value as it is.
    """
    return _shown(project, only_changed=changed)


def _shown(project: Project, *, only_changed: bool) -> Result:
    settings = [
        evolve(one, value=_NAMED.sub(r"\1***", _OF_URL.sub(r"\1***@", one.value)))
        if isinstance(one.value, str)
        else one
        for one in effective_settings(project)
        if one.changed or not only_changed
    ]
    return Result(
        document={"settings": settings},
        lines=[*_lines_of(settings)] or ["Nothing is set: every key has its default."],
        ids=[one.key for one in settings],
        warnings=[str(problem) for problem in project.loaded_config.problems],
    )


@command.command("get")
@click.argument("key")
@grove_command
def get(project: Project, *, key: str) -> Result:
    """Print the value in force of one key: text as it is, everything else as TOML has it."""
    setting = setting_named(project, key)
    value = setting.value
    text = escape_invisible(value) if isinstance(value, str) else in_toml(value)
    text = "" if value is None else text
    problems = project.loaded_config.problems
    return Result(
        document=asdict(setting),
        lines=[text],
        ids=[text],
        warnings=[str(one) for one in problems if one.key == key],
    )


@command.command("set")
@click.argument("key")
@click.argument("value")
@click.option("--user", is_flag=True, help="In your own file, for all your projects.")
@grove_command
def set_(project: Project, *, key: str, value: str, user: bool) -> Result:
    """Set a key in the project's file; comments and everything else stay.

    A list is separated by commas. A wrong value is refused.
    """
    return _written(project, key, read_setting(project, key, value), user=user)


@command.command("unset")
@click.argument("key")
@click.option("--user", is_flag=True, help="In your own file, for all your projects.")
@grove_command
def unset(project: Project, *, key: str, user: bool) -> Result:
    """Remove a key from the project's file: what is weaker counts again."""
    return _written(project, key, None, user=user)


def _written(project: Project, key: str, value: object, *, user: bool) -> Result:
    if not user and not project.files.initialised:
        raise ConfigError(f"{project.root} has no .grove; grove init makes one, or use --user")
    path = project.paths.config_file if user else project.files.config_file
    changed = write_setting(path, key, value, project.paths.home if user else project.root)
    said = f"{key} is not set" if value is None else f"{key} = {in_toml(value)}"
    return Result(
        document={"key": key, "value": value, "path": path, "changed": changed},
        lines=[f"{said}  ({path}{'' if changed else ', as before'})"],
        ids=[key] if changed else [],
    )


@command.command("path")
@grove_command
def path(project: Project) -> Result:
    """Show where the configuration files are, the stronger one first, and whether they exist."""
    files = _files(project)

    lines = []
    for one in files:
        state = "" if one["exists"] else "  does not exist"
        if one["exists"] and not one["used"]:
            state = "  is not used: the project has no .grove of its own"
        lines.append(f"{one['source'].value:<8} {one['path']}{state}")
    return Result(
        document={"files": files},
        lines=lines,
        ids=[str(one["path"]) for one in files if one["used"]],
    )


def _files(project: Project) -> list[dict[str, Any]]:
    own, user = project.files.config_file, project.paths.config_file
    places = ((Source.PROJECT, own, project.files.initialised), (Source.USER, user, True))
    return [
        {"source": source, "path": path, "exists": exists, "used": exists and may_be_used}
        for source, path, may_be_used in places
        for exists in (os.path.lexists(path),)
    ]


@command.command("validate")
@grove_command
def validate(project: Project) -> Result:
    """Name every mistake in the files and the environment, with its place.

    A mistake costs one key, which then has what the next weaker layer says. Sections of plugins are
    checked by what the plugins declare. What is set and has no effect is named and is no mistake: a
    section that no plugin reads, a project's value that waits for `grove trust`. Exit code 1 when
    there is a mistake.
    """
    found = examine_settings(project)
    warnings = [*map(str, found.waiting), *found.unused]

    where = ", ".join(str(one["path"]) for one in _files(project) if one["used"])
    lines: list[Line] = [(str(problem), "yellow") for problem in found.mistakes]
    lines += [f"{counted(len(found.mistakes), 'mistake')} ({where or 'no file exists'})."]
    return Result(
        document={
            "valid": not found.mistakes,
            "problems": [
                {"key": one.key or None, "origin": one.origin, "message": one.message}
                for one in found.mistakes
            ],
            "warnings": warnings,
        },
        lines=lines,
        ids=list(dict.fromkeys(one.key or _place(one.origin) for one in found.mistakes)),
        exit_code=1 if found.mistakes else 0,
        warnings=warnings,
    )


def _lines_of(settings: Sequence[EffectiveSetting]) -> Iterator[Line]:
    widest = max((len(one.key) for one in settings), default=0)
    for one in settings:
        origin = f"{_ORIGINS[one.origin.source]} {_place(one.origin)}".rstrip()
        yield [
            ("* " if one.changed else "  ", "yellow"),
            (f"{escape_invisible(one.key):<{widest}}", "bold" if one.changed else ""),
            f" = {escape_invisible(in_toml(one.value))}",
            (f"  ({origin})", "dim"),
        ]


def _place(origin: Origin) -> str:
    return str(origin.file or origin.variable or "")
