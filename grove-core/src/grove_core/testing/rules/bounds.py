"""How long hypothesis may look for something that breaks a rule."""

from typing import Any


def bounds(examples: int) -> dict[str, Any]:
    """Return the settings of a search for what breaks a rule."""
    from hypothesis import Phase

    return {
        "max_examples": examples,
        "deadline": None,
        "report_multiple_bugs": False,
        "phases": (Phase.reuse, Phase.generate),
    }
