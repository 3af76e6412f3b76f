"""The section ``[backends.total-recall]`` of the configuration."""

from enum import Enum

from attrs import frozen


class Via(Enum):
    """How a learning gets into the daily log."""

    APPEND = "append"
    """grove appends it itself."""
    CLAUDE = "claude"
    """The client is run with Total Recall's own command; where that fails, it is appended."""


@frozen(kw_only=True)
class TotalRecallSettings:
    """What can be configured.

    Attributes:
        via: How a learning gets into the daily log.
        working_memory: Whether searches look into ``CLAUDE.local.md`` as well.
    """

    via: Via = Via.APPEND
    working_memory: bool = False
