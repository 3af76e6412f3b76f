"""``grove plugins``: what is installed, and whether it keeps the rules of the kit."""

import json
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import rich_click as click

from grove_core.cli.app import grove_command
from grove_core.cli.groups import LazyGroup
from grove_core.cli.result import Result
from grove_core.errors import PluginError
from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    TICKET_GROUP,
    Plugin,
    PluginState,
    canonical_name,
    discover,
)
from grove_core.project import Project
from grove_core.services.packages import install_command, install_command_for
from grove_core.services.result import Line

_GOOD: Final = (PluginState.LOADED, PluginState.BLOCKED)
_KEYS: Final = (
    *("name", "group", "distribution", "version", "target"),
    *("state", "detail", "hooks", "milliseconds"),
)
_PYTEST: Final = (
    "-m pytest -q -rs --pyargs grove_core.testing.installed"
    " -p no:cacheprovider"
    # A test that hangs is shown with its place, and ends everything where pytest can do that.
    " -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true"
    " -c pytest.ini --rootdir=. --confcutdir=. --basetemp=tests"
).split()
# What would lead tests to the user's own files, or change how they are run.
_LEFT_OUT: Final = ("GROVE_PLUGINS", "GROVE_SESSION", "CLAUDE", "PYTEST_", "XDG_")


@click.group("plugins", cls=LazyGroup, invoke_without_command=True)
@grove_command
def command(project: Project) -> Result:
    """Show the installed plugins in the order they are asked, and what became of each.

    `grove plugins check` is for those who write plugins.
    """
    plugins = project.plugins
    plugins.load_all()

    lines: list[Line] = []
    for entry in plugins.found:
        state = f"{entry.state.value}{': ' + entry.detail if entry.detail else ''}"
        text = f"{entry.group:<15} {entry.name:<14} {entry.distribution} {entry.version}  {state}"
        lines.append(text if entry.state in _GOOD else (text, "yellow"))
    if not plugins.found:
        install = install_command_for(BACKEND_GROUP, TICKET_GROUP)
        lines.append(f"No plugin is installed: {install}")
    lines += [(f"problem: {problem}", "yellow") for problem in plugins.problems]
    return Result(
        document={
            "plugins": [{key: getattr(one, key) for key in _KEYS} for one in plugins.found],
            "problems": [
                {"plugin": str(one.source), "what": one.what, "detail": one.detail}
                for one in plugins.problems
            ],
        },
        lines=lines,
        ids=[entry.name for entry in plugins.found if entry.state is PluginState.LOADED],
        names_problems=True,
    )


@command.command("check")
@click.argument("distribution")
@grove_command
def check(project: Project, *, distribution: str) -> Result:
    """Try an installed plugin against the rules that every plugin has to keep.

    DISTRIBUTION is the package's name, or the name of one of its plugins. The rules are those of
    the kit (`grove_core.testing`): for every plugin, for the backends and for the ticket systems
    that it offers. They run with pytest, which the extra `grove-core[testing]` brings, in a process
    and with a home of their own; its report goes to standard error. The plugin's code is run.

    What the author's own tests would give, such as which commands close a ticket, or a project
    in which a backend can be used, cannot be known here and is skipped.
    """
    plugins = _plugins_called(discover(project.paths.home), distribution)
    if not (find_spec("pytest") and find_spec("hypothesis")):
        install = install_command("'grove-core[testing]'")
        what = "checking plugins needs pytest and hypothesis"
        raise PluginError(f"{what}: {install} (into {sys.prefix})")
    with TemporaryDirectory(prefix="grove-check-", ignore_cleanup_errors=True) as folder:
        is_ok = _run_pytest(Path(folder), plugins) == 0
    names = [f"{one.group}:{one.name}" for one in plugins]
    package = f"{plugins[0].distribution} {plugins[0].version}"
    said = "keeps the rules" if is_ok else "breaks rules: the report above says which"
    return Result(
        document={
            "distribution": plugins[0].distribution,
            "version": plugins[0].version,
            "ok": is_ok,
            "plugins": names,
        },
        lines=[f"{package}: {said}"],
        ids=[] if is_ok else names,
        exit_code=0 if is_ok else 1,
    )


def _plugins_called(found: Sequence[Plugin], name: str) -> list[Plugin]:
    wanted = canonical_name(name)
    plugins = [one for one in found if wanted in (canonical_name(one.distribution), one.name)]
    if not plugins:
        installed = ", ".join(sorted({one.distribution for one in found})) or "none"
        raise PluginError(
            f"no plugin {name} is installed beside this grove ({sys.executable}); of plugins there"
            f" are: {installed}"
        )
    return plugins


def _run_pytest(folder: Path, plugins: Sequence[Plugin]) -> int:
    import subprocess

    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    home = folder / "home"
    home.mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)},
        "HOME": f"{home}",
        "GROVE_HOME": f"{home}/.grove",
        "TMPDIR": f"{folder}",
        "GROVE_CHECK": json.dumps([one.row for one in plugins]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    stdout = sys.stderr.fileno()
    words = [sys.executable, *_PYTEST]
    done = subprocess.run(
        words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, check=False
    )
    return done.returncode
