"""Rules of every plugin: how it is loaded, what it offers, how it takes what it is told."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from attrs import has

from grove_core.config.plugin_section import default_settings
from grove_core.model.memory import Detection, Health
from grove_core.plugins.descriptors import BackendContext, ProjectContext
from grove_core.plugins.discovery import (
    GENERAL_GROUP,
    Plugin,
    PluginProblem,
    PluginSettings,
    PluginState,
)
from grove_core.plugins.hookspecs import GROVE_API
from grove_core.plugins.limits import TimeLimits
from grove_core.plugins.manager import Plugins, import_target
from grove_core.testing.watching import untouched

HEAVY: Final = frozenset(
    "asyncio click concurrent.futures httpx hypothesis importlib.metadata logging.config"
    " multiprocessing numpy pandas psycopg pydantic pytest requests rich rich_click sqlalchemy ssl"
    " unittest urllib.request".split()
)
"""Modules that cost a hook tens of milliseconds, by name: each tool call would pay for them."""
_MOST_MODULES: Final = 60
_SECONDS: Final = 30
_IMPORTING: Final = """
import json, sys
import grove_core.plugins.descriptors, grove_core.plugins.hookspecs
from grove_core.testing.watching import ASKING, CHANGING, watching
before = set(sys.modules)
with watching(ASKING | CHANGING) as heard:
    __import__(sys.argv[1])
new = sorted(set(sys.modules) - before)
sys.stderr.write("\\n" + json.dumps({"new": new, "heard": heard}))
"""


class PluginRules:
    """Importing, registering, offering and being called."""

    plugin: ClassVar[str] = ""
    group: ClassVar[str] = GENERAL_GROUP

    def test_importing_is_cheap_and_quiet(self, tmp_path: Path) -> None:
        """Importing a plugin's module is cheap, and prints, writes and connects to nothing."""
        done = subprocess.run(
            [sys.executable, "-B", "-P", "-c", _IMPORTING, self.plugin.partition(":")[0]],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": f"{tmp_path}"},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        said, _, report = done.stderr.rpartition("\n")
        assert done.returncode == 0, done.stderr
        assert (done.stdout, said) == ("", ""), "what is printed"
        told = json.loads(report)
        assert told["heard"] == [], "what it changes, starts or connects to"
        assert not HEAVY.intersection(told["new"]), "import these inside functions that need them"
        assert len(told["new"]) <= _MOST_MODULES

    def test_it_registers_without_a_problem(self) -> None:
        """A plugin says which interface it is for; its hooks fit and offer sound descriptors."""
        _, api = import_target(self.plugin)
        assert type(api) is int, f"write grove_api = {GROVE_API} into the module"
        assert api <= GROVE_API
        plugins, problems = self.loaded()
        plugins.load_all()
        (entry,) = plugins.found
        assert (entry.state, entry.detail) == (PluginState.LOADED, "")
        assert entry.hooks
        assert problems == []

    def test_settings_have_defaults(self) -> None:
        """A settings class is an attrs class that can be made of an empty section."""
        plugins, _ = self.loaded()
        offers: list[Any] = [*plugins.ticket_probes(), *plugins.memory_backends()]
        offers += plugins.gates()
        kinds = [one.value.settings for one in offers if one.value.settings is not None]
        for kind in self._some(kinds, "settings"):
            assert has(kind)
            made, complaints = default_settings(kind)
            assert complaints == []
            assert isinstance(made, kind)

    def test_looking_for_backends_touches_nothing(self, tmp_path: Path) -> None:
        """In an empty project, detect and trust of a backend answer, and change and ask nothing."""
        plugins, _ = self.loaded()
        project = tmp_path / "empty project"
        project.mkdir()
        for spec in self._some([one.value for one in plugins.memory_backends()], "backends"):
            kind = spec.settings
            context = BackendContext(
                root=project,
                home=tmp_path / ".grove",
                environment={"HOME": os.fspath(tmp_path), "PATH": os.defpath},
                settings=None if kind is None else default_settings(kind)[0],
            )
            with untouched(project):
                found: object = spec.detect(context)
                if spec.trust is not None:
                    spec.trust(context)
            assert found is None or isinstance(found, Detection)

    def test_health_checks_tell_how_it_stands(self, tmp_path: Path) -> None:
        """Every health check answers with a Health in words, in an empty project as well."""
        plugins, _ = self.loaded()
        context = ProjectContext(root=tmp_path, cwd=tmp_path)
        for check in self._some([one.value for one in plugins.health_checks()], "health checks"):
            found: object = check.run(context)
            assert isinstance(found, Health)
            assert found.detail

    def loaded(self) -> tuple[Plugins, list[PluginProblem]]:
        """Load the plugin, and no other, as grove does."""
        assert self.plugin, "plugin = the target of the entry point"
        problems: list[PluginProblem] = []
        name = self.plugin.partition(":")[0].rpartition(".")[2]
        found = Plugin(self.group, name, self.plugin, name, version="")
        # A machine that runs tests may take its time to compile a plugin.
        limits = TimeLimits(load=_SECONDS)
        return Plugins([found], PluginSettings(), problems.append, limits=limits), problems

    def _some(self, offers: Sequence[Any], what: str) -> Sequence[Any]:
        if not offers:
            pytest.skip(f"{self.plugin} has no {what}")
        return offers
