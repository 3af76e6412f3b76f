"""What the shell may complete a parameter with."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from grove_core.errors import GroveError

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    from grove_core.workspace import Workspace

_MOST: Final = 200
_LONGEST_HELP: Final = 60


def session_ids(
    ctx: "click.Context", _: "click.Parameter", incomplete: str
) -> "list[CompletionItem]":
    """Suggest the project's sessions, the one written last first."""
    try:
        from grove_core.services.overview import sessions_here

        found = sessions_here(_workspace(ctx))
    except (GroveError, OSError):
        return []
    return _items(((one.id, f"gate {one.gate.status.value}") for one in found), incomplete)


def learning_ids(
    ctx: "click.Context", _: "click.Parameter", incomplete: str
) -> "list[CompletionItem]":
    """Suggest the ids of learnings that can be listed, with their summaries."""
    return _learnings(ctx, incomplete, ("active", "archived", "superseded"))


def active_ids(
    ctx: "click.Context", _: "click.Parameter", incomplete: str
) -> "list[CompletionItem]":
    """Suggest the ids of active learnings."""
    return _learnings(ctx, incomplete, ("active",))


def archived_ids(
    ctx: "click.Context", _: "click.Parameter", incomplete: str
) -> "list[CompletionItem]":
    """Suggest the ids of archived learnings."""
    return _learnings(ctx, incomplete, ("archived",))


def standing_ids(
    ctx: "click.Context", _: "click.Parameter", incomplete: str
) -> "list[CompletionItem]":
    """Suggest the ids of learnings whose place no other one has taken."""
    return _learnings(ctx, incomplete, ("active", "archived"))


def config_keys(
    ctx: "click.Context", _: "click.Parameter", incomplete: str
) -> "list[CompletionItem]":
    """Suggest the keys of the configuration, those of plugins included."""
    try:
        from grove_core.services.settings import effective_settings

        found = effective_settings(_workspace(ctx))
    except (GroveError, OSError):
        return []
    return _items(((one.key, one.help) for one in found), incomplete)


def _learnings(
    ctx: "click.Context", incomplete: str, statuses: Collection[str]
) -> "list[CompletionItem]":
    try:
        found = list(_workspace(ctx).library.iterate())
    except (GroveError, OSError):
        return []
    learnings = (one.hit.learning for one in reversed(found))
    wanted = ((one.id, one.summary) for one in learnings if one.status.value in statuses)
    return _items(wanted, incomplete)


def _workspace(ctx: "click.Context") -> "Workspace":
    from grove_core.cli.groups import workspace_of

    return workspace_of(ctx)


def _items(found: Iterable[tuple[str, str]], incomplete: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    items: list[CompletionItem] = []
    for value, words in found:
        if value.startswith(incomplete) and value.isprintable():
            short = " ".join(words.split())[:_LONGEST_HELP]
            items.append(CompletionItem(value, help=short or None))
    return items[:_MOST]
