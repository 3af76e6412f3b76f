"""The ticket systems that are tried, each with its real tool or a stand-in: a table.

Every system is set up with at least three tickets: the first is in progress, the others are open.
"""

import json
import shlex

from attrs import frozen
from shop import LABELS, TEXT, TITLE, find_tool

WHOLE = {"title": TITLE, "description": TEXT, "labels": sorted(LABELS)}
TITLES = (TITLE, "Orders export is slow", "Orders import fails")


@frozen(kw_only=True)
class System:
    """One ticket system with one tool, and what the tests do with it.

    Attributes:
        label: What the tests are named by.
        name: grove's name of the system.
        provide: Puts the tool on PATH and starts what it talks to; before each test.
        set_up: Makes the tickets with the tool; gives their ids, by name: `first`, `second`,
            `third`, and others that `refused` names. Done once, and copied for each test.
        close: The command that closes a ticket, with `{}` for its id.
        reopen: The command that opens it again, or `None`.
        several: A command that closes two tickets at once, or `None`.
        forms: Further commands that close the second ticket.
        unknown: The id of a ticket that is not there.
        refused: Commands that look like closes and are refused.
        harmless: Commands that close nothing and work.
        current: What is known of the first ticket besides its id; `None` where nothing is.
        is_asked: Whether the tool itself is asked for it, within grove's time limit.
        enabled: Whether the project's configuration must switch it on.
        behind: The system that comes first where both are found, since they share their marker.
        shared_by_worktrees: Whether a linked worktree has the same tickets.
        is_slow: A call of the tool takes seconds.
        refuses_flags: Whether a flag that it does not know makes a command fail.
        tells_state: Whether grove can see, besides what the tool prints, that a ticket is closed.
        databases: Patterns of files that the tool may change when grove only reads with it.
    """

    label: str
    name: str
    provide: object
    set_up: object
    close: str
    reopen: str | None = None
    several: str | None = None
    forms: tuple = ()
    unknown: str = "nope-999"
    refused: tuple = ()
    harmless: tuple = ()
    current: dict | None = None
    is_asked: bool = False
    enabled: bool = False
    behind: str | None = None
    shared_by_worktrees: bool = False
    is_slow: bool = False
    refuses_flags: bool = True
    tells_state: bool = True
    databases: tuple = ()


def real(name, key, program):
    """Provides an installed tool."""

    def provide(shop):
        shop.offer(name, find_tool(key) / program)

    return provide


def stand_in(name, module):
    """Provides a stand-in."""

    def provide(shop):
        shop.offer_stand_in(name, module)

    return provide


def named(ids):
    return dict(zip(("first", "second", "third"), ids, strict=True))


# --- beads and its port -----------------------------------------------------------------------


def beads(version):
    offer = real("bd", f"bd-{version}", "bin/bd")

    def provide(shop):
        offer(shop)
        # Its daemon is tried by a test of its own.
        shop.variables["BEADS_NO_DAEMON"] = "1"

    return provide


def created(shop, program, *words):
    """Makes an issue with `bd` or `br`; gives its id."""
    # Their warnings would be in the way of their JSON.
    output = shop.says(f"{shlex.join([program, 'create', *words, '--json'])} 2>/dev/null")
    return json.loads(output)["id"]


def beads_issues(shop):
    shop.says("bd init --prefix sh --quiet 2>/dev/null")
    labels = ",".join(LABELS)
    ids = named(
        [created(shop, "bd", TITLES[0], "-d", TEXT, "-l", labels)]
        + [created(shop, "bd", title) for title in TITLES[1:]]
    )
    ids["blocked"] = created(shop, "bd", "Orders archive")
    ids["epic"] = created(shop, "bd", "Orders", "-t", "epic")
    created(shop, "bd", "A part of it", "--parent", ids["epic"])
    shop.says(f"bd dep add {ids['blocked']} {ids['third']}")
    shop.says(f"bd update {ids['first']} --status in_progress")
    return ids


