"""Which tools a matcher of the client's settings means. Pure."""

import re
from typing import Final

_NAMES: Final = re.compile(r"[A-Za-z0-9_\- ,|]*")
_SEPARATORS: Final = re.compile(r"[,|]")
_ANY_ENDING: Final = "*"
_SOME_ENDING: Final = "x"


def covers(matcher: str | None, tool: str) -> bool:
    """Return whether the client runs a hook for a tool."""
    if matcher is None or matcher in ("", _ANY_ENDING):
        return True
    name = tool[:-1] + _SOME_ENDING if tool.endswith(_ANY_ENDING) else tool
    if _NAMES.fullmatch(matcher):
        return name in {one.strip() for one in _SEPARATORS.split(matcher)}
    try:
        return re.search(matcher, name) is not None
    except re.error:
        return False
