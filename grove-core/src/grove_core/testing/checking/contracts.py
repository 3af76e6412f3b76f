"""The contracts of what a distribution has installed, as classes for pytest."""

import shutil
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from grove_core.model.memory import Capability
from grove_core.plugins.descriptors import Area, BackendSpec
from grove_core.plugins.discovery import FoundPlugin
from grove_core.plugins.facade import Plugins
from grove_core.plugins.report import PluginState
from grove_core.plugins.selection import PluginSettings
from grove_core.testing.backend_contract import BackendContract
from grove_core.testing.checking.places import make_project, opener_of, place_of
from grove_core.testing.checking.request import Request
from grove_core.testing.plugin_contract import PluginContract
from grove_core.testing.rules.reading_back import Opener
from grove_core.testing.ticket_contract import TicketContract


def contracts_of(request: Request) -> dict[str, type]:
    """Make the contracts of everything that is to be checked."""
    found: list[type] = []
    for plugin in request.plugins:
        found.append(_of_plugin(plugin))
        plugins = Plugins([plugin], PluginSettings(), lambda _: None)
        plugins.load_all()
        if plugins.report().plugins[0].state is not PluginState.ACTIVE:
            continue  # the plugin's own contract tells why
        instance = _instance_of(plugin.target)
        for spec in plugins.memory_backends():
            found += _of_backend(spec.value, request.like)
        names = [one.value.name for one in plugins.ticket_probes()]
        names += [one.value.system for one in plugins.close_matchers()]
        found += [_of_tickets(instance, name, request.like) for name in dict.fromkeys(names)]
    unique: dict[tuple[str, str], type] = {}
    for one in found:
        # A module that stands in two groups offers the same twice.
        unique.setdefault(one.__dict__["checked"], one)
    return {f"Test{number}": one for number, one in enumerate(unique.values())}


def _instance_of(target: str) -> object:
    """Return what an entry point names; it could be imported before."""
    module, _, path = target.partition(":")
    imported = import_module(module.strip())
    return attrgetter(path.strip())(imported) if path.strip() else imported


def _named(base: type, of: str, **attributes: Any) -> type:  # noqa: ANN401 - of a class
    """Make a subclass whose name is what messages call it by."""
    return type(of, (base,), {"checked": (base.__name__, of), **attributes})


def _of_plugin(plugin: FoundPlugin) -> type:
    return _named(
        PluginContract, f"{plugin.group}:{plugin.name}", plugin=plugin.target, group=plugin.group
    )


def _of_backend(spec: BackendSpec, like: Path | None) -> Iterator[type]:
    yield _of_area(spec, Area.PROJECT, like)
    if _keeps_personal_learnings(spec, like):
        yield _of_area(spec, Area.PERSONAL, like)


def _of_area(spec: BackendSpec, area: Area, like: Path | None) -> type:
    @pytest.fixture
    def open_backend(_: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
        context = place_of(spec, area, tmp_path, like)
        for name in ("HOME", "GROVE_HOME"):
            monkeypatch.setenv(name, context.environment[name])
        return opener_of(spec, context)

    of = spec.name if area is Area.PROJECT else f"{spec.name}, personal learnings"
    return _named(BackendContract, of, open_backend=open_backend)


def _keeps_personal_learnings(spec: BackendSpec, like: Path | None) -> bool:
    folder = Path(mkdtemp())
    try:
        capabilities = spec.open(place_of(spec, Area.PERSONAL, folder, like)).capabilities
    except (Exception, SystemExit):  # noqa: BLE001 - the project's own contract tells of it
        return False
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return isinstance(capabilities, frozenset) and Capability.PERSONAL in capabilities


def _of_tickets(instance: object, system: str, like: Path | None) -> type:
    attributes: dict[str, object] = {"plugin": instance, "system": system}
    if like is not None:

        @pytest.fixture
        def used_project(_: object, tmp_path: Path) -> Path:
            return make_project(tmp_path / "project", like)

        attributes["used_project"] = used_project
    return _named(TicketContract, system, **attributes)
