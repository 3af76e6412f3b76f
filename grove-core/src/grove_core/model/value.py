"""What all values of the model share: equality, hash and representation, and cheap classes."""

from _thread import RLock
from collections.abc import Callable
from types import NoneType
from typing import TYPE_CHECKING, Any

import attrs

USER_ONLY = {"grove_user_only": True}
"""Metadata of a field of a plugin's settings class that a project must not set, such as what a
program is run for: a project's configuration may be a stranger's."""

TRUSTED_ONLY = {"grove_trusted_only": True}
"""Metadata of a field of a plugin's settings class that a project may set only once the user has
agreed to the very value with ``grove trust``, such as a program, a URL or a file elsewhere."""

TRUSTED_ALONE = {"grove_trusted_only": "alone"}
"""The same of a field that means the same whatever the others say, such as a name: it counts beside
what the user has set, and whether or not others have been agreed to."""

PROJECT_ADDS = {"grove_project_adds": True}
"""Metadata of a field of a plugin's settings class that a project may strengthen and not weaken: of
lists both count, of flags the one that is set, and of anything else what the user has said. Where
the user has said anything in the section, of an enumeration no member before its default counts."""


class Value:
    """Equality, hash and representation of a frozen attrs class."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _values_of(self) == _values_of(other)

    def __hash__(self) -> int:
        return hash((self.__class__, _values_of(self)))

    def __repr__(self) -> str:
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in _fields_of(self))
        return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _fields_of(value: object) -> Any:  # noqa: ANN401 - attributes of attrs
    return value.__class__.__attrs_attrs__  # type: ignore[attr-defined]  # attrs puts it there


def _values_of(value: object) -> tuple[Any, ...]:
    return tuple(getattr(value, each.name) for each in _fields_of(value))


class _Deferred:
    """Stands for the fields of a class that attrs has not seen yet."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options

    def __get__(self, _: object, owner: type) -> Any:  # noqa: ANN401 - attributes of attrs
        base = next(one for one in owner.__mro__ if one.__dict__.get("__attrs_attrs__") is self)
        self.complete(base)
        return owner.__attrs_attrs__  # type: ignore[attr-defined]  # attrs puts it there

    def complete(self, owner: type) -> None:
        with _LOCK:
            if owner.__dict__["__attrs_attrs__"] is self:
                attrs.frozen(owner, init=True, slots=False, **self._options)


_LOCK = RLock()


def _frozen(owner: type | None = None, **options: Any) -> Any:  # noqa: ANN401 - as attrs.frozen
    """Make a class as ``attrs.frozen`` does, when it is first used.

    A hook imports more than a hundred of them and uses a third: compiling all takes a fifth of the
    time that its imports take.
    """
    if owner is None:
        return lambda owner: _frozen(owner, **options)
    deferred = _Deferred(options)

    def init(self: Any, *arguments: Any, **fields: Any) -> None:  # noqa: ANN401
        deferred.complete(owner)
        self.__init__(*arguments, **fields)

    owner.__attrs_attrs__ = deferred  # type: ignore[attr-defined]
    owner.__init__ = init  # type: ignore[misc]
    return owner


if TYPE_CHECKING:
    from attrs import frozen as frozen  # noqa: PLC0414 - it is exported
else:
    frozen = _frozen


_NAMES = {NoneType: "None", str: "a string", bool: "True or False", float: "a number"}

Rule = Callable[[Any, Any, Any], None]
"""A validator of an attrs field."""


def checked(is_right: Callable[[Any], bool], words: str) -> Rule:
    """Make a validator: no wrong value can be built; ``words`` say what a right one is."""

    def check(owner: Any, attribute: Any, value: Any) -> None:  # noqa: ANN401 - as attrs calls it
        if not is_right(value):
            raise TypeError(f"{type(owner).__name__}.{attribute.name} is not {words}")

    return check


def instance_of(*kinds: type) -> Rule:
    """Make a validator that asks for one of some types."""
    words = " or ".join(_NAMES.get(kind, f"a {kind.__name__}") for kind in kinds)
    return checked(lambda value: isinstance(value, kinds), words)


def tuple_of(kind: type) -> Rule:
    """Make a validator that asks for a tuple of one type."""
    return checked(
        lambda value: isinstance(value, tuple) and all(isinstance(each, kind) for each in value),
        f"a tuple of {kind.__name__}",
    )


TEXT = instance_of(str)
FLAG = instance_of(bool)
TEXTS = tuple_of(str)
TEXT_OR_NONE = instance_of(str, NoneType)
STATEMENT = checked(
    lambda value: isinstance(value, str) and value.strip() != "", "a string that says something"
)
