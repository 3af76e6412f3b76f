"""What all values of the model share: they are equal, hashed and shown by their fields."""

from typing import Any

USER_ONLY = {"grove_user_only": True}
"""Metadata of a field of a plugin's settings class that a project must not set, such as what a
program is run for: a project's configuration may be a stranger's."""

TRUSTED_ONLY = {"grove_trusted_only": True}
"""Metadata of a field of a plugin's settings class that a project may set only once the user has
agreed to the very value with ``grove trust``, such as a program, a URL or a file elsewhere."""

TRUSTED_ALONE = {"grove_trusted_only": "alone"}
"""The same of a field that means the same whatever the others say, such as a name: it counts beside
what the user has set, and whether or not others have been agreed to."""


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
