"""The gate as grove asks it; the states are loaded when there is something to decide."""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grove_core import GateAnswer, GateCall, PluginGate, ProjectContext
from grove_review.patterns import DECIDE, Pattern, tools_to_register
from grove_review.settings import Mode, ReviewSettings

if TYPE_CHECKING:
    from grove_review.machine import Machine


def open_gate(context: ProjectContext) -> PluginGate | None:
    """Open the gate for a project; ``None`` where it is off."""
    settings = context.settings or ReviewSettings()
    if settings.mode is Mode.NEVER:
        return None
    home = Path(context.environment.get("GROVE_HOME") or "~/.grove").expanduser()
    return ReviewGate(settings, home / "review")


class ReviewGate(PluginGate):
    """Holds the agent until a reviewer has decided."""

    def __init__(self, settings: ReviewSettings, templates: Path) -> None:
        """Take what the configuration says, and the folder of block messages."""
        self._settings = settings
        self._folder = templates
        self._patterns = [one for one in map(Pattern, settings.tools) if one.is_sound]
        self.most_blocks = settings.max_blocks
        self.watches_work = settings.mode is Mode.ALWAYS
        self.prompts = ("",) if self.watches_work else ("#review", "#roz")
        self.literals = (" ".join(DECIDE[1:]), *(one.literal for one in self._patterns))
        self.tools = tools_to_register(self._patterns)
        self.agents = settings.reviewers

    @cached_property
    def _machine(self) -> "Machine":
        from grove_review.machine import Machine
        from grove_review.texts import read_templates

        templates = read_templates(self._folder, self._settings.templates)
        return Machine(self._settings, self._patterns, templates)

    def on_prompt(self, call: GateCall, state: Mapping[str, Any], now: datetime) -> GateAnswer:
        """Begin a review that the user asks for, end it, or count the prompt to the one owed."""
        return self._machine.on_prompt(call, state, now)

    def before_tool(self, call: GateCall, state: Mapping[str, Any], now: datetime) -> GateAnswer:
        """Deny a call that needs an approval and has none; let a reviewer decide."""
        return self._machine.before_tool(call, state, now)

    def on_stop(self, call: GateCall, state: Mapping[str, Any], now: datetime) -> GateAnswer:
        """Hold the agent while a review is owed."""
        return self._machine.on_stop(call, state, now)

    def on_subagent_stop(
        self, call: GateCall, state: Mapping[str, Any], now: datetime
    ) -> GateAnswer:
        """Hold a reviewer that has not decided, once."""
        return self._machine.on_subagent_stop(call, state, now)

    def pending(self, state: Mapping[str, Any]) -> str:
        """Say which review is owed."""
        return self._machine.pending(state)
