"""``grove plugins check``."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.progress import progress
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.errors import PluginError
from grove_core.flow.plugin_checking import (
    CheckReport,
    ContractReport,
    Failure,
    check,
    plugins_called,
)
from grove_core.plugins.discovery import discover
from grove_core.services.packages import install_command

if TYPE_CHECKING:
    from rich.console import Console

_NAMED_TESTS: Final = 3


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
    and with a home of their own. The plugin's code is run, and programs that it leaves running are
    ended; servers that the environment or the project of --like names are really asked.

    What the author's own tests would give, such as which commands close a ticket, cannot be known
    here and is counted as not given.
    """
    plugins = plugins_called(discover(invocation.workspace.paths.home), distribution)
    _require_pytest()
    with progress() as start:

        def begin(tests: int) -> Callable[[], None]:
            return start(plugins[0].distribution, tests)

        report = check(plugins, like, begin)
    return Result(
        document=_document(report),
        human=lambda console: _human(report, console),
        ids=[
            f"{one.contract} of {one.of}: {test}" for one in report.failures for test in one.tests
        ],
        exit_code=0 if report.ok else 1,
    )


def _require_pytest() -> None:
    if find_spec("pytest") is None:
        install = install_command("'grove-core[testing]'")
        raise PluginError(
            f"checking plugins needs pytest: {install} (in the environment of {sys.executable})"
        )


def _document(report: CheckReport) -> dict[str, Any]:
    return {
        "distribution": report.distribution,
        "version": report.version,
        "ok": report.ok,
        **_totals(report),
        "plugins": [f"{one.group}:{one.name}" for one in report.plugins],
        "contracts": [
            {
                "contract": one.contract,
                "of": one.of,
                **_numbers(one),
                "skipped": [
                    {"reason": why, "tests": number} for why, number in one.reasons.items()
                ],
            }
            for one in report.contracts
        ],
        "failures": [
            {
                "contract": one.contract,
                "of": one.of,
                "tests": one.tests,
                "rule": one.rule,
                "found": one.found,
                "read": one.read,
                "place": one.place,
            }
            for one in report.failures
        ],
    }


def _numbers(one: ContractReport) -> dict[str, int]:
    return {
        "passed": one.passed,
        "failed": one.failed,
        "not_declared": one.not_declared,
        "not_given": one.not_given,
        "left_out": one.left_out,
    }


def _totals(report: CheckReport) -> dict[str, int]:
    every = [_numbers(one) for one in report.contracts]
    return {name: sum(one[name] for one in every) for name in every[0]} if every else {}


def _human(report: CheckReport, console: "Console") -> None:
    titles = [_title(one) for one in report.contracts]
    width = max(map(len, titles), default=0)
    for title, contract in zip(titles, report.contracts, strict=True):
        style = None if contract.is_tried and not contract.failed else "yellow"
        console.print(f"{title:<{width}}  {_words(_numbers(contract))}", style=style)
    for line in _reasons(report):
        console.print(line)
    for failure in report.failures:
        _print_failure(failure, console)
    console.print()
    verdict = f"{report.distribution} {report.version}: {_words(_totals(report))}"
    if report.untried:
        verdict += f"; {counted(len(report.untried), 'contract')} could not be tried"
    console.print(verdict, style=None if report.ok else "yellow")


def _title(one: ContractReport | Failure) -> str:
    return f"{one.contract} of {one.of}"


def _words(numbers: dict[str, int]) -> str:
    always = ("passed", "failed")
    said = [(name, number) for name, number in numbers.items() if number or name in always]
    return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in said)


def _reasons(report: CheckReport) -> Iterator[str]:
    """Say why tests were left out that could have been run; of all contracts together."""
    tests: Counter[str] = Counter()
    for contract in report.contracts:
        prefix = f"{contract.of} has " if contract.is_tried else ""
        for reason, number in contract.reasons.items():
            tests[reason.removeprefix(prefix)] += number
    for reason, number in tests.items():
        yield f"left out: {reason} ({counted(number, 'test')})"


def _print_failure(failure: Failure, console: "Console") -> None:
    more = len(failure.tests) - _NAMED_TESTS
    tests = ", ".join(failure.tests[:_NAMED_TESTS]) + (f" and {more} more" if more > 0 else "")
    console.print(f"\nFAILED {_title(failure)}: {tests}", style="yellow")
    console.print(f"  {failure.rule}")
    for line in failure.found:
        console.print(f"    {line}")
    if failure.place:
        console.print(f"    at: {failure.place}")
    if failure.read:
        console.print(f"    read: {failure.read}")
