"""The questions of ``grove init`` to somebody who sees grove for the first time."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import rich_click as click
from attrs import evolve

from grove_core.cli.init_plan import ADVICE, Wishes, plan_for
from grove_core.cli.previews import DECLINED
from grove_core.cli.scaffolding import Scaffold
from grove_core.errors import GroveError
from grove_core.flow.install_plan import Plan
from grove_core.flow.installation import InstallationRecord
from grove_core.health.backends import BackendFact, gather_backends
from grove_core.health.installer import gather_installer
from grove_core.hosts.claude_hooks import ALLOW_RULE
from grove_core.hosts.claude_settings import registrations, rules_file
from grove_core.workspace import Workspace

QUESTION_OF_RULE: Final = (
    f"Let the agent run grove without asking you, by the permission rule {ALLOW_RULE}?"
)
_OWN, _TEAM, _NONE = "own", "team", "none"
_YES, _NO, _SHOW = "yes", "no", "show"
_MEANINGS: Final = {
    _OWN: "by hooks in .claude/settings.local.json, which is yours alone",
    _TEAM: "by hooks in .claude/settings.json, which you commit for everybody who has grove",
    _NONE: "not by these: you load grove's plugin, or say grove init --hooks later",
}


def guide(
    workspace: Workspace,
    wishes: Wishes,
    made: Scaffold,
    record: InstallationRecord,
    program: str | None,
    driver: str | None,
) -> Wishes:
    """Show what would be done, and ask for the rest."""
    found = _runs_already(workspace)
    news = [*made.created, *made.extended]
    if not news and found is not None:
        return evolve(wishes, guides=False)
    for line in _introduction(workspace, news, driver):
        click.echo(line, err=True)
    if found is not None:
        click.echo(f"Claude Code runs grove here already ({found}).\n", err=True)
    elif program is not None:
        wishes = _ask_for_hooks(workspace, wishes, record, program)
    if wishes.hooks and not rules_file(workspace.root).exists():
        question = "Write what the gate expects as a rule for the agent, .claude/rules/grove.md?"
        wishes = evolve(wishes, rules=click.confirm(question, default=False, err=True))
    return wishes


def agree(plan: Plan) -> None:
    """Name the changes of the client's files, show them if wished, and ask for everything."""
    for change in plan.changes:
        click.echo(f"  {change.action} {change.name(plan.root)}", err=True)
    answers = [_YES, _NO, _SHOW] if plan.changes else [_YES, _NO]
    while True:
        answer = click.prompt(
            "Set grove up like this?", type=_Answer(answers), default=_YES, err=True
        )
        if answer == _NO:
            raise GroveError(DECLINED)
        if answer == _YES:
            return
        for change in plan.changes:
            click.echo(change.diff(plan.root), nl=False, err=True)


class _Answer(click.Choice[str]):
    """One of some words, or as much of it as tells it from the others."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Find the word that is meant."""
        typed = value.strip().lower()
        meant = [word for word in self.choices if typed and word.startswith(typed)]
        return super().convert(meant[0] if len(meant) == 1 else value, param, ctx)


def _runs_already(workspace: Workspace) -> str | None:
    search = workspace.environment.get("PATH", "")
    for one in registrations(workspace.root, workspace.environment):
        if shutil.which(one.program, path=search):
            return f"{one.kind} {one.source}"
    return None


def _introduction(workspace: Workspace, news: Sequence[Path], driver: str | None) -> Iterator[str]:
    yield f"This sets grove up in {workspace.root}. Nothing is written before you agree.\n"
    if news:
        yield "To be committed:"
        yield from (f"  {path.relative_to(workspace.root)}" for path in news)
        yield ""
    yield f"Tickets      {_tickets(workspace)}"
    yield f"Learnings    {_place_of_learnings(workspace)}"
    if driver:
        yield f"Merges       {driver}"
    yield ""


def _tickets(workspace: Workspace) -> str:
    used = [one for one in workspace.tickets().all if one.takes_part]
    if not used:
        return "no ticket system is found; grove tickets tells what is looked for"
    return "; ".join(f"{one.probe.name} ({one.why})" for one in used)


def _place_of_learnings(workspace: Workspace) -> str:
    used = gather_backends(workspace).used
    team = next((one for one in used if one.role == "primary"), None)
    own = next((one for one in used if one.role == "personal"), None)
    if team is None:
        install = gather_installer().command("grove-backend-markdown")
        return f"no memory backend is installed: {install}"
    text = f"{_place(team, workspace)}, for the team"
    return f"{text}; {_place(own, workspace)}, personal ones" if own else text


def _place(fact: BackendFact, workspace: Workspace) -> str:
    return f"{fact.name} ({_short(fact.health.location, workspace)})"


def _short(location: str, workspace: Workspace) -> str:
    return location.removeprefix(f"{workspace.root}/") or "as it is configured"


def _ask_for_hooks(
    workspace: Workspace, wishes: Wishes, record: InstallationRecord, program: str
) -> Wishes:
    click.echo("Claude Code can run grove here (Ctrl-C leaves, and changes nothing):", err=True)
    for name, meaning in _MEANINGS.items():
        click.echo(f"  {name:<6} {meaning}", err=True)
    click.echo("", err=True)
    answer = click.prompt("Hooks for Claude Code", type=_Answer(_MEANINGS), default=_OWN, err=True)
    if answer == _NONE:
        return wishes
    wishes = evolve(wishes, hooks=True, shared=answer == _TEAM)
    if ADVICE not in plan_for(workspace, record, wishes, program).notes:
        return wishes
    return evolve(wishes, allow=click.confirm(QUESTION_OF_RULE, default=False, err=True))
