"""What ``grove init`` was asked to do, and what of the client's files that changes."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from grove_core.errors import StorageError
from grove_core.flow.connecting import (
    denied_rules,
    denies_all,
    may_run_unasked,
    plan_hooks,
    plan_rules,
)
from grove_core.flow.git_ignoring import advice_to_ignore
from grove_core.flow.install_plan import Plan
from grove_core.flow.installation import InstallationRecord
from grove_core.health.installation import INSTALL
from grove_core.hosts.claude_hooks import ALLOW_RULE
from grove_core.hosts.claude_settings import settings_file
from grove_core.workspace import Workspace

ADVICE: Final = (
    "the client will ask you before the agent may run grove; the permission rule"
    f" {ALLOW_RULE} ends that: grove init --hooks --allow-grove"
)
_RESTART: Final = "start a new session of the client: it reads its settings when it starts"


@frozen(kw_only=True)
class Wishes:
    """What the command line, or the person at the terminal, asks for."""

    hooks: bool
    shared: bool
    allow: bool
    rules: bool
    dry_run: bool
    asks: bool
    guides: bool = False


def plan_for(
    workspace: Workspace, record: InstallationRecord, wishes: Wishes, program: str | None
) -> Plan:
    """Plan the changes of the client's files; nothing is written."""
    plan = Plan(root=workspace.root, installation=record.read())
    if wishes.hooks:
        if program is None:
            raise StorageError(f"there is no program grove for hooks to run. {INSTALL}")
        denied = denied_rules(workspace)
        allow = wishes.allow and not denies_all(denied)
        plan_hooks(plan, workspace, program, shared=wishes.shared, allow=allow)
        plan.notes += _notes_on_hooks(plan, workspace, wishes, denied)
    if wishes.rules:
        plan_rules(plan, workspace)
    return plan


def _notes_on_hooks(
    plan: Plan, workspace: Workspace, wishes: Wishes, denied: Sequence[str]
) -> list[str]:
    notes = []
    if plan.changes:
        notes.append(_RESTART)
    if denied:
        rules = ", ".join(denied)
        end = ", so none was added" if denies_all(denied) else ""
        notes.append(
            f"the client's settings deny {rules}: a deny rule wins over any permission{end}"
        )
    is_asked_for = wishes.allow or may_run_unasked(workspace) or denies_all(denied)
    if plan.changes and not is_asked_for:
        notes.append(ADVICE)
    target = settings_file(workspace.root, shared=wishes.shared)
    is_written = plan.recorded(target) is not None and not wishes.shared
    if is_written and (advice := advice_to_ignore(workspace, target)):
        notes.append(advice)
    return notes
