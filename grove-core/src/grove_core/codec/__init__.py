"""Values to text and back: sessions, learnings and events.

Nothing else knows their shape. Sessions and learnings go through one converter; events are
flat and many, and are read and written without it. The functions are loaded when they are first
used: who writes an event pays for no session.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grove_core.codec.converter import to_jsonable
    from grove_core.codec.events import event_from_line, event_to_line
    from grove_core.codec.session_json import (
        learning_from_dict,
        learning_to_dict,
        session_from_json,
        session_to_json,
    )
    from grove_core.codec.values import migrate

_MODULE_OF_NAME = {
    "learning_from_dict": "session_json",
    "learning_to_dict": "session_json",
    "session_from_json": "session_json",
    "session_to_json": "session_json",
    "event_from_line": "events",
    "event_to_line": "events",
    "migrate": "values",
    "to_jsonable": "converter",
}

__all__ = [
    "event_from_line",
    "event_to_line",
    "learning_from_dict",
    "learning_to_dict",
    "migrate",
    "session_from_json",
    "session_to_json",
    "to_jsonable",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any of the functions
    """Load a function when it is first used (PEP 562)."""
    module = _MODULE_OF_NAME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
