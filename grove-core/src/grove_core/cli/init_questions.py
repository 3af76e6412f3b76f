"""The questions of ``grove init`` on a terminal."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import rich_click as click
from attrs import evolve

from grove_core.errors import GroveError
from grove_core.hosts import claude_settings as client
from grove_core.hosts.claude_hooks import ALLOW_RULE
from grove_core.install.plan import ADVICE, Plan, Wishes, plan_for, running_hooks
from grove_core.install.record import FileChange
from grove_core.workspace import Workspace

_OWN, _TEAM, _NONE = "own", "team", "none"
_YES, _NO, _SHOW = "yes", "no", "show"
_ALLOW: Final = f"Let the agent run grove without asking you, by the permission rule {ALLOW_RULE}?"
_RULES: Final = "Write what the gate expects as a rule for the agent, .claude/rules/grove.md?"
_MEANINGS: Final = {
    _OWN: "by hooks in .claude/settings.local.json, which is yours alone",
    _TEAM: "by hooks in .claude/settings.json, which you commit for everybody who has grove",
    _NONE: "not by these: you load grove's plugin, or say grove init --hooks later",
}


def guide(plan: Plan, wishes: Wishes, program: str | None, *, is_bare: bool) -> tuple[Wishes, Plan]:
    """Show what would be done, and ask for the rest."""
    workspace = plan.workspace
    running = running_hooks(workspace)
    if not plan.changes and not (is_bare and (plan.project or running is None)):
        return wishes, plan
    try:
        if is_bare:
            wishes = _ask_for_hooks(plan, running, program)
            plan = plan_for(workspace, wishes, program)
        if ADVICE in plan.notes:
            wishes = evolve(wishes, allow=_agrees(_ALLOW))
        if is_bare and wishes.hooks and not client.rules_file(workspace.root).exists():
            question = (
                "Write what the gate expects as a rule for the agent, .claude/rules/grove.md?"
            )
            wishes = evolve(wishes, rules=_agrees(question))
        plan = plan_for(workspace, wishes, program)
        if ADVICE in plan.notes:
            plan.notes.remove(ADVICE)
    except click.Abort:
        raise _declined() from None
    confirm("Set grove up like this?", plan.changes, workspace.root)
    return wishes, plan


def confirm(question: str, changes: Sequence[FileChange], root: Path) -> None:
    """Name changes, show them if wished, and ask for everything."""
    for change in changes:
        click.echo(f"  {change.action} {change.name(root)}", err=True)
    answers = [_YES, _NO, _SHOW] if changes else [_YES, _NO]
    try:
        while (answer := _choose(question, answers, _YES)) == _SHOW:
            for change in changes:
                click.echo(change.diff(root), nl=False, err=True)
    except click.Abort:
        raise _declined() from None
    if answer == _NO:
        raise GroveError("nothing was changed")


def _declined() -> GroveError:
    """Take Ctrl-C, or an end of input, at a question as a no."""
    click.echo("", err=True)  # the question's line has no end yet
    return GroveError("nothing was changed")


class _Answer(click.Choice[str]):
    """One of some words, or as much of it as tells it from the others."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Find the word that is meant."""
        typed = value.strip().lower()
        meant = [word for word in self.choices if typed and word.startswith(typed)]
        return super().convert(meant[0] if len(meant) == 1 else value, param, ctx)


def _choose(question: str, answers: Sequence[str], default: str) -> str:
    answer: str = click.prompt(question, type=_Answer(answers), default=default, err=True)
    return answer


def _agrees(question: str) -> bool:
    return click.confirm(question, default=False, err=True)


def _ask_for_hooks(plan: Plan, running: client.Registration | None, program: str | None) -> Wishes:
    for line in _introduction(plan):
        click.echo(line, err=True)
    if running is not None:
        where = f"{running.kind} {running.source}"
        click.echo(f"Claude Code runs grove here already ({where}).\n", err=True)
    if running is not None or program is None:
        return Wishes()
    click.echo("Claude Code can run grove here (Ctrl-C leaves, and changes nothing):", err=True)
    for name, meaning in _MEANINGS.items():
        click.echo(f"  {name:<6} {meaning}", err=True)
    click.echo("", err=True)
    answer = _choose("Hooks for Claude Code", list(_MEANINGS), _OWN)
    return Wishes(hooks=answer != _NONE, shared=answer == _TEAM)


def _introduction(plan: Plan) -> Iterator[str]:
    workspace = plan.workspace
    yield f"This sets grove up in {workspace.root}. Nothing is written before you agree.\n"
    if plan.project:
        yield "To be committed:"
        yield from (f"  {change.name(workspace.root)}" for change in plan.project)
        yield ""
    yield f"Tickets      {_tickets(workspace)}"
    yield f"Learnings    {_place_of_learnings(workspace)}"
    yield ""


def _tickets(workspace: Workspace) -> str:
    used = [one for one in workspace.tickets().all if one.takes_part]
    if not used:
        return "no ticket system is found; grove tickets tells what is looked for"
    return "; ".join(f"{one.probe.name} ({one.why})" for one in used)


def _place_of_learnings(workspace: Workspace) -> str:
    library = workspace.library
    team = next((one for one in library.project_backends if one.state.is_primary), None)
    places = []
    for one, words in ((team, "for the team"), (library.personal, "personal ones")):
        if one is not None:
            location = library.health(one).location.removeprefix(f"{workspace.root}/")
            places.append(f"{one.state.spec.name} ({location or 'as it is configured'}), {words}")
    return "; ".join(places) or "no memory backend is installed: grove doctor says which to install"
