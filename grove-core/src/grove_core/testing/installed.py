"""The contracts of what a distribution has installed: the tests of ``grove plugins check``.

``GROVE_CHECK`` says which plugins, and a project that each test gets a copy of.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import uuid4

import pytest
from attrs import evolve

from grove_core.clock import now_utc
from grove_core.config.plugin_section import section_of
from grove_core.model.memory import Capability
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec
from grove_core.plugins.discovery import Plugin, PluginSettings, PluginState
from grove_core.plugins.manager import Plugins, import_target
from grove_core.project import Project
from grove_core.testing import BackendContract, PluginContract, TicketContract
from grove_core.testing.rules.reading import Opener, ids_in

PLACEHOLDER: Final = "{test}"
"""In the configuration of the project that is copied, what is another word in each test."""


def _contracts_of(plugin: Plugin, like: str) -> Iterator[type]:
    """Make the contracts of an installed plugin, with the names that pytest shows."""
    attributes = {"plugin": plugin.target, "group": plugin.group}
    yield _named(PluginContract, f"{plugin.group}:{plugin.name}", attributes)
    plugins = Plugins([plugin], PluginSettings(), lambda _: None)
    plugins.load_all()
    if plugins.found[0].state is not PluginState.ACTIVE:
        return  # the plugin's own contract tells why
    for spec in (one.value for one in plugins.memory_backends()):
        yield _of_backend(spec, Area.PROJECT, like)
        if _keeps_personal_learnings(spec, like):
            yield _of_backend(spec, Area.PERSONAL, like)
    instance, _ = import_target(plugin.target)
    names = [one.value.name for one in plugins.ticket_probes()]
    names += [one.value.system for one in plugins.close_matchers()]
    for name in dict.fromkeys(names):
        yield _of_tickets(instance, name, like)


def _named(base: type, of: str, attributes: dict[str, Any]) -> type:
    return type(f"Test{base.__name__} of {of}", (base,), attributes)


def _keeps_personal_learnings(spec: BackendSpec, like: str) -> bool:
    with TemporaryDirectory() as folder:
        # What is wrong with it, the project's own contract tells.
        with suppress(Exception, SystemExit):
            backend = spec.open(_context(spec, Area.PERSONAL, Path(folder), like))
            return Capability.PERSONAL in backend.capabilities
        return False


def _of_backend(spec: BackendSpec, area: Area, like: str) -> type:
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


def _of_tickets(instance: object, system: str, like: str) -> type:
    @pytest.fixture
    def used_project(_: object, tmp_path: Path) -> Path:
        return _make_project(tmp_path / "project", like)

    project = {"used_project": used_project} if like else {}
    return _named(TicketContract, system, {"plugin": instance, "system": system, **project})


def _make_project(root: Path, like: str) -> Path:
    """Make a project that uses grove."""
    if like:
        shutil.copytree(like, root, symlinks=True)
    config = root / ".grove" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    text = config.read_text(encoding="utf-8") if config.exists() else ""
    config.write_text(text.replace(PLACEHOLDER, uuid4().hex[:12]), encoding="utf-8")
    return root


def _context(spec: BackendSpec, area: Area, folder: Path, like: str) -> BackendContext:
    """Make a project and tell a backend of it, as grove would."""
    root, home = _make_project(folder / "project", like), folder / "home" / ".grove"
    home.mkdir(parents=True)
    # Here what it says counts as the user's own words.
    shutil.move(root / ".grove" / "config.toml", home)
    (root / ".grove" / "config.toml").touch()
    environment = {**os.environ, "HOME": str(home.parent), "GROVE_HOME": str(home)}
    project = Project(root, environment, now_utc())
    loaded, settings = project.loaded_config, None
    assert not [one for one in loaded.problems if not one.key], "a file that cannot be read"
    if spec.settings is not None:
        settings, problems = section_of(loaded, f"backends.{spec.name}", spec.settings).read()
        assert not problems, f"[backends.{spec.name}]"
    context = BackendContext(
        root=root,
        home=home,
        area=area,
        environment=environment,
        settings=settings,
        layout=project.layout,
    )
    asked = spec.trust(context) if spec.trust is not None else ()
    return evolve(context, trusted=frozenset(one.digest for one in asked))


_CHOSEN: Final = json.loads(os.environ.get("GROVE_CHECK", '{"rows": [], "like": ""}'))
for _row in _CHOSEN["rows"]:
    for _contract in _contracts_of(Plugin(*_row), _CHOSEN["like"]):
        globals()[_contract.__name__] = _contract
