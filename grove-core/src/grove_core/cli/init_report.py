"""What ``grove init`` tells people."""

from typing import TYPE_CHECKING, Any, Final

from grove_core.cli.init_plan import Wishes
from grove_core.cli.previews import print_changes
from grove_core.flow.install_plan import Plan
from grove_core.flow.merge_driver import DriverAction
from grove_core.health.installer import gather_installer
from grove_core.hosts.claude_settings import PLUGIN, registrations
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

_FUTURE: Final = ("would be created:", "would be extended:", "would be kept:")
_PAST: Final = ("created", "extended", "kept   ")
WORDS_OF_DRIVER: Final = {
    DriverAction.REGISTERED: "learnings of branches are merged entry by entry: merge driver grove",
    DriverAction.FOREIGN: "git has another merge driver named grove, which stays",
}
"""What is told of the clone's merge driver; nothing of one that was there."""


def print_report(
    workspace: Workspace,
    wishes: Wishes,
    document: dict[str, Any],
    plan: Plan,
    console: "Console",
) -> None:
    """Return what init has done, or would do, and what comes next."""
    words = _FUTURE if wishes.dry_run else _PAST
    for word, key in zip(words, ("created", "extended", "kept"), strict=True):
        for path in document[key]:
            console.print(f"{word} {path.relative_to(workspace.root)}")
    print_changes(
        console, plan.changes, workspace.root, dry_run=wishes.dry_run, with_diffs=not wishes.asks
    )
    console.print(_line_on_program(workspace, wishes, document))
    if document["merge_driver"] in WORDS_OF_DRIVER:
        console.print(WORDS_OF_DRIVER[document["merge_driver"]])
    for note in plan.notes:
        console.print(f"note: {note}")
    registered = bool(registrations(workspace.root, workspace.environment))
    if not wishes.hooks and registered:
        console.print("\nNext: commit .grove. Hooks of the client run grove here already.")
    elif not wishes.hooks:
        console.print(
            "\nNext: commit .grove, and connect your agent: grove init --hooks, or load grove's"
            " plugin; the page “Connect Claude Code” of grove's documentation"
            " (docs/how-to/connect-claude-code.md) says how."
        )
    elif wishes.guides:
        console.print(
            "\nNext: commit .grove, and start a session of the client here; grove status then shows"
            " it, and grove doctor what keeps hooks from running."
        )
    if not workspace.library.project_backends:
        install = gather_installer().command("grove-backend-markdown")
        console.print(f"No memory backend is installed: {install}", style="yellow")


def _line_on_program(workspace: Workspace, wishes: Wishes, document: dict[str, Any]) -> str:
    program, previous = document["program"], document["previous_program"]
    was = f" (was {previous})" if program and previous not in (None, program) else ""
    place = program or previous
    found = registrations(workspace.root, workspace.environment)
    # The launcher of the client's plugin goes by what init has just recorded; settings do not.
    named = sorted({one.program for one in found if one.kind != PLUGIN} - {place})
    if named and not wishes.hooks:
        line = f"hooks run {', '.join(named)}, as the client's settings say"
        return f"{line}; with grove init --hooks they run {place}" if place else line
    if wishes.hooks or found:
        return f"hooks will run {place or 'the grove that PATH holds'}{was}"
    return f"a launcher will find grove {f'at {place}' if place else 'on PATH'}{was}"