def br_issues(shop):
    shop.says("br init --prefix sh")
    labels = ",".join(LABELS)
    ids = named(
        [created(shop, "br", TITLES[0], "-d", TEXT, "-l", labels)]
        + [created(shop, "br", title) for title in TITLES[1:]]
    )
    ids["blocked"] = created(shop, "br", "Orders archive")
    shop.says(f"br dep add {ids['blocked']} {ids['third']}")
    shop.says(f"br update {ids['first']} --status in_progress")
    return ids


# --- files in the project ---------------------------------------------------------------------


def tissue_issues(shop):
    shop.says("tissue init --prefix sh")
    tags = " ".join(f"-t {label}" for label in LABELS)
    ids = [shop.says(f"tissue new {shlex.quote(TITLES[0])} -b {shlex.quote(TEXT)} {tags}")]
    ids += [shop.says(f"tissue new {shlex.quote(title)}") for title in TITLES[1:]]
    shop.says(f"tissue status {ids[0]} in_progress")
    return named(ids)


def tk_tickets(shop):
    ids = [
        shop.says(
            f"tk create {shlex.quote(TITLE)} -d {shlex.quote(TEXT)} --tags '{', '.join(LABELS)}'"
        )
    ]
    ids += [shop.says(f"tk create {shlex.quote(title)}") for title in TITLES[1:]]
    shop.says(f"tk start {ids[0]}")
    return named(ids)


def backlog_tasks(shop):
    shop.says("backlog init shop --defaults")
    # Else it asks the repository's remotes at every call.
    shop.says("backlog config set remoteOperations false")
    quoted = [shlex.quote(title) for title in TITLES]
    labels = ",".join(LABELS)
    shop.says(
        f"backlog task create {quoted[0]} -d {shlex.quote(TEXT)} -l {labels} -s 'In Progress'"
    )
    for title in quoted[1:]:
        shop.says(f"backlog task create {title}")
    return named(["TASK-1", "TASK-2", "TASK-3"])


def taskmaster_tasks(shop):
    folder = shop.project / ".taskmaster" / "tasks"
    folder.mkdir(parents=True)
    tasks = [
        {
            "id": number,
            "title": title,
            "description": TEXT if number == 1 else "",
            "details": "",
            "testStrategy": "",
            "status": "in-progress" if number == 1 else "pending",
            "priority": "high",
            "dependencies": [],
            "subtasks": [],
        }
        for number, title in enumerate(TITLES, start=1)
    ]
    metadata = {"created": "2030-01-01T00:00:00Z", "updated": "2030-01-01T00:00:00Z"}
    document = {"master": {"tasks": tasks, "metadata": metadata}}
    (folder / "tasks.json").write_text(json.dumps(document))
    return named(["1", "2", "3"])


# --- the repository, the user, a server -------------------------------------------------------


def git_bugs(shop):
    quoted = [shlex.quote(title) for title in TITLES]
    ids = [shop.says(f"git bug bug new -t {quoted[0]} -m {shlex.quote(TEXT)}").split()[0]]
    ids += [shop.says(f"git bug bug new -t {title} -m x").split()[0] for title in quoted[1:]]
    shop.says(f"git bug bug label new {ids[0]} {' '.join(LABELS)}")
    shop.says(f"git bug bug select {ids[0]}")
    return named(ids)


def taskwarrior_tasks(shop):
    (shop.world.home / ".taskrc").write_text(
        "data.location=~/.task\nconfirmation=no\nnews.version=2.6.0\n"
    )
    tags = " ".join(f"+{label}" for label in LABELS)
    shop.says(f"task add {shlex.quote(TITLES[0])} {tags}")
    for title in TITLES[1:]:
        shop.says(f"task add {shlex.quote(title)}")
    shop.says("task 1 annotate " + shlex.quote(TEXT))
    shop.says("task 1 start")
    return named(["1", "2", "3"])


