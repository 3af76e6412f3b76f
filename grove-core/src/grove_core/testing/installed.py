"""The contracts of what a distribution has installed, for the pytest of ``grove plugins check``."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import uuid4

import pytest
from attrs import evolve

from grove_core.config.load import load_config
from grove_core.config.plugin_section import section_of
from grove_core.config.schema import LayoutSetting
from grove_core.model.memory import Capability, StorageLayout
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec
from grove_core.plugins.discovery import PluginSettings
from grove_core.plugins.manager import Plugins, import_target
from grove_core.plugins.report import Plugin, PluginState
from grove_core.testing import BackendContract, PluginContract, TicketContract
from grove_core.testing.rules.reading import Opener, ids_in

PLACEHOLDER: Final = "{test}"
"""In the configuration of the project that is copied, what is another word in each test."""


def contracts_of(rows: Sequence[Any], like: str) -> dict[str, type]:
    """Make the contracts of installed plugins, as classes by the names that pytest shows."""
    found: dict[str, type] = {}
    for plugin in (Plugin(*row) for row in rows):
        attributes = {"plugin": plugin.target, "group": plugin.group}
        found |= _named(PluginContract, f"{plugin.group}:{plugin.name}", attributes)
        plugins = Plugins([plugin], PluginSettings(), lambda _: None)
        plugins.load_all()
        if plugins.found[0].state is not PluginState.ACTIVE:
            continue  # the plugin's own contract tells why
        for spec in plugins.memory_backends():
            for area in _areas_of(spec.value, like):
                found |= _of_backend(spec.value, area, like)
        names = [one.value.name for one in plugins.ticket_probes()]
        names += [one.value.system for one in plugins.close_matchers()]
        instance, _ = import_target(plugin.target)
        for name in names:
            found |= _of_tickets(instance, name, like)
    return found


def _named(base: type, of: str, attributes: dict[str, Any]) -> dict[str, type]:
    name = f"Test{base.__name__} of {of}"
    return {name: type(name, (base,), attributes)}


def _areas_of(spec: BackendSpec, like: str) -> Iterator[Area]:
    yield Area.PROJECT
    with TemporaryDirectory() as folder:
        try:
            backend = spec.open(_context(spec, Area.PERSONAL, Path(folder), like))
            if Capability.PERSONAL in backend.capabilities:
                yield Area.PERSONAL
        except (Exception, SystemExit):  # noqa: BLE001 - the project's own contract tells of it
            return


def _of_backend(spec: BackendSpec, area: Area, like: str) -> dict[str, type]:
    @pytest.fixture
    def open_backend(_: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
        context = _context(spec, area, tmp_path, like)
        for name in ("HOME", "GROVE_HOME"):
            monkeypatch.setenv(name, context.environment[name])
        detection = spec.detect(context)
        if area is Area.PROJECT and not (detection and detection.usable):
            pytest.skip(
                f"{spec.name} has no project in which it can be used: name one with --like, or what"
                f" it needs in the environment {detection.note if detection else ''}".strip()
            )
        assert not ids_in(spec.open(context)), (
            "there are learnings in a project that is new; where the storage is named by settings,"
            f" name another one in each project (--like DIR, with {PLACEHOLDER} in its"
            " configuration)"
        )
        return lambda: spec.open(context)

    of = spec.name if area is Area.PROJECT else f"{spec.name}, personal learnings"
    return _named(BackendContract, of, {"open_backend": open_backend})


def _of_tickets(instance: object, system: str, like: str) -> dict[str, type]:
    @pytest.fixture
    def used_project(_: object, tmp_path: Path) -> Path:
        return _make_project(tmp_path / "project", like)

    project = {"used_project": used_project} if like else {}
    return _named(TicketContract, system, {"plugin": instance, "system": system, **project})


def _make_project(root: Path, like: str) -> Path:
    """Make a project that uses grove."""
    if like:
        shutil.copytree(like, root, symlinks=True, ignore=_no_plain_files)
    config = root / ".grove" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    text = config.read_text(encoding="utf-8") if config.exists() else ""
    config.write_text(text.replace(PLACEHOLDER, uuid4().hex[:12]), encoding="utf-8")
    return root


def _no_plain_files(folder: str, names: list[str]) -> list[str]:
    """Name sockets and pipes, such as of a server that runs there: no copy of them would work."""
    paths = (Path(folder, name) for name in names)
    return [one.name for one in paths if one.exists() and not (one.is_file() or one.is_dir())]


def _context(spec: BackendSpec, area: Area, folder: Path, like: str) -> BackendContext:
    """Make a project and tell a backend of it, as grove would."""
    root, home = _make_project(folder / "project", like), folder / "home" / ".grove"
    home.mkdir(parents=True)
    environment = {**os.environ, "HOME": str(home.parent), "GROVE_HOME": str(home)}
    loaded = load_config(home, root, environment)
    settings = None
    if spec.settings is not None:
        section = section_of(loaded, f"backends.{spec.name}", spec.settings)
        settings, problems = evolve(section, own=section.said).read()
        assert not problems, f"[backends.{spec.name}]"
    is_single = loaded.config.storage.layout is LayoutSetting.SINGLE
    fields: dict[str, Any] = {
        "root": root,
        "home": home,
        "area": area,
        "environment": environment,
        "settings": settings,
        "layout": StorageLayout.SINGLE if is_single else StorageLayout.SPREAD,
    }
    asked = spec.trust(BackendContext(**fields)) if spec.trust is not None else ()
    return BackendContext(**fields, trusted=frozenset(one.digest for one in asked))
