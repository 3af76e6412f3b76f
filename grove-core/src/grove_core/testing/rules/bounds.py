"""How long hypothesis may look for something that breaks a rule."""

from typing import Any


def bounds(examples: int) -> dict[str, Any]:
    """Give the settings of a search for what breaks a rule.

    Backends may be slow, so no example has a time limit; and what one example has written is there
    for the next, so simpler ones are not looked for: the report shows where texts differ.

    Args:
        examples: How many examples to try.

    Returns:
        Arguments for ``hypothesis.settings``.
    """
    from hypothesis import Phase

    return {
        "max_examples": examples,
        "deadline": None,
        "report_multiple_bugs": False,
        "phases": (Phase.reuse, Phase.generate),
    }
