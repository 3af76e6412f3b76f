"""Whether a close really happened, from several sources of different worth."""

from collections.abc import Callable

from grove_core import Confirmation, ToolResult


def confirmation(result: ToolResult | None, *sources: Callable[[], bool | None]) -> Confirmation:
    """Ask sources one after the other until one knows."""
    for source in sources:
        answer = source()
        if answer is not None:
            return Confirmation.YES if answer else Confirmation.NO
    failed = result is not None and not result.succeeded
    return Confirmation.NO if failed else Confirmation.UNKNOWN
