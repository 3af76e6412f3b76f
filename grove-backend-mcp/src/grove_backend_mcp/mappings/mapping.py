"""What grove does with a server: which tool is called with what, and what the answer means.

Arguments are templates: JSON values whose strings may hold placeholders.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, ClassVar, Final, TypeAlias

from attrs import Attribute, asdict, field, fields_dict, frozen
from attrs.validators import ge, in_, instance_of, max_len, min_len

Json: TypeAlias = Any

_LONGEST_PATTERN: Final = 500
_STEP: Final = re.compile(r"\.?(?P<name>[^.\[\]$*\s]+)|\[(?P<index>\d{1,4}|\*)\]")
EVERY: Final = "[*]"
"""The step of a path that leads to every element of a list."""


@lru_cache(maxsize=128)
def steps_of(path: str) -> tuple[str | int, ...]:
    """Read a path."""
    rest = path.strip().removeprefix("$")
    steps: list[str | int] = []
    while rest:
        found = _STEP.match(rest)
        if found is None:
            raise ValueError(f"{path!r} is no path at {rest!r}: write $, .name, [*] and [0] only")
        index = found["index"]
        steps.append(found["name"] if index is None else EVERY if index == "*" else int(index))
        rest = rest[found.end() :]
    return tuple(steps)


_WHOLE: Final = re.compile(r"\{([A-Za-z_]\w*)\}")
_PIECE: Final = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}|[{}]")


def fill(template: Any, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON
    """Put values into a template; a text that is only a placeholder becomes the value itself."""
    if isinstance(template, str):
        whole = _WHOLE.fullmatch(template)
        if whole is not None:
            return values[whole[1]]
        return _PIECE.sub(lambda match: _piece(match, values), template)
    if isinstance(template, Mapping):
        return {key: fill(part, values) for key, part in template.items()}
    return (
        [fill(part, values) for part in template]
        if isinstance(template, list | tuple)
        else template
    )


def check_template(template: object, known: Iterable[str]) -> list[str]:
    """Return what is wrong with a template."""
    names = sorted(known)
    found = (fault for part in _parts(template) for fault in _faults(part, names))
    return list(dict.fromkeys(found))


def placeholders(template: object) -> frozenset[str]:
    """Name the placeholders of a template."""
    texts = (part for part in _parts(template) if isinstance(part, str))
    found = (match[1] for text in texts for match in _PIECE.finditer(text))
    return frozenset(name for name in found if name is not None)


def _piece(match: re.Match[str], values: Mapping[str, Any]) -> str:
    """Write what stands for one piece of a longer string."""
    if match[1] is None:
        return match[0][0]
    value = values[match[1]]
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _parts(template: object) -> Iterator[object]:
    """Return every value in a template that holds no others."""
    if isinstance(template, Mapping | list | tuple):
        inner = template.values() if isinstance(template, Mapping) else template
        for part in inner:
            yield from _parts(part)
    else:
        yield template


def _faults(part: object, known: list[str]) -> Iterator[str]:
    """Find unknown placeholders, single braces, and what JSON has no words for."""
    if not isinstance(part, str):
        if part is not None and not isinstance(part, bool | int | float):
            yield f"holds {part!r}, which JSON cannot say"
        return
    for match in _PIECE.finditer(part):
        name = match[1]
        if name is None and len(match[0]) == 1:
            yield f"{part!r} has a single {match[0]!r}: write {match[0] * 2!r} for a brace"
        elif name is not None and name not in known:
            yield f"unknown placeholder {{{name}}}{near(name, known)}"


def _is_path(_: object, attribute: "Attribute[Any]", value: str) -> None:
    try:
        steps_of(value)
    except ValueError as error:
        raise ValueError(f"{attribute.name} is wrong: {error}") from None


def _is_pattern(_: object, attribute: "Attribute[Any]", value: str) -> None:
    try:
        groups = re.compile(value).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{attribute.name} is no pattern: {error}") from None
    if value and attribute.name == "handle_pattern" and not groups:
        raise ValueError(f"{attribute.name} must have a group, such as id=([0-9a-f]+)")


def _checked(default: object, *checks: Any) -> Any:  # noqa: ANN401 - what attrs calls a field
    return field(default=default, validator=[instance_of(type(default)), *checks])


def _path() -> Any:  # noqa: ANN401
    return _checked("", _is_path)


def _pattern() -> Any:  # noqa: ANN401
    return _checked("", max_len(_LONGEST_PATTERN), _is_pattern)


def _choice(*choices: str) -> Any:  # noqa: ANN401
    return _checked(choices[0], in_(choices))


@frozen(kw_only=True)
class Operation:
    """One call of a tool: its arguments are templates."""

    known: ClassVar[Iterable[str]] = ("project",)
    needed: ClassVar[Iterable[str]] = ()

    tool: str = _checked("", min_len(1))
    arguments: Mapping[str, Json] = field(factory=dict, validator=instance_of(dict))

    def faults(self) -> list[str]:
        """Return what is wrong with the templates."""
        wrong = check_template(self.arguments, self.known)
        if not wrong and self.needed and placeholders(self.arguments).isdisjoint(self.needed):
            return [f"no argument holds {' or '.join(f'{{{one}}}' for one in self.needed)}"]
        return wrong


@frozen(kw_only=True)
class Answered(Operation):
    """A call, and where in its answer the results are."""

    items: str = _path()
    columns: bool = _checked(default=False)
    separator: str = _pattern()
    text: str = _path()
    metadata: str = _path()
    handle: str = _path()
    handle_pattern: str = _pattern()

    @property
    def says_how(self) -> bool:
        """Whether it says itself where the results are."""
        return any(getattr(self, name) != one.default for name, one in _READING.items())


_READING: Final = {
    name: one for name, one in fields_dict(Answered).items() if name not in ("tool", "arguments")
}


@frozen(kw_only=True)
class Search(Answered):
    """A search; of mode ``words`` where each word is to be asked for by itself."""

    known = ("query", "limit", "project")
    needed = ("query",)

    query_mode: str = _choice("whole", "words")
    longest_query: int = _checked(0, ge(0))


@frozen(kw_only=True)
class Get(Answered):
    """Fetching one learning."""

    known = ("id", "handle", "project")
    needed = ("handle", "id")


@frozen(kw_only=True)
class Listing(Answered):
    """Listing what grove has stored."""

    known = ("limit", "project")


@frozen(kw_only=True)
class Delete(Operation):
    """Removing one learning."""

    known = Get.known
    needed = Get.needed


OF_LEARNINGS: Final = (
    *("id", "summary", "detail", "plain", "content", "block", "tags", "labels", "metadata"),
    *("flat_metadata", "category", "status", "project", "handle"),
)
"""What a template for one learning may hold."""


@frozen(kw_only=True)
class Write(Answered):
    """Storing a learning: how to tell that it has worked, and in which form it is stored.

    In the form ``short`` the text holds ``[grove:<id>]``, and everything else is metadata of the
    server; in the form ``full`` a block with everything stands behind the text.
    """

    known = OF_LEARNINGS
    needed = ("content", "plain", "summary", "detail")

    text_form: str = _choice("full", "short")
    longest_text: int = _checked(0, ge(0))


@frozen(kw_only=True)
class Change(Operation):
    """One of the calls that change a learning."""

    known = OF_LEARNINGS


def _steps(tables: object) -> tuple[Change, ...]:
    if not isinstance(tables, list | tuple):
        raise TypeError("then must be a list of tables")
    return tuple(_operation("then", one, Change) for one in tables)


@frozen(kw_only=True)
class Update(Change):
    """Changing a learning, by several calls where one cannot do it."""

    then: tuple[Change, ...] = field(default=(), converter=_steps)

    @property
    def steps(self) -> tuple[Change, ...]:
        """All calls in their order."""
        return (self, *self.then)


@frozen(kw_only=True)
class ServerMapping:
    """All that grove does with a server, by the names of the tables of a configuration."""

    profile: str | None = None
    setup: Operation | None = field(default=None, metadata={"kind": Operation})
    write: Write | None = field(default=None, metadata={"kind": Write})
    search: Search | None = field(default=None, metadata={"kind": Search})
    get: Get | None = field(default=None, metadata={"kind": Get})
    listing: Listing | None = field(default=None, metadata={"kind": Listing})
    update: Update | None = field(default=None, metadata={"kind": Update})
    delete: Delete | None = field(default=None, metadata={"kind": Delete})

    def operations(self) -> Iterator[tuple[str, Operation]]:
        """Name each call."""
        for name in KINDS:
            operation = getattr(self, name)
            steps = operation.steps if isinstance(operation, Update) else (operation,)
            yield from ((name, step) for step in steps if step is not None)


KINDS: Final[Mapping[str, type[Operation]]] = {
    name: one.metadata["kind"] for name, one in fields_dict(ServerMapping).items() if one.metadata
}


def mapping_of(tables: Mapping[str, Any], profile: str | None = None) -> ServerMapping:
    """Read the tables of a configuration or a profile; ``ValueError`` says all that is wrong."""
    found: dict[str, Any] = {}
    wrong: list[str] = []
    for name, table in tables.items():
        try:
            found[name] = _operation(name, table, KINDS.get(name))
        except ValueError as error:
            wrong.append(str(error))
    mapping = ServerMapping(profile=profile, **found) if not wrong else ServerMapping()
    wrong += [f"{name}: {fault}" for name, one in mapping.operations() for fault in one.faults()]
    if wrong:
        raise ValueError("; ".join(wrong))
    return mapping


# Keys that earlier versions knew: what they told is seen without them.
_IGNORED: Final = frozenset(
    "json_absent score score_kind single_writer text_matches text_refuses".split()
)


def _operation(name: str, table: object, kind: Any) -> Any:  # noqa: ANN401 - one of ``KINDS``
    if kind is None:
        raise ValueError(f"{name}: no such operation{near(name, KINDS)}")
    if not isinstance(table, Mapping):
        raise ValueError(f"{name} must be a table")  # noqa: TRY004 - somebody's, not a programmer's
    table = {key: value for key, value in table.items() if key not in _IGNORED}
    unknown = next((key for key in table if key not in fields_dict(kind)), None)
    if unknown is not None:
        raise ValueError(f"{name}: unknown key {unknown!r}{near(unknown, fields_dict(kind))}")
    try:
        return kind(**table)
    except (ValueError, TypeError) as error:
        # attrs adds what a program may want to know.
        raise ValueError(f"{name}: {error.args[0]}") from None


def near(name: object, known: Iterable[str]) -> str:
    """Suggest a name in the place of one that is not known."""
    names = list(known)
    found = get_close_matches(str(name), names, n=1)
    return f"; did you mean {found[0]!r}?" if found else f" (known: {', '.join(names)})"


def tables_of(mapping: ServerMapping) -> dict[str, dict[str, Any]]:
    """Write a mapping as the tables of a configuration; what is as usual is left out."""
    found = {name: getattr(mapping, name) for name in KINDS}
    return {
        name: asdict(one, filter=lambda each, value: value not in (each.default, {}))
        for name, one in found.items()
        if one is not None
    }
