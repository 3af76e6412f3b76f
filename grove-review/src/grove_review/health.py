"""Whether reviews can work: patterns that can match, and reviewers that exist."""

from pathlib import Path

from grove_core import Health, ProjectContext
from grove_review.patterns import Pattern
from grove_review.settings import Mode, ReviewSettings


def check(context: ProjectContext) -> Health:
    """Look at the settings and for the reviewers."""
    settings: ReviewSettings = context.settings or ReviewSettings()
    if settings.mode is Mode.NEVER:
        return Health(ok=True, detail="reviews are switched off")
    wrong = [one for one in settings.tools if not Pattern(one).is_sound]
    if wrong:
        return Health(
            ok=False,
            detail=f"gates.review.tools can never match: {', '.join(wrong)}",
            fix="Write a tool's name, or Bash: and a command, such as 'Bash:gh pr merge*'",
        )
    is_asked_for = settings.mode is Mode.ALWAYS or settings.closes or bool(settings.tools)
    if is_asked_for and not any(_is_there(name, context) for name in settings.reviewers):
        return Health(
            ok=False,
            detail=f"no reviewer is installed here: {', '.join(settings.reviewers)}",
            fix="Install grove's plugin of the client, or name an agent of yours in"
            " gates.review.reviewers",
        )
    return Health(ok=True, detail=f"reviewers: {', '.join(settings.reviewers)}")


def _is_there(name: str, context: ProjectContext) -> bool:
    """Look for an agent's file, or for the client's note of the plugin that brings it."""
    home = context.environment.get("HOME", "~")
    client = Path(context.environment.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude").expanduser()
    plugin, _, agent = name.rpartition(":")
    if not plugin:
        folders = (context.root / ".claude", client)
        return any((one / "agents" / f"{agent}.md").is_file() for one in folders)
    if "CLAUDE_PLUGIN_ROOT" in context.environment:
        return True
    try:
        installed = (client / "plugins" / "installed_plugins.json").read_text("utf-8")
    except (OSError, UnicodeError):
        return False
    return f'"{plugin}@' in installed
