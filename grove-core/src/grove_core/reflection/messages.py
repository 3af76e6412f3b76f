"""What an agent is told of a submission: its form, and values from outside, quoted."""

from collections.abc import Iterable
from typing import Any, Final

from grove_core.model.learning import Category, Criterion
from grove_core.text import clean_line

_SHOWN_LENGTH: Final = 60
_NAMES_LISTED: Final = 5


def shown(text: str) -> str:
    """Make a text of any origin fit for a message."""
    return clean_line(text, _SHOWN_LENGTH)


def listed(texts: Iterable[str]) -> str:
    """Quote several texts, the first five of them."""
    every = tuple(texts)
    first = ", ".join(f'"{shown(text)}"' for text in every[:_NAMES_LISTED])
    hidden = len(every) - _NAMES_LISTED
    return f"{first} and {hidden} more" if hidden > 0 else first


def kind_of(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Name the kind of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return "text" if isinstance(value, str) else "a number"


def example_submission(session_id: str) -> dict[str, Any]:
    """Make the smallest submission of the object form, to be filled in."""
    return {
        "session_id": session_id,
        "candidates": [
            {
                "category": Category.PITFALL.value,
                "summary": "One line: what to know, naming the thing it is about",
                "detail": "What happened, where (file, function, command), why, and what to do.",
                "criteria_met": [Criterion.BEHAVIOR_CHANGING.value],
                "tags": ["topic"],
            }
        ],
    }
