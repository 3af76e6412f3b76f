"""A pytest plugin that writes what becomes of each test, a JSON object a line."""

import faulthandler
import json
import sysconfig
from collections.abc import Generator
from pathlib import Path
from traceback import extract_tb
from typing import Any, Final, TextIO

import pytest

from grove_core.testing.skipping import kind_of

_READ: Final = "read: "
_CORE: Final = Path(__file__).parents[2]
_TOOLS: Final = frozenset({"pytest", "_pytest", "pluggy", "hypothesis"})
_STANDARD_LIBRARY: Final = sysconfig.get_paths()["stdlib"]
_LONGEST: Final = 4_000
LONGEST_TEST_SECONDS: Final = 600
"""Seconds after which a test hangs, and so does looking at the plugins before."""

_CAN_BE_TRIED: Final = "The plugin can be tried in a new project."


class Reporter:
    """Writes the results as they come."""

    def __init__(self, results: TextIO, errors: TextIO) -> None:
        """Write nothing yet."""
        self._results = results
        self._errors = errors
        self._outcomes: dict[str, dict[str, Any]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Return how many tests there are."""
        self._write({"event": "collected", "tests": len(session.items)})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Return what cannot even be looked at."""
        if report.failed:
            self._write({"event": "failed", "detail": str(report.longrepr)[-_LONGEST:]})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what became of a part of a test; of several failures the first one."""
        report = yield
        known = self._outcomes.setdefault(item.nodeid, {"outcome": "passed"})
        if report.outcome == "skipped" and call.excinfo is not None:
            reason = call.excinfo.value
            known |= {"outcome": "skipped", "reason": str(reason), "kind": kind_of(reason)}
        elif report.failed and known["outcome"] != "failed" and call.excinfo is not None:
            rule = _rule_of(item) if call.when == "call" else _CAN_BE_TRIED
            known |= {"outcome": "failed", "failure": _failure(rule, call.excinfo.value)}
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Return what became of a test when all of it is over; one that hangs ends everything."""
        faulthandler.dump_traceback_later(LONGEST_TEST_SECONDS, exit=True, file=self._errors)
        try:
            answer = yield
        finally:
            faulthandler.cancel_dump_traceback_later()
        contract, of = getattr(getattr(item, "cls", None), "checked", ("", ""))
        result = self._outcomes.pop(item.nodeid, {"outcome": "failed"})
        self._write({"event": "test", "contract": contract, "of": of, "test": item.name, **result})
        return answer

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Tell that this was all, unless something has kept tests from being run."""
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            self._write({"event": "finished"})

    def _write(self, document: dict[str, Any]) -> None:
        self._results.write(json.dumps(document) + "\n")
        # Tests fork: nothing may be left for a child to write once more.
        self._results.flush()


def _rule_of(item: pytest.Item) -> str:
    document: str = getattr(getattr(item, "obj", None), "__doc__", None) or ""
    return document.strip().partition("\n")[0]


def _failure(rule: str, error: BaseException) -> dict[str, Any]:
    """Take a failure apart: the rule, what was found, where to read."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the exception may be a plugin's own
        message = "(its message cannot be read)"
    lines = [line.rstrip() for line in message[:_LONGEST].splitlines()]
    read = [line.strip() for line in lines if line.strip().startswith(_READ)]
    found = [line.strip() for line in lines if line.strip() not in {*read, rule, ""}]
    if not isinstance(error, AssertionError):
        found = [f"{type(error).__name__}: {found[0] if found else ''}", *found[1:]]
    return {
        "rule": rule,
        "found": [*found, *getattr(error, "__notes__", ())],
        "read": read[0].removeprefix(_READ) if read else "",
        "place": _place(error),
    }


def _place(error: BaseException) -> str:
    """Name the last line of code that is neither the kit's nor installed with it."""
    frames = [*extract_tb(error.__traceback__)]
    if error.__cause__ is not None:
        frames += extract_tb(error.__cause__.__traceback__)
    own = [one for one in frames if _is_of_the_plugin(one.filename)]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else ""


def _is_of_the_plugin(file: str) -> bool:
    folders = {*Path(file).parts}
    if file.startswith(("<", str(_CORE))) or not folders.isdisjoint(_TOOLS):
        return False
    return "site-packages" in folders or not file.startswith(_STANDARD_LIBRARY)
