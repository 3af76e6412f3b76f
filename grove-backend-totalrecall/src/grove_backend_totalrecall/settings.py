"""The section ``[backends.total-recall]`` of the configuration."""

from enum import Enum

from attrs import field, frozen

from grove_core import USER_ONLY


class Via(Enum):
    """How a learning gets into the daily log."""

    APPEND = "append"
    """grove appends it itself."""
    CLAUDE = "claude"
    """The client is run with Total Recall's own command; where that fails, it is appended."""


@frozen(kw_only=True)
class TotalRecallSettings:
    """What can be configured."""

    via: Via = field(default=Via.APPEND, metadata=USER_ONLY)
    working_memory: bool = False
