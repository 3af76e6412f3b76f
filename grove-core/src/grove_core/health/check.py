"""What a check comes to."""

from enum import Enum

from attrs import frozen


class Status(Enum):
    """How something is doing."""

    OK = "ok"
    WARNING = "warning"
    """It may be meant so, or will do for now."""
    BROKEN = "broken"
    """grove does not do there what it is for."""


@frozen(kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    status: Status
    detail: str
    mend: str = ""


def ok(name: str, detail: str) -> Check:
    """Make a check that found all well."""
    return Check(name=name, status=Status.OK, detail=detail)


def warning(name: str, detail: str, mend: str) -> Check:
    """Make a check that found something that may be meant so."""
    return Check(name=name, status=Status.WARNING, detail=detail, mend=mend)


def broken(name: str, detail: str, mend: str) -> Check:
    """Make a check that found something broken."""
    return Check(name=name, status=Status.BROKEN, detail=detail, mend=mend)
