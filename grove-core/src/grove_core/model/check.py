"""What a check of ``grove doctor`` finds."""

from enum import Enum

from grove_core.model.value import Value, frozen


class Status(Enum):
    """How something is doing."""

    OK = "ok"
    WARNING = "warning"
    """It may be meant so, or will do for now."""
    BROKEN = "broken"
    """grove does not do there what it is for."""


@frozen(kw_only=True, eq=False, repr=False)
class CheckResult(Value):
    """What a check has found.

    Attributes:
        name: What was looked at; without one it gets that of the check.
        status: How it is doing.
        detail: What was found, in a line.
        fix: What to do about it, in a line.
    """

    name: str = ""
    status: Status
    detail: str
    fix: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is nothing to fix."""
        return self.status is Status.OK


def ok(detail: str, *, name: str = "") -> CheckResult:
    """Report that all is well."""
    return CheckResult(name=name, status=Status.OK, detail=detail)


def warning(detail: str, fix: str, *, name: str = "") -> CheckResult:
    """Report something that may be meant so."""
    return CheckResult(name=name, status=Status.WARNING, detail=detail, fix=fix)


def broken(detail: str, fix: str, *, name: str = "") -> CheckResult:
    """Report something broken."""
    return CheckResult(name=name, status=Status.BROKEN, detail=detail, fix=fix)
