"""How a plugin comes into a process: what it imports, registers and says of itself."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar, Final

from grove_core.plugins.discovery import GENERAL_GROUP, GROUPS, FoundPlugin
from grove_core.plugins.facade import Plugins
from grove_core.plugins.limits import TimeLimits
from grove_core.plugins.manager import GROUPS_OF_HOOK, import_target
from grove_core.plugins.markers import GROVE_API
from grove_core.plugins.report import PluginProblem, PluginState
from grove_core.plugins.selection import PluginSettings
from grove_core.testing.verdict import expect, require, rule

HEAVY: Final = (
    *(
        "asyncio",
        "click",
        "concurrent.futures",
        "hypothesis",
        "importlib.metadata",
        "logging.config",
    ),
    *("multiprocessing", "numpy", "pandas", "psycopg", "pydantic", "pytest", "requests", "httpx"),
    *("rich", "rich_click", "sqlalchemy", "ssl", "urllib.request", "unittest"),
)
"""Modules that cost a hook tens of milliseconds, by name: each tool call would pay for them."""
_MOST_MODULES: Final = 60
_SECONDS: Final = 30
_LIMITS: Final = TimeLimits(load=_SECONDS)
"""A machine that runs tests may take its time to compile a plugin."""
_CHILD: Final = """
import json, sys
import grove_core.plugins.descriptors, grove_core.plugins.markers
from grove_core.testing.watching import ASKING, CHANGING, Watching
before = set(sys.modules)
with Watching(ASKING | CHANGING) as watching:
    __import__(sys.argv[1])
new = sorted(set(sys.modules) - before)
sys.stderr.write("\\n" + json.dumps({"new": new, "heard": watching.heard}))
"""


class LoadingRules:
    """Importing and registering."""

    plugin: ClassVar[str] = ""
    group: ClassVar[str] = ""

    @rule("grove_core")
    def test_importing_is_cheap_and_quiet(self, tmp_path: Path) -> None:
        """Importing a plugin's module is cheap, prints nothing, writes nothing and asks nobody."""
        module = self.plugin.partition(":")[0]
        folder = tmp_path / "importing"
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-B", "-P", "-c", _CHILD, module],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": os.fspath(folder)},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        said, _, report = done.stderr.rpartition("\n")
        expect(done.returncode, 0, f"the exit code of importing {module}: {done.stderr[-800:]}")
        expect((done.stdout, said), ("", ""), "what is printed")
        told = json.loads(report)
        expect(told["heard"], [], "what it changes, starts or connects to")
        expect([*folder.iterdir()], [], "what is in the folder afterwards")
        heavy = [one for one in told["new"] if one in HEAVY]
        expect(heavy, [], "heavy modules: import them inside the functions that need them")
        count = len(told["new"])
        require(count <= _MOST_MODULES, expected=f"at most {_MOST_MODULES} modules", found=count)

    @rule("grove_core.GROVE_API")
    def test_api_is_said_and_spoken(self) -> None:
        """A plugin says by a whole number grove_api for which interface it was written."""
        _, api = import_target(self.plugin)
        is_number = type(api) is int
        require(is_number, expected=f"grove_api = {GROVE_API} in the module", found=api)
        assert isinstance(api, int)
        require(api <= GROVE_API, expected=f"at most {GROVE_API}, which this grove has", found=api)

    @rule("grove_core.hookimpl")
    def test_it_registers_without_a_problem(self) -> None:
        """Every function called grove_… is a marked hook of this interface, in the right group."""
        plugins, problems = self.loaded()
        plugins.load_all()
        entry = plugins.report().plugins[0]
        expect((entry.state, entry.detail), (PluginState.ACTIVE, ""), "what became of the plugin")
        require(bool(entry.hooks), expected="at least one hook", found=entry.hooks)
        expect([*map(str, problems)], [], "what grove complains about")

    def loaded(self) -> tuple[Plugins, list[PluginProblem]]:
        """Load the plugin, and no other, as grove does."""
        require(bool(self.plugin), expected="plugin = the target of the entry point", found="")
        problems: list[PluginProblem] = []
        name = self.plugin.partition(":")[0].rpartition(".")[2]
        group = self.group or self._fitting_group()
        found = FoundPlugin(group, name, self.plugin, name, version="", first_party=False)
        return Plugins([found], PluginSettings(), problems.append, limits=_LIMITS), problems

    def _fitting_group(self) -> str:
        instance, _ = import_target(self.plugin)
        hooks = [name for name in GROUPS_OF_HOOK if hasattr(instance, name)]
        fitting = [one for one in GROUPS if all(one in GROUPS_OF_HOOK[hook] for hook in hooks)]
        return fitting[0] if fitting else GENERAL_GROUP
