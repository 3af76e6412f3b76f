"""Measure retrieval: collections, engines, measures, and the commands of ``grove eval``."""

from collections.abc import Sequence

from grove_core import CommandSpec, hookimpl

grove_api = 2


@hookimpl
def grove_commands() -> Sequence[CommandSpec]:
    """Offer ``grove eval``."""
    line = "Measure retrieval on learnings, queries and judgments of yours."
    return [CommandSpec(name="eval", target="grove_eval.commands:command", help=line)]
