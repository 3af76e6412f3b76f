"""What a descriptor or an objection must look like: nobody type-checks a plugin before it runs."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from grove_core.model.learning import Rejection
from grove_core.plugins.descriptors import (
    BackendSpec,
    CloseMatcher,
    CommandReader,
    CommandSpec,
    Discovered,
    EngineSpec,
    HealthCheck,
    Participation,
    TicketProbe,
)

_LITERAL: Final = re.compile(r"[A-Za-z0-9_-]+(?: [A-Za-z0-9_-]+)*")

Check = tuple[Callable[[Any], bool], str]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_optional_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_written(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != "" and value == value.strip() and value.isprintable()


def _are_names(value: object) -> bool:
    return isinstance(value, tuple) and all(_is_name(each) for each in value)


def _are_literals(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and bool(value)
        and all(isinstance(each, str) and _LITERAL.fullmatch(each) for each in value)
    )


def _are_tools(value: object) -> bool:
    return _are_names(value) and bool(value)


def _is_optional_function(value: object) -> bool:
    return value is None or callable(value)


def _are_commands(value: object) -> bool:
    return isinstance(value, tuple) and not any(complaint_about(one, CommandSpec) for one in value)


def _is_optional_class(value: object) -> bool:
    return value is None or isinstance(value, type)


_NAME: Final[Check] = (_is_name, "one line of text, not empty, without blanks at its ends")
_TEXT: Final[Check] = (_is_text, "a string")
_OPTIONAL_TEXT: Final[Check] = (_is_optional_text, "a string or None")
_FUNCTION: Final[Check] = (callable, "a function")
_OPTIONAL_FUNCTION: Final[Check] = (_is_optional_function, "a function or None")
_PATHS: Final[Check] = (_are_names, "a tuple of strings")
_FLAG: Final[Check] = (lambda value: isinstance(value, bool), "True or False")

_CHECKS: Final[Mapping[type, Mapping[str, Check]]] = {
    TicketProbe: {
        "name": _NAME,
        "detect": _FUNCTION,
        "current_ticket": _OPTIONAL_FUNCTION,
        "paths": _PATHS,
        "participation": (lambda value: isinstance(value, Participation), "a Participation"),
        "per_session": _FLAG,
    },
    CloseMatcher: {
        "system": _NAME,
        "literals": (
            _are_literals,
            "a tuple of words of ASCII letters, digits, - and _, or of several with blanks between",
        ),
        "tools": (_are_tools, "a tuple of one or more names"),
        "match": _FUNCTION,
        "confirm": _OPTIONAL_FUNCTION,
        "once_per_prompt": _FLAG,
    },
    CommandReader: {
        "tools": (_are_tools, "a tuple of one or more names"),
        "read": _FUNCTION,
    },
    BackendSpec: {
        "name": _NAME,
        "detect": _FUNCTION,
        "open": _FUNCTION,
        "settings": (_is_optional_class, "a class or None"),
        "paths": _PATHS,
        "trust": _OPTIONAL_FUNCTION,
        "discover": _OPTIONAL_FUNCTION,
        "commands": (_are_commands, "a tuple of CommandSpec"),
    },
    Discovered: {
        "name": _TEXT,
        "source": _TEXT,
        "usable": _FLAG,
        "used": _FLAG,
        "why": _TEXT,
    },
    EngineSpec: {
        "name": _NAME,
        "score": _FUNCTION,
        "floor": (lambda value: isinstance(value, int | float), "a number"),
    },
    CommandSpec: {"name": _NAME, "target": _NAME, "help": _TEXT},
    HealthCheck: {"name": _NAME, "run": _FUNCTION},
    Rejection: {
        "reason": (_is_written, "a string that says something"),
        "field": _OPTIONAL_TEXT,
        "existing_id": _OPTIONAL_TEXT,
    },
}


def complaint_about(descriptor: object, kind: type) -> str:
    """Return what is wrong with a descriptor or an objection."""
    if not isinstance(descriptor, kind):
        return f"returned {type(descriptor).__name__} instead of {kind.__name__}"
    for attribute, (is_right, words) in _CHECKS[kind].items():
        value = getattr(descriptor, attribute)
        if not is_right(value):
            return f"returned a {kind.__name__} whose {attribute} is not {words}"
    return ""
