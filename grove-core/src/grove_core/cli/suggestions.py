"""What the shell may complete a parameter with."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from grove_core.errors import GroveError

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    from grove_core.project import Project

    _Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_MOST: Final = 200
_LONGEST_HELP: Final = 60


def _completing(collect: "Callable[[Project], Iterable[tuple[str, str]]]") -> "_Complete":
    """Suggest values, each with a help line; where they cannot be read, nothing."""

    def complete(
        ctx: "click.Context", _: "click.Parameter", incomplete: str
    ) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        from grove_core.cli.groups import project_of

        try:
            found = list(collect(project_of(ctx)))
        except (GroveError, OSError):
            return []
        fitting = [
            (value, " ".join(line.split())[:_LONGEST_HELP])
            for value, line in found
            if value.startswith(incomplete) and value.isprintable()
        ]
        return [CompletionItem(value, help=line or None) for value, line in fitting[:_MOST]]

    return complete


def _sessions(project: "Project") -> Iterable[tuple[str, str]]:
    from grove_core.services.overview import sessions_here

    return [(one.id, f"gate {one.gate.status.value}") for one in sessions_here(project)]


def _settings(project: "Project") -> Iterable[tuple[str, str]]:
    from grove_core.services.settings import effective_settings

    return [(one.key, one.help) for one in effective_settings(project)]


def _learnings(*statuses: str) -> "_Complete":
    def collect(project: "Project") -> Iterable[tuple[str, str]]:
        learnings = (one.hit.learning for one in reversed(list(project.library.iterate())))
        return [(one.id, one.summary) for one in learnings if one.status.value in statuses]

    return _completing(collect)


host_names = _completing(
    lambda project: [(one.name, one.value.title) for one in project.plugins.hosts()]
)
session_ids = _completing(_sessions)
config_keys = _completing(_settings)
learning_ids = _learnings("active", "archived", "superseded")
active_ids = _learnings("active")
archived_ids = _learnings("archived")
standing_ids = _learnings("active", "archived")