def github_server(shop):
    real("gh", "gh-2.23.0", "usr/bin/gh")(shop)
    config = shop.world.home / ".config" / "gh"
    config.mkdir(parents=True, exist_ok=True)
    socket, state = shop.world.folder / "gh.sock", shop.world.home / "github.json"
    (config / "config.yml").write_text(f"http_unix_socket: {socket}\n")
    shop.world.environment |= {"GH_TOKEN": "token", "GH_NO_UPDATE_NOTIFIER": "1"}
    shop.serve("github_api", socket, state).stdout.readline()


def github_issues(shop):
    shop.says("git remote add origin https://github.com/shop/orders.git")
    shop.says("git switch -q -c 12-orders-report")
    issues = {
        number: {"title": title, "body": TEXT, "labels": list(LABELS), "state": "OPEN"}
        for number, title in zip(("12", "13", "14"), TITLES, strict=True)
    }
    (shop.world.home / "github.json").write_text(json.dumps(issues))
    return named(issues)


def gitlab_issues(shop):
    shop.says("git remote add origin https://gitlab.com/shop/orders.git")
    shop.says("git switch -q -c 12-orders-report")
    issues = {
        number: {"title": title, "description": TEXT, "labels": list(LABELS), "state": "opened"}
        for number, title in zip(("12", "13", "14"), TITLES, strict=True)
    }
    (shop.world.home / "glab-stand-in.json").write_text(json.dumps(issues))
    return named(issues)


def jira_server(shop):
    real("jira", "jira-1.7.0", "bin/jira")(shop)
    config = shop.world.home / ".config" / ".jira"
    config.mkdir(parents=True, exist_ok=True)
    port = shop.serve("jira_api", shop.world.home / "jira.json").stdout.readline().strip()
    (config / ".config.yml").write_text(
        "installation: Local\nauth_type: bearer\nlogin: dev\n"
        f"server: http://127.0.0.1:{port}\nproject:\n  key: SHOP\n  type: classic\n"
    )
    shop.world.environment["JIRA_API_TOKEN"] = "token"


def jira_issues(shop):
    issues = {
        key: {"summary": title, "description": TEXT, "labels": list(LABELS), "status": "To Do"}
        for key, title in zip(("SHOP-1", "SHOP-2", "SHOP-3"), TITLES, strict=True)
    }
    (shop.world.home / "jira.json").write_text(json.dumps(issues))
    return named(issues)


def linear_issues(shop):
    (shop.project / ".linear.toml").write_text('workspace = "shop"\nteam_id = "ENG"\n')
    shop.says("git add -A && git commit -q -m Linear && git switch -q -c dev/eng-1-orders-report")
    issues = {
        key: {
            "title": title,
            "description": TEXT,
            "labels": {"nodes": [{"name": label} for label in LABELS]},
            "state": {"name": "In Progress", "type": "started"},
        }
        for key, title in zip(("ENG-1", "ENG-2", "ENG-3"), TITLES, strict=True)
    }
    (shop.world.home / "linear-stand-in.json").write_text(json.dumps(issues))
    return named(issues)


BEADS = {
    "name": "beads",
    "set_up": beads_issues,
    "close": "bd close {}",
    "reopen": "bd reopen {}",
    "several": "bd close {} {}",
    "current": WHOLE,
    "is_asked": True,
    "shared_by_worktrees": True,
}
BEADS_REFUSED = ("bd close {blocked}", "bd close {second} --readonly", "bd close {second} nope-9")
BEADS_HARMLESS = (
    "bd close {second} --help",
    "bd list --status closed",
    "bd comment {second} 'bd close {second}'",
)

