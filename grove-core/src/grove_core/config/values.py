"""Whether a configured value fits its key, and what to say when it does not."""

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import count
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin

from grove_core.config.schema import Setting

_LONGEST_SHOWN: Final = 60
_NEAR_ENOUGH: Final = 0.6
_TRUTH: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


class ValueProblem(Exception):  # noqa: N818 - what is wrong, in words; caught in this package
    """A value does not fit; the message goes on where the key's name ends."""


def check_value(value: object, annotation: Any, about: Setting | None = None) -> Any:  # noqa: ANN401
    """Check a value as it was read from TOML."""
    checked = _check_type(value, annotation)
    if about and isinstance(checked, int | float):
        _check_range(checked, about)
    if about and about.check is not None:
        try:
            about.check(checked)
        except ValueError as error:
            raise ValueProblem(printable(str(error))) from error
    return checked


def _check_type(value: object, annotation: Any) -> Any:  # noqa: ANN401 - any configured value
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (UnionType, Union):
        return _check_union(value, arguments)
    if origin in (list, tuple):
        if not isinstance(value, list):
            raise ValueProblem(f"must be a list, not {shown(value)}")
        numbers = (f"number {place}" for place in count(1))
        return origin(_check_items(zip(numbers, value, strict=False), arguments[0]).values())
    if origin in (Mapping, dict):
        if not isinstance(value, dict):
            raise ValueProblem(f"must be a table, not {shown(value)}")
        return _check_items(value.items(), arguments[1])
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _check_choice(value, annotation)
    if annotation is float and type(value) is int:
        return float(value)
    words = _WORDS.get(annotation)
    if words and type(value) is not annotation:
        raise ValueProblem(f"must be {words}, not {shown(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueProblem(f"must be a finite number, not {value}")
    return value


_WORDS: Final[Mapping[Any, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Mapping: "a table",
    dict: "a table",
}


def _check_union(value: object, members: tuple[Any, ...]) -> Any:  # noqa: ANN401 - any value
    if value == "" and NoneType in members:
        # TOML has no null; this is how a project takes back what the user's file says.
        return None
    problem = None
    for member in members:
        if member is not NoneType:
            try:
                return _check_type(value, member)
            except ValueProblem as error:
                problem = problem or error
    raise problem or ValueProblem(f"must be empty, not {shown(value)}")


def _check_items(items: Iterable[tuple[str, object]], annotation: Any) -> dict[str, Any]:  # noqa: ANN401 - any type
    checked = {}
    for name, item in items:
        try:
            checked[name] = _check_type(item, annotation)
        except ValueProblem as error:
            raise ValueProblem(f"holds a wrong value: {printable(name)} {error}") from None
    return checked


def _check_choice(value: object, kind: type[Enum]) -> Enum:
    for member in kind:
        if member.value == value:
            return member
    choices = ", ".join(f'"{member.value}"' for member in kind)
    raise ValueProblem(f"must be one of {choices}, not {shown(value)}")


def _check_range(value: float, about: Setting) -> None:
    least, most = about.minimum, about.maximum
    if (least is None or value >= least) and (most is None or value <= most):
        return
    bounds = f"from {least} to {most}"
    if most is None:
        bounds = f"at least {least}"
    elif least is None:
        bounds = f"at most {most}"
    raise ValueProblem(f"must be {bounds}, not {shown(value)}")


def parse_variable(text: str, annotation: Any) -> object:  # noqa: ANN401 - any type
    """Read an environment variable the way a TOML file would have said it."""
    if annotation is bool:
        return _TRUTH.get(text.strip().lower(), text)
    if annotation in (int, float):
        try:
            return annotation(text)
        except ValueError:
            return text
    if get_args(annotation)[:1] == (str,) and get_origin(annotation) is tuple:
        return [item.strip() for item in text.split(",") if item.strip()]
    return text


def unknown_key(key: str, known: "list[str]") -> str:
    """Say that a key is not known, and which one may have been meant."""
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1, cutoff=_NEAR_ENOUGH)
    return f"is not known; did you mean {near[0]}?" if near else "is not known"


def shown(value: object) -> str:
    """Show a value of a file in a message: short, and without anything that drives a terminal."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = f'"{printable(value)}"' if isinstance(value, str) else printable(str(value))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def printable(text: str) -> str:
    """Escape what can not be seen in a text of a file."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
