"""What the configuration says in ``[gates.review]``."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from attrs import Factory, field, frozen
from attrs.validators import ge, le, optional

from grove_core import PROJECT_ADDS, TRUSTED_ALONE

NAME: Final = "review"


class Mode(Enum):
    """Which prompts lead to a review."""

    NEVER = "never"
    """None, and no tool call either: the gate is off."""
    PROMPT = "prompt"
    """Those that begin with ``#review``."""
    ALWAYS = "always"
    """Each that leads to a change of files."""


class Scope(Enum):
    """What an approval covers."""

    SESSION = "session"
    PROMPT = "prompt"
    TOOL = "tool"
    """The very call that was denied, once."""


@frozen(kw_only=True, eq=False, repr=False)
class ReviewSettings:
    """The section ``[gates.review]``.

    Attributes:
        mode: Which prompts lead to a review; ``never`` switches the gate off.
        tools: Tool calls that need an approval: a tool's name, or ``Bash:`` and a command, both
            with ``*`` for any text.
        closes: Whether a call that would close a ticket needs an approval.
        scope: What an approval covers.
        ttl_seconds: After so many seconds an approval ends.
        max_blocks: How often the agent is stopped for one review.
        max_denials: How many tool calls are denied for one review.
        cooldown_seconds: So long after giving up, the gate holds again.
        templates: Names of block messages, with weights; of several one is drawn for each review.
        reviewers: The agents that may decide, as the client names them.
        second_opinion: Programs that the reviewer is to ask besides, such as another agent's.
    """

    mode: Mode = field(default=Mode.PROMPT, metadata=PROJECT_ADDS)
    tools: tuple[str, ...] = field(default=(), metadata=PROJECT_ADDS)
    closes: bool = field(default=False, metadata=PROJECT_ADDS)
    scope: Scope = field(default=Scope.PROMPT, metadata=PROJECT_ADDS)
    ttl_seconds: int | None = field(default=None, validator=optional(ge(1)), metadata=PROJECT_ADDS)
    max_blocks: int = field(default=3, validator=[ge(1), le(5)], metadata=PROJECT_ADDS)
    max_denials: int = field(default=6, validator=ge(1), metadata=PROJECT_ADDS)
    cooldown_seconds: int = field(default=300, validator=ge(0), metadata=PROJECT_ADDS)
    templates: Mapping[str, int] = Factory(lambda: {"default": 100})
    reviewers: tuple[str, ...] = field(default=("grove:reviewer",), metadata=TRUSTED_ALONE)
    second_opinion: tuple[str, ...] = field(default=(), metadata=TRUSTED_ALONE)
