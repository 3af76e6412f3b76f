"""``grove plugins check``: pytest on the contracts of the kit, for an installed plugin."""

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
from attrs import frozen

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.result import Result
from grove_core.config.load import load_config
from grove_core.errors import GroveError, PluginError
from grove_core.plugins.discovery import canonical_name, discover
from grove_core.plugins.report import Plugin
from grove_core.services.packages import install_command

_MODULE: Final = """
from grove_core.testing.installed import contracts_of

globals().update(contracts_of({rows!r}, {like!r}))
"""
_PYTEST: Final = (
    *(
        "-m",
        "pytest",
        "-q",
        "-rs",
        "-p",
        "no:cacheprovider",
        "-p",
        "grove_core.testing.pytest_plugin",
    ),
    *("-c", "pytest.ini", "--confcutdir=.", "--basetemp=tests", "--junitxml=report.xml"),
)
# A test that hangs is shown with its place, and ends everything where pytest can do that.
_SETTINGS: Final = "[pytest]\nfaulthandler_timeout = 600\nfaulthandler_exit_on_timeout = true\n"
# What would lead tests to the user's own files, or change how they are run.
_LEFT_OUT: Final = ("GROVE_PLUGINS", "GROVE_SESSION", "CLAUDE", "PYTEST_", "XDG_")


@frozen
class Outcome:
    """What became of one test."""

    contract: str
    test: str
    kind: str
    message: str = ""


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
    if like is not None:
        _require_a_project(like)
    with TemporaryDirectory(prefix="grove-check-", ignore_cleanup_errors=True) as folder:
        code, outcomes = _run_pytest(Path(folder), plugins, like)
    return _result(plugins, code, outcomes)


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


def _require_a_project(like: Path) -> None:
    """Refuse what would leave every test without settings."""
    for problem in load_config(like / "nowhere", like, {}).problems:
        if not problem.key:
            raise GroveError(f"{like} cannot be what projects are like: {problem}")


def _run_pytest(
    folder: Path, plugins: Sequence[Plugin], like: Path | None
) -> tuple[int, list[Outcome]]:
    rows = [one.row for one in plugins]
    text = _MODULE.format(rows=rows, like=str(like.absolute()) if like else "")
    (folder / "test_installed.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text(_SETTINGS, encoding="utf-8")
    home = folder / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)}
    own = {"HOME": str(home), "GROVE_HOME": str(home / ".grove"), "TMPDIR": str(folder)}
    process = subprocess.Popen(
        [sys.executable, *_PYTEST, "test_installed.py"],
        cwd=folder,
        env={**kept, **own, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
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


def _outcomes(report: Path) -> Iterator[Outcome]:
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - of the pytest that has just run
        contract = case.get("classname", "").removeprefix("test_installed.Test")
        details = {one.tag: one.get("message", "") for one in case}
        kind = next((tag for tag in ("error", "failure", "skipped") if tag in details), "passed")
        kind = "failed" if kind in {"error", "failure"} else kind
        message = next(iter(details.values()), "")
        yield Outcome(contract, case.get("name", ""), kind, message)


def _result(plugins: Sequence[Plugin], code: int, outcomes: Sequence[Outcome]) -> Result:
    contracts = [
        {"contract": name, **_numbers([one for one in outcomes if one.contract == name])}
        for name in dict.fromkeys(one.contract for one in outcomes)
    ]
    untried = [one["contract"] for one in contracts if not one["passed"] and not one["failed"]]
    ok = code == 0 and not untried
    numbers = _numbers(outcomes)
    failures = [one for one in outcomes if one.kind == "failed"]
    document = {
        "distribution": plugins[0].distribution,
        "version": plugins[0].version,
        "ok": ok,
        **numbers,
        "plugins": [f"{one.group}:{one.name}" for one in plugins],
        "contracts": contracts,
        "failures": [
            {"contract": one.contract, "test": one.test, "message": one.message} for one in failures
        ],
    }
    said = ", ".join(f"{number} {name}" for name, number in numbers.items())
    said += "".join(f"; {one} could not be tried" for one in untried)
    style = None if ok else "yellow"
    return Result(
        document=document,
        human=lambda console: console.print(
            f"{plugins[0].distribution} {plugins[0].version}: {said}", style=style
        ),
        ids=[f"{one.contract}: {one.test}" for one in failures],
        exit_code=0 if ok else 1,
    )


def _numbers(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    kinds = [one.kind for one in outcomes]
    return {name: kinds.count(name) for name in ("passed", "failed", "skipped")}
