"""``grove plugins check``: pytest on the contracts of the kit, for an installed plugin."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from xml.etree import ElementTree as ET

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.result import Result
from grove_core.errors import PluginError
from grove_core.plugins.discovery import Plugin, canonical_name, discover
from grove_core.services.packages import install_command

_PYTEST: Final = (
    "-m pytest -q -rs --pyargs grove_core.testing.installed"
    " -p no:cacheprovider -p grove_core.testing.pytest_plugin"
    # A test that hangs is shown with its place, and ends everything where pytest can do that.
    " -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true"
    " -c pytest.ini --rootdir=. --confcutdir=. --basetemp=tests --junitxml=report.xml"
).split()
# What would lead tests to the user's own files, or change how they are run.
_LEFT_OUT: Final = ("GROVE_PLUGINS", "GROVE_SESSION", "CLAUDE", "PYTEST_", "XDG_")


@click.command("check")
@click.argument("distribution")
@click.option(
    "--like",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Give each test a copy of this small project instead of an empty one. What its"
    " configuration says counts as your own words, `{test}` in it is another word in each copy.",
)
@grove_command
def command(invocation: Invocation, *, distribution: str, like: Path | None) -> Result:
    """Try an installed plugin against the rules that every plugin has to keep.

    DISTRIBUTION is the package's name, or the name of one of its plugins. The rules are those of
    the kit (`grove_core.testing`): for every plugin, for the backends and for the ticket systems
    that it offers. They run with pytest, which the extra `grove-core[testing]` brings, in a process
    and with a home of their own; its report goes to standard error. The plugin's code is run, and
    servers that the environment or the project of --like names are really asked.

    What the author's own tests would give, such as which commands close a ticket, cannot be known
    here and is skipped.
    """
    plugins = _plugins_called(discover(invocation.project.paths.home), distribution)
    if find_spec("pytest") is None:
        install = install_command("'grove-core[testing]'")
        raise PluginError(f"checking plugins needs pytest: {install} (into {sys.prefix})")
    with TemporaryDirectory(prefix="grove-check-", ignore_cleanup_errors=True) as folder:
        code, outcomes = _run_pytest(Path(folder), plugins, like)
    return _result(plugins[0], [f"{one.group}:{one.name}" for one in plugins], code, outcomes)


def _plugins_called(found: Sequence[Plugin], name: str) -> list[Plugin]:
    wanted = canonical_name(name)
    plugins = [one for one in found if canonical_name(one.distribution) == wanted]
    plugins = plugins or [one for one in found if one.name == name]
    names = sorted({one.distribution for one in plugins})
    if len(names) > 1:
        raise PluginError(f"{' and '.join(names)} each have a plugin {name}: name one of them")
    if not plugins:
        installed = ", ".join(sorted({one.distribution for one in found})) or "none"
        raise PluginError(
            f"no plugin {name} is installed beside this grove ({sys.executable}); of plugins there"
            f" are: {installed}"
        )
    return plugins


def _run_pytest(
    folder: Path, plugins: Sequence[Plugin], like: Path | None
) -> tuple[int, list[dict[str, str]]]:
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    home = folder / "home"
    home.mkdir()
    chosen = {"rows": [one.row for one in plugins], "like": str(like.absolute()) if like else ""}
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)},
        "HOME": f"{home}",
        "GROVE_HOME": f"{home}/.grove",
        "TMPDIR": f"{folder}",
        "GROVE_CHECK": json.dumps(chosen),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    process = subprocess.Popen(
        [sys.executable, *_PYTEST],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        # A group of its own: it can be ended with all that plugins have started in it.
        start_new_session=True,
    )
    try:
        code = process.wait()
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    report = folder / "report.xml"
    return code, [*_outcomes(report)] if report.exists() else []


def _outcomes(report: Path) -> Iterator[dict[str, str]]:
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - of the pytest that has just run
        details = {one.tag: one.get("message", "") for one in case}
        failed = details.keys() & {"error", "failure"}
        yield {
            "contract": case.get("classname", "").rpartition(".Test")[2],
            "test": case.get("name", ""),
            "message": next(iter(details.values()), ""),
            "kind": "failed" if failed else "skipped" if details else "passed",
        }


def _result(
    plugin: Plugin, names: Sequence[str], code: int, outcomes: Sequence[dict[str, str]]
) -> Result:
    contracts = [
        {"contract": name, **_numbers([one for one in outcomes if one["contract"] == name])}
        for name in dict.fromkeys(one["contract"] for one in outcomes)
    ]
    untried = [one["contract"] for one in contracts if not one["passed"] and not one["failed"]]
    is_ok, numbers = code == 0 and not untried, _numbers(outcomes)
    failures = [one for one in outcomes if one.pop("kind") == "failed"]
    said = ", ".join(f"{number} {name}" for name, number in numbers.items())
    said += "".join(f"; {one} could not be tried" for one in untried)
    return Result(
        document={
            "distribution": plugin.distribution,
            "version": plugin.version,
            "ok": is_ok,
            **numbers,
            "plugins": names,
            "contracts": contracts,
            "failures": failures,
        },
        human=lambda console: console.print(
            f"{plugin.distribution} {plugin.version}: {said}", style=None if is_ok else "yellow"
        ),
        ids=[f"{one['contract']}: {one['test']}" for one in failures],
        exit_code=0 if is_ok else 1,
    )


def _numbers(outcomes: Sequence[dict[str, str]]) -> dict[str, Any]:
    kinds = [one["kind"] for one in outcomes]
    return {name: kinds.count(name) for name in ("passed", "failed", "skipped")}
