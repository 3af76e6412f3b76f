"""Running checks: one that raises or hangs is itself broken, and the others go on."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from attrs import evolve, frozen

from grove_core.health.check import Check, broken
from grove_core.plugins.limits import TimeLimitError, call_limited
from grove_core.plugins.report import describe_error
from grove_core.text import clean_line

CHECK_SECONDS: Final = 2.0
_LONGEST: Final = 500
_REPORT: Final = "This is a fault of grove or of the machine; report it with the line above"
_HANGS: Final = "See whether a disk, a network file system or a program there hangs"


@frozen(kw_only=True)
class Probe:
    """Something to look at."""

    name: str
    look: Callable[[], Iterable[Check]]
    seconds: float = CHECK_SECONDS


def run_probes(probes: Iterable[Probe]) -> Sequence[Check]:
    """Look at everything, one after the other."""
    return [_cleaned(check) for probe in probes for check in _run(probe)]


def _cleaned(check: Check) -> Check:
    """Paths, logs and plugins may hold anything; a terminal is to show one line of it."""
    return evolve(
        check,
        name=clean_line(check.name, _LONGEST),
        detail=clean_line(check.detail, _LONGEST),
        mend=clean_line(check.mend, _LONGEST),
    )


def _run(probe: Probe) -> Sequence[Check]:
    try:
        return call_limited(lambda: list(probe.look()), probe.seconds)
    except TimeLimitError as error:
        return [broken(probe.name, str(error), _HANGS)]
    except Exception as error:  # noqa: BLE001 - a doctor that falls ill names the illness
        return [broken(probe.name, f"could not be looked at: {describe_error(error)}", _REPORT)]
