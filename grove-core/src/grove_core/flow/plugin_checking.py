"""Trying an installed plugin against the contracts of the kit, in a process of its own."""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from attrs import astuple, field

from grove_core.config import load_config
from grove_core.errors import GroveError, PluginError
from grove_core.flow.plugin_check_process import results_of
from grove_core.model.value import frozen
from grove_core.plugins.discovery import FoundPlugin, canonical_name

_LARGEST_PROJECT_FILES: Final = 1_000


@frozen(kw_only=True)
class Failure:
    """A rule that a plugin breaks."""

    contract: str
    of: str
    tests: tuple[str, ...]
    rule: str
    found: tuple[str, ...]
    read: str
    place: str


@frozen(kw_only=True)
class ContractReport:
    """What became of a contract."""

    contract: str
    of: str
    passed: int = 0
    failed: int = 0
    not_declared: int = 0
    not_given: int = 0
    left_out: int = 0
    is_tried: bool = True
    reasons: Mapping[str, int] = field(factory=dict)


@frozen(kw_only=True)
class CheckReport:
    """What became of all contracts."""

    distribution: str
    version: str
    plugins: tuple[FoundPlugin, ...]
    contracts: tuple[ContractReport, ...]
    failures: tuple[Failure, ...]

    @property
    def untried(self) -> tuple[ContractReport, ...]:
        """The contracts that could not be tried."""
        return tuple(one for one in self.contracts if not one.is_tried)

    @property
    def ok(self) -> bool:
        """Whether everything was tried and nothing failed."""
        return not self.failures and not self.untried


def plugins_called(found: Sequence[FoundPlugin], name: str) -> tuple[FoundPlugin, ...]:
    """Find what is to be checked."""
    wanted = canonical_name(name)
    of_distribution = [one for one in found if canonical_name(one.distribution) == wanted]
    if of_distribution:
        return tuple(of_distribution)
    plugins = tuple(one for one in found if one.name == name)
    names = sorted({one.distribution for one in plugins})
    if len(names) > 1:
        raise PluginError(f"{' and '.join(names)} each have a plugin {name}: name one of them")
    if not plugins:
        installed = ", ".join(sorted({one.distribution for one in found})) or "none"
        raise PluginError(
            f"no plugin {name or 'without a name'} is installed beside this grove"
            f" ({sys.executable}); of plugins there are: {installed}"
        )
    return plugins


def check(
    plugins: tuple[FoundPlugin, ...], like: Path | None, begin: Callable[[int], Callable[[], None]]
) -> CheckReport:
    """Try plugins of a distribution against the contracts."""
    if like is not None:
        _require_small(like)
        _require_configuration(like)
    after_each: Callable[[], None] | None = None
    tests: list[dict[str, Any]] = []
    request = {
        "plugins": [astuple(one) for one in plugins],
        "like": os.fspath(like.absolute()) if like is not None else None,
    }
    with closing(results_of(request)) as results:
        for result in results:
            if result["event"] == "collected":
                after_each = begin(result["tests"])
            elif result["event"] == "failed":
                raise PluginError(f"the contracts could not be made:\n{result['detail']}")
            else:
                tests.append(result)
                if after_each is not None:
                    after_each()
    return CheckReport(
        distribution=plugins[0].distribution,
        version=plugins[0].version,
        plugins=plugins,
        contracts=tuple(_contracts(tests)),
        failures=tuple(_failures(tests)),
    )


def _require_small(like: Path) -> None:
    """A project is copied for each test."""
    number = 0
    for _, _, names in os.walk(like):
        number += len(names)
        if number > _LARGEST_PROJECT_FILES:
            raise GroveError(
                f"{like} holds more than {_LARGEST_PROJECT_FILES:,} files, and is copied for each"
                " test: name a small project that has just what the plugin looks for"
            )


def _require_configuration(like: Path) -> None:
    """Without it every test would run with the settings that hold where nothing is said."""
    for problem in load_config(like / "nowhere", like, {}).problems:
        if not problem.key:
            raise GroveError(f"{like} cannot be what projects are like: {problem}")


def _contracts(tests: Sequence[Mapping[str, Any]]) -> Iterator[ContractReport]:
    for contract, of in dict.fromkeys((one["contract"], one["of"]) for one in tests):
        own = [one for one in tests if (one["contract"], one["of"]) == (contract, of)]
        outcomes = [one["outcome"] for one in own]
        skipped = [(one["kind"], one["reason"]) for one in own if one["outcome"] == "skipped"]
        kinds = Counter(kind for kind, _ in skipped)
        yield ContractReport(
            contract=contract,
            of=of,
            passed=outcomes.count("passed"),
            failed=outcomes.count("failed"),
            not_declared=kinds["not_declared"],
            not_given=kinds["not_given"] + kinds["no_place"],
            left_out=kinds["left_out"],
            is_tried=not kinds["no_place"],
            reasons=Counter(reason for kind, reason in skipped if kind != "not_declared"),
        )


def _failures(tests: Sequence[Mapping[str, Any]]) -> Iterator[Failure]:
    """Put together what failed in the same way."""
    alike: dict[str, list[Mapping[str, Any]]] = {}
    for one in tests:
        if one["outcome"] == "failed":
            # What stops every test is one failure and not a hundred.
            key = [one["contract"], one["of"], one["failure"]["found"], one["failure"]["place"]]
            alike.setdefault(json.dumps(key), []).append(one)
    for same in alike.values():
        failure = same[0]["failure"]
        yield Failure(
            contract=same[0]["contract"],
            of=same[0]["of"],
            tests=tuple(one["test"] for one in same),
            rule=failure["rule"],
            found=tuple(failure["found"]),
            read=failure["read"],
            place=failure["place"],
        )
