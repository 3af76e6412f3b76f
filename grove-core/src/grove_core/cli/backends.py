"""``grove backends``: the memory backends, what they could use, and the commands they offer."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import rich_click as click
from attrs import asdict

from grove_core.cli.app import grove_command
from grove_core.cli.groups import LazyGroup, load_offered, project_of
from grove_core.cli.result import Result
from grove_core.errors import GroveError
from grove_core.model.memory import Health
from grove_core.plugins.descriptors import Area, BackendSpec, Discovered
from grove_core.plugins.discovery import BACKEND_GROUP
from grove_core.plugins.manager import Contribution
from grove_core.project import Project
from grove_core.services.packages import blocked_plugins, install_command_for
from grove_core.services.settings import backend_warnings
from grove_core.text import escape_invisible

DISCOVER_SECONDS: Final = 5.0


class BackendsGroup(LazyGroup):
    """grove's own commands, and a group for each backend that has some."""

    def help_lines(self, ctx: click.Context) -> Mapping[str, str]:
        """Return a line for each backend that has commands."""
        backends = _backends(ctx).items()
        found = {name: _line(one.value) for name, one in backends if one.value.commands}
        return {name: found[name] for name in sorted(found.keys() - self.commands)}

    def load(self, ctx: click.Context, name: str) -> click.Command:
        """Return the group of a backend."""
        return BackendCommands(_backends(ctx)[name])


class BackendCommands(LazyGroup):
    """The commands of one backend; they find the ``BackendContext`` of the project."""

    def __init__(self, backend: Contribution[BackendSpec]) -> None:
        spec = backend.value
        self._backend = backend
        self._specs = {one.name: one for one in spec.commands}
        super().__init__(name=spec.name, help=_line(spec), short_help=_line(spec))

    def help_lines(self, _: click.Context) -> Mapping[str, str]:
        """Return the help lines that the backend gives."""
        return {name: one.help for name, one in self._specs.items()}

    def load(self, ctx: click.Context, name: str) -> click.Command:
        """Import a command, and tell it where to work."""
        library = project_of(ctx).library
        ctx.obj = library.context_for(self._backend.value.name, Area.PROJECT)
        return load_offered(ctx, Contribution(value=self._specs[name], source=self._backend.source))


def _line(spec: BackendSpec) -> str:
    return f"Commands of the backend {spec.name}: {', '.join(one.name for one in spec.commands)}."


def _backends(ctx: click.Context) -> Mapping[str, Contribution[BackendSpec]]:
    """Load the backends; help and completion tell of no faults."""
    try:
        return {one.value.name: one for one in project_of(ctx).plugins.memory_backends()}
    except (GroveError, OSError):
        return {}


@click.group("backends", cls=BackendsGroup, invoke_without_command=True)
@grove_command
def command(project: Project) -> Result:
    """Show the memory backends: which are active here, in which order, why, and their health.

    Backends may have commands of their own, called as `grove backends <backend> <command>`.
    """
    library = project.library
    health = library.healths()
    personal = library.personal.backend.name if library.personal is not None else None
    warnings = backend_warnings(project)
    rows: list[dict[str, Any]] = [
        {
            "name": state.spec.name,
            "active": state.is_active,
            "primary": state.is_primary,
            "marker": state.detection.marker if state.detection else None,
            "why": state.why,
            "health": health.get(state.spec.name),
            "plugin": str(state.provided.source),
        }
        for state in library.states
    ]
    blocked = blocked_plugins(project, BACKEND_GROUP)
    unused = {"active": False, "primary": False, "marker": None, "health": None}
    rows += [
        {**unused, "name": one.name, "why": f"blocked: {one.detail}", "plugin": str(one)}
        for one in blocked
    ]

    lines = [line for row in rows for line in _lines_of(row)] or [
        f"No memory backend is installed: {install_command_for(BACKEND_GROUP)}"
    ]
    return Result(
        document={"backends": rows, "personal": personal, "warnings": warnings},
        lines=[*lines, f"Personal learnings go to: {personal or 'no backend can take them'}"],
        ids=[row["name"] for row in rows if row["active"]],
        warnings=warnings,
    )


def _lines_of(row: Mapping[str, Any]) -> Iterator[str]:
    mark = "primary" if row["primary"] else "active" if row["active"] else "-"
    yield f"{row['name']:<14} {mark:<8} {row['why']}  [{row['plugin']}]"
    health: Health | None = row["health"]
    if health is not None:
        yield f"{'':<14} {'works' if health.ok else 'FAILS':<8} {health.detail}"
        if health.fix:
            yield f"{'':<14} {'':<8} → {health.fix}"


@command.command("discover")
@grove_command
def discover(project: Project) -> Result:
    """List the stores that backends could use here, and why each is usable or not.

    It looks at files only, and starts nothing. Of a backend that knows one store `grove backends`
    tells.
    """
    stores: list[tuple[str, Discovered]] = []
    for state in project.library.states:
        if (ask := state.spec.discover) is None:
            continue
        context = project.library.context_for(state.spec.name, Area.PROJECT)
        found = project.plugins.call_for_list(
            state.provided, "discover", Discovered, ask, context, seconds=DISCOVER_SECONDS
        )
        stores += [(state.spec.name, one) for one in found or ()]
    lines = []
    for backend, one in stores:
        mark = "used" if one.used else "usable" if one.usable else "-"
        where = f" [{escape_invisible(one.source)}]" if one.source else ""
        lines.append(f"{backend:<14} {escape_invisible(one.name):<20} {mark:<8}{where}".rstrip())
        lines.append(f"{'':<14} {escape_invisible(one.why)}")
    return Result(
        document={
            "discovered": [
                {"backend": backend, **asdict(one), "source": one.source or None}
                for backend, one in stores
            ]
        },
        lines=lines or ["No backend finds a store here that it could choose."],
        ids=[escape_invisible(one.name) for _, one in stores if one.usable],
    )
