"""The contracts of what a distribution has installed: the tests of ``grove plugins check``.

``GROVE_CHECK`` says which plugins.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.config.plugin_section import default_settings
from grove_core.plugins.descriptors import BackendContext, BackendSpec
from grove_core.plugins.discovery import Plugin, PluginSettings, PluginState
from grove_core.plugins.manager import Plugins, import_target
from grove_core.testing import BackendContract, PluginContract, TicketContract
from grove_core.testing.rules.reading import Opener


def _contracts_of(plugin: Plugin) -> Iterator[type]:
    """Make the contracts of an installed plugin, with the names that pytest shows."""
    attributes = {"plugin": plugin.target, "group": plugin.group}
    yield _named(PluginContract, f"{plugin.group}:{plugin.name}", attributes)
    plugins = Plugins([plugin], PluginSettings(), lambda _: None)
    plugins.load_all()
    if plugins.found[0].state is not PluginState.LOADED:
        return  # the plugin's own contract tells why
    for spec in (one.value for one in plugins.memory_backends()):
        yield _named(BackendContract, spec.name, {"open_backend": _opener_of(spec)})
    instance, _ = import_target(plugin.target)
    names = [one.value.name for one in plugins.ticket_probes()]
    names += [one.value.system for one in plugins.close_matchers()]
    for name in dict.fromkeys(names):
        yield _named(TicketContract, name, {"plugin": instance, "system": name})


def _named(base: type, of: str, attributes: dict[str, Any]) -> type:
    return type(f"Test{base.__name__} of {of}", (base,), attributes)


def _opener_of(spec: BackendSpec) -> object:
    @pytest.fixture
    def open_backend(_: object, tmp_path: Path) -> Opener:
        root, home = tmp_path / "project", tmp_path / "home" / ".grove"
        for folder in (root / ".grove", home):
            folder.mkdir(parents=True)
        context = BackendContext(
            root=root,
            home=home,
            environment={**os.environ, "HOME": str(home.parent), "GROVE_HOME": str(home)},
            settings=None if spec.settings is None else default_settings(spec.settings)[0],
        )
        detection = spec.detect(context)
        if not (detection and detection.usable):
            pytest.skip(f"{spec.name} cannot be used in an empty project")
        return lambda: spec.open(context)

    return open_backend


_ROWS: Final = json.loads(os.environ.get("GROVE_CHECK", "[]"))
for _row in _ROWS:
    for _contract in _contracts_of(Plugin(*_row)):
        globals()[_contract.__name__] = _contract
