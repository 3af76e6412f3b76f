"""Why the kit leaves out a test: texts that know which kind of reason they are."""

from typing import ClassVar


class Reason(str):
    """Why a test is left out, for ``pytest.skip``."""

    __slots__ = ()

    kind: ClassVar = "left_out"


class NotDeclared(Reason):
    """The plugin does not say that it can do what would be tried."""

    __slots__ = ()

    kind = "not_declared"


class NotGiven(Reason):
    """Only the author's own tests can give what would be tried."""

    __slots__ = ()

    kind = "not_given"


class NoPlace(NotGiven):
    """There is no project in which the plugin can be tried at all."""

    __slots__ = ()

    kind = "no_place"


def kind_of(skipped: BaseException) -> str:
    """Return which kind of reason a test was skipped for."""
    reason = getattr(skipped, "msg", None)
    return reason.kind if isinstance(reason, Reason) else Reason.kind