SYSTEMS = (
    System(
        label="beads 0.49.6",
        provide=beads("0.49.6"),
        forms=(
            "bd update {second} --status closed",
            "bd update {second} -s=closed --json",
            "bd close {second} -r 'All is done' --json",
            "cd src && bd close {second}",
            "bd show {second} >/dev/null && bd close",
            "for id in {second}; do bd close $id; done",
            "bash -c 'bd close {second}'",
            "bd close --force {blocked}",
        ),
        refused=(*BEADS_REFUSED, "bd done {second}"),
        harmless=BEADS_HARMLESS[:2],
        databases=("project/.beads/beads.db*",),
        **BEADS,
    ),
    System(
        label="beads 1.0.5",
        provide=beads("1.0.5"),
        forms=(
            "bd update {second} --status closed",
            "bd update {second} -s=closed --json",
            "bd close {second} -r 'All is done' --json",
            "cd src && bd close {second}",
            "bd show {second} >/dev/null && bd close",
            "for id in {second}; do bd close $id; done",
            "bash -c 'bd close {second}'",
            "bd done {second}",
            "bd done {second} 'All is done'",
            "echo 'close {second}' | bd batch",
            "bd -C src close {second}",
            "bd close {blocked} {second}",
        ),
        refused=(*BEADS_REFUSED, "bd close {epic}", "bd done {second} two words"),
        harmless=BEADS_HARMLESS,
        databases=("project/.beads/embeddeddolt/*",),
        **BEADS,
    ),
    System(
        label="br stand-in",
        name="br",
        provide=stand_in("br", "br"),
        set_up=br_issues,
        behind="beads",
        close="br close {}",
        reopen="br reopen {}",
        several="br close {} {}",
        forms=(
            "br update {second} --status closed",
            "br close {second} -r 'All is done' --json",
        ),
        refused=("br close {blocked}",),
        harmless=("br close {second} --help", "br list --status closed"),
        current=WHOLE,
    ),
    System(
        label="tissue stand-in",
        name="tissue",
        provide=stand_in("tissue", "tissue"),
        set_up=tissue_issues,
        close="tissue status {} closed",
        reopen="tissue status {} open",
        forms=(
            "tissue edit {second} --status closed",
            "tissue status {second} closed --json",
            "cd src && tissue status {second} closed",
        ),
        refused=(
            "tissue status {second} done",
            "tissue edit {second} --status=closed",
            "tissue close {second}",
        ),
        harmless=("tissue list --status closed", "tissue status {second} paused"),
        current=WHOLE,
    ),
    System(
        label="tk stand-in",
        name="tk",
        provide=stand_in("tk", "tk"),
        set_up=tk_tickets,
        close="tk close {}",
        reopen="tk reopen {}",
        forms=(
            "tk status {second} closed",
            "cd src && tk close {second}",
        ),
        refused=("tk status {second} done",),
        harmless=("tk closed", "tk --help", "tk status {second} open"),
        current=WHOLE,
        refuses_flags=False,
    ),
    System(
        label="backlog 1.52.0",
        name="backlog",
        provide=real("backlog", "backlog-1.52.0", "node_modules/.bin/backlog"),
        set_up=backlog_tasks,
        close="backlog task edit {} -s Done",
        reopen="backlog task edit {} -s 'To Do'",
        several="backlog task edit {} {} -s Done",
        unknown="TASK-99",
        forms=(
            "backlog task edit {second} --status=done",
            "backlog tasks edit -s Done {second} --plain",
            "cd src && backlog task edit {second} -s DONE",
        ),
        refused=(
            "backlog task edit {second} -s Nope",
            "backlog task complete {second}",
            "backlog task close {second}",
        ),
        harmless=("backlog task edit {second} -s Done --help", "backlog task list -s Done --plain"),
        current=WHOLE,
    ),
    System(
        label="task-master 0.43.1",
        name="taskmaster",
        provide=real("task-master", "task-master-0.43.1", "node_modules/.bin/task-master"),
        set_up=taskmaster_tasks,
        close="task-master set-status {} done",
        reopen="task-master set-status --id={} --status=pending",
        several="task-master set-status --id={},{} --status=done",
        unknown="99",
        refused=("task-master set-status --id={second} --status=completed",),
        current={"title": TITLE, "description": TEXT},
        is_slow=True,
    ),
    System(
        label="git-bug stand-in",
        name="gitbug",
        provide=stand_in("git-bug", "git_bug"),
        set_up=git_bugs,
        close="git bug bug status close {}",
        reopen="git bug bug status open {}",
        unknown="ffffff0",
        forms=(
            "git bug bug select {second} && git bug bug status close",
            "git-bug bug status close {second}",
        ),
        refused=("git bug bug status closed {second}",),
        harmless=("git bug bug status close {second} --help", "git bug bug show {second}"),
        # Asking the tool for more than the selected id takes a lock and builds a cache.
        current={},
        tells_state=False,
        shared_by_worktrees=True,
    ),
    System(
        label="taskwarrior 2.6.2",
        name="taskwarrior",
        provide=real("task", "task-2.6.2", "usr/bin/task"),
        set_up=taskwarrior_tasks,
        close="task {} done",
        reopen="task end.any: {} modify status:pending",
        several="task {},{} done",
        unknown="999",
        forms=(
            "task done {second}",
            "task {second} modify status:completed",
            "task rc.bulk=0 {second} do",
            "task uuid:$(task _get {second}.uuid) done",
        ),
        refused=("task 1-3 done",),
        harmless=("task 2 annotate done", "task list"),
        current=WHOLE,
        is_asked=True,
        # Reading makes the file of completed tasks where there is none.
        databases=("home/.task/completed.data",),
        enabled=True,
        shared_by_worktrees=True,
        refuses_flags=False,
    ),
    System(
        label="gh 2.23.0",
        name="github",
        provide=github_server,
        set_up=github_issues,
        close="gh issue close {}",
        reopen="gh issue reopen {}",
        unknown="99",
        forms=(
            "gh issue close '#{second}' -r 'not planned'",
            "gh issue close https://github.com/shop/orders/issues/{second}",
            "gh -R shop/orders issue close {second}",
        ),
        refused=("gh issue close {second} {third}",),
        harmless=("gh issue close {second} --help", "gh issue view {second} --json title"),
        current={},
        enabled=True,
        shared_by_worktrees=True,
    ),
    System(
        label="glab stand-in",
        name="gitlab",
        provide=stand_in("glab", "glab"),
        set_up=gitlab_issues,
        close="glab issue close {}",
        reopen="glab issue reopen {}",
        unknown="99",
        forms=("glab issue close '#{second}'",),
        refused=("glab issue close {second} {third}",),
        harmless=("glab issue close {second} --help", "glab issue view {second}"),
        current={},
        enabled=True,
        shared_by_worktrees=True,
    ),
    System(
        label="jira 1.7.0",
        name="jira",
        provide=jira_server,
        set_up=jira_issues,
        close="jira issue move {} Done",
        reopen="jira issue move {} 'To Do'",
        unknown="SHOP-99",
        forms=(
            "jira issue transition {second} done -RFixed",
            "jira issues mv 2 Done",
        ),
        refused=("jira issue move {second} Nope",),
        harmless=("jira issue move {second} Done --help", "jira issue move {second} 'In Progress'"),
        enabled=True,
        shared_by_worktrees=True,
    ),
    System(
        label="linear stand-in",
        name="linear",
        provide=stand_in("linear", "linear"),
        set_up=linear_issues,
        close="linear issue update {} -s Done",
        reopen="linear issue update {} -s Todo",
        unknown="ENG-99",
        forms=(
            "linear issue update -s completed {second}",
            "git switch -q -c eng-2-other && linear issue update --state Done",
        ),
        refused=("linear issue update {second} -s Nope",),
        harmless=(
            "linear issue update {second} -s Done --help",
            "linear issue update {second} -s started",
        ),
        current={},
        shared_by_worktrees=True,
    ),
)
