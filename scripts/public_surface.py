"""Write down everything that others build on, and compare it with what was written down last.

One line a thing: public names of ``grove_core`` and ``grove_core.testing``, the reader of shell
text, hooks, entry-point groups, commands with their arguments, options and choices, configuration
keys, events. ``--record`` writes the record; without it, the script says what was added, and what
breaks those who use it.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Final

import rich_click as click  # noqa: TID253 - no hook runs this
from attrs import NOTHING, fields, frozen, has

import grove_core
from grove_core import testing
from grove_core.cli.main import grove
from grove_core.config.schema import config_keys
from grove_core.model.events import EVENT_TYPES
from grove_core.model.hook import HookEvent
from grove_core.plugins.discovery import GROUPS
from grove_core.plugins.hookspecs import LifeCycleHooks, RegistrationHooks
from grove_tickets import reader

RECORD: Final = Path(__file__).resolve().parent.parent / "tests" / "api" / "public_surface.txt"
REQUIRED: Final = "required"
OPTIONAL: Final = "optional"
_ALONE: Final = "alone"
_HEAD: Final = "grove_api "
_MODULE: Final = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Za-z_])")


@frozen(kw_only=True)
class Difference:
    """What has changed since the record was written.

    Attributes:
        breaking: Lines about what is gone, is other than it was, or has come to be required.
        additions: Lines about what is new and disturbs nobody.
    """

    breaking: tuple[str, ...]
    additions: tuple[str, ...]


def difference(recorded: Sequence[str], found: Sequence[str]) -> Difference:
    """Compare two surfaces.

    Args:
        recorded: The lines that were written down.
        found: The lines of today.

    Returns:
        What differs. A new thing that is required breaks where its owner was there before: a
        parameter of a function, a field of a class, a method of a protocol. What is no longer
        required disturbs nobody; another order of parameters by position, or another default, does.
    """
    owners = {_owner(line) for line in recorded}
    new = [line for line in found if line not in set(recorded)]
    demands = [line for line in new if _is_demand(line) and _owner(line) in owners]
    # What has come to be required is told as a demand, or is gone as it was.
    there = {_undemanding(line) for line in found if not _is_demand(line)} | set(found)
    gone = [line for line in recorded if line not in there and _relaxed(line) not in there]
    return Difference(
        breaking=tuple([f"- {line}" for line in gone] + [f"+ {line}" for line in demands]),
        additions=tuple(f"+ {line}" for line in new if line not in demands),
    )


def _owner(line: str) -> str:
    thing, _, rest = line.partition(":")
    if rest.strip().startswith(("method", "attribute")):
        return thing.rpartition(".")[0]
    return re.split(r"[( ]*\(| --", thing, maxsplit=1)[0]


def _is_demand(line: str) -> bool:
    return line.endswith(f", {REQUIRED}")


def _relaxed(line: str) -> str:
    return _undemanding(line) if _is_demand(line) else line


def _undemanding(line: str) -> str:
    """Leave out of a line what is taken where nothing is given."""
    return re.sub(rf", ({REQUIRED}|{OPTIONAL}|default .*)$", "", line)


def surface() -> list[str]:
    """List everything that others build on, a line a thing, sorted."""
    parts = (
        _names(grove_core),
        _names(testing),
        _function(f"{reader.__name__}.{reader.read.__name__}", reader.read),
        _hooks(),
        _command(grove.make_context("grove", [], resilient_parsing=True)),
        _configuration(),
    )
    lines = {line for part in parts for line in part}
    lines |= {f"entry points {group}" for group in GROUPS}
    lines |= {f"grove hook (event): {event.value!r}" for event in HookEvent}
    for event in EVENT_TYPES.values():
        lines |= {f"event {event.event}({field.name})" for field in fields(event)}
    return [f"{_HEAD}{grove_core.GROVE_API}", *sorted(lines)]


def _names(module: ModuleType) -> Iterator[str]:
    for name in module.__all__:
        yield from _thing(f"{module.__name__}.{name}", getattr(module, name))


def _thing(name: str, value: Any) -> Iterator[str]:  # noqa: ANN401 - whatever is public
    if not inspect.isclass(value):
        called = inspect.isfunction(value)
        yield from _function(name, value) if called else [f"{name}: {type(value).__name__}"]
        return
    if issubclass(value, Enum):
        yield f"{name}: enumeration"
        yield from (f"{name}.{each.name}: {each.value!r}" for each in value)
        return
    bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
    yield f"{name}: class of {bases}" if issubclass(value, Exception) else f"{name}: class"
    if has(value):
        for place, field in enumerate(fields(value), start=1):
            how = "by name" if field.kw_only else f"position {place}"
            need = REQUIRED if field.default is NOTHING else _default(field.default)
            yield f"{name}({field.name}): {_type(field.type)}, {how}, {need}"
    is_protocol = getattr(value, "_is_protocol", False)
    if "__init__" in vars(value) and not has(value) and not is_protocol:
        yield from _parameters(name, value)
    for each in _members(value):
        yield from _member(f"{name}.{each}", getattr(value, each), is_protocol=is_protocol)


def _members(value: type) -> Iterator[str]:
    own = {
        each
        for base in value.__mro__
        if base.__module__.startswith("grove_core")
        for each in vars(base)
    }
    names = {each.name for each in fields(value)} if has(value) else set()
    yield from sorted(each for each in own - names if not each.startswith("_"))


def _member(name: str, value: Any, *, is_protocol: bool) -> Iterator[str]:  # noqa: ANN401
    ending = f", {REQUIRED}" if is_protocol else ""
    if not inspect.isfunction(value):
        yield f"{name}: attribute{ending}"
    elif name.rpartition(".")[2].startswith("test_"):
        yield f"{name}: test"
    else:
        yield f"{name}: method{ending}"
        yield from _function(name, value, bound=True)


def _function(name: str, function: Callable[..., object], *, bound: bool = False) -> Iterator[str]:
    yield f"{name}() -> {_type(inspect.signature(function).return_annotation)}"
    yield from _parameters(name, function, bound=bound)


def _parameters(name: str, called: Callable[..., object], *, bound: bool = False) -> Iterator[str]:
    parameters = [*inspect.signature(called).parameters.values()][bound:]
    for place, each in enumerate(parameters, start=1):
        how = f"position {place}"
        need = REQUIRED if each.default is each.empty else _default(each.default)
        if each.kind in (each.KEYWORD_ONLY, each.VAR_KEYWORD):
            how = "by name"
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            need = "any number"
        yield f"{name}({each.name}): {_type(each.annotation)}, {how}, {need}"


def _default(value: object) -> str:
    """Name a default that can be told in a word."""
    if isinstance(value, Enum):
        return f"default {value.name}"
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return f"default {value!r}" if is_plain else OPTIONAL


def _type(hint: object) -> str:
    if hint is Lock:
        return "Lock"  # a function or a class, as the version of Python has it
    is_plain = isinstance(hint, type) and "[" not in str(hint)
    text = (
        "anything"
        if hint is inspect.Parameter.empty
        else getattr(hint, "__name__", "")
        if is_plain
        else str(hint)
    )
    return _MODULE.sub("", text)


def _hooks() -> Iterator[str]:
    for specs in (RegistrationHooks, LifeCycleHooks):
        for name, hook in vars(specs).items():
            if name.startswith("grove_"):
                signature = inspect.signature(hook)
                yield f"hook {name}() -> {_type(signature.return_annotation)}"
                # A plugin's function takes by name what it needs: no new one demands anything.
                for each in [*signature.parameters.values()][1:]:
                    yield f"hook {name}({each.name}): {_type(each.annotation)}"


def _command(context: click.Context) -> Iterator[str]:
    command, name = context.command, context.command_path
    place = 0
    promised = (each for each in command.get_params(context) if not getattr(each, "hidden", False))
    for parameter in promised:
        is_option = isinstance(parameter, click.Option)
        place += not is_option
        how = _taken(parameter) if is_option else f"argument {place}, {_values(parameter)}"
        need = REQUIRED if parameter.required else _given(parameter)
        for word in [*parameter.opts, *parameter.secondary_opts]:
            shown = f"{name} {word}" if is_option else f"{name} ({word})"
            yield f"{shown}, {how}, {need}"
            if how != _ALONE and isinstance(getattr(parameter, "flag_value", None), str):
                yield f"{shown}: {_ALONE}"
            if isinstance(parameter.type, click.Choice):
                yield from (f"{shown}: {one!r}" for one in parameter.type.choices)
    if isinstance(command, click.Group):
        context.params["plugins"] = False  # plugins' commands are their own surface
        for each in command.list_commands(context):
            _, sub, _ = command.resolve_command(context, [each])
            assert sub is not None, each
            yield f"{name} {each}: command"
            yield from _command(
                click.Context(sub, info_name=each, parent=context, **sub.context_settings)
            )


def _taken(option: click.Parameter) -> str:
    return _ALONE if getattr(option, "is_flag", False) else f"with {_values(option)}"


def _values(parameter: click.Parameter) -> str:
    kind = "choice" if isinstance(parameter.type, click.Choice) else "value"
    return f"{kind}s" if parameter.multiple or parameter.nargs != 1 else f"a {kind}"


def _given(parameter: click.Parameter) -> str:
    return _default(parameter.default) if isinstance(parameter.default, str | int) else OPTIONAL


def _configuration() -> Iterator[str]:
    for name, key in config_keys().items():
        kind = key.annotation
        is_choice = isinstance(kind, type) and issubclass(kind, Enum)
        values = " or ".join(each.value for each in kind) if is_choice else _type(kind)
        yield f"configuration {name}: {values}"


def main() -> int:
    """Compare the surface with the record, or record it.

    Returns:
        The exit code: 0 when they agree.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="write the record")
    found = surface()
    if parser.parse_args().record:
        RECORD.write_text("\n".join(found) + "\n", encoding="utf-8")
        return 0
    differs = difference(RECORD.read_text(encoding="utf-8").splitlines(), found)
    for title, lines in (("breaks", differs.breaking), ("added", differs.additions)):
        sys.stdout.write("".join(f"{title}: {line}\n" for line in lines))
    return 1 if differs.breaking or differs.additions else 0


if __name__ == "__main__":
    sys.exit(main())
