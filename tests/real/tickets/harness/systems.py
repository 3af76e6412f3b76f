"""The ticket systems that are tried, each with its real tool: a table.

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
        shared_by_worktrees: Whether a linked worktree has the same tickets.
        is_slow: A call of the tool takes seconds.
        refuses_flags: Whether a flag that it does not know makes a command fail.
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
    shared_by_worktrees: bool = False
    is_slow: bool = False
    refuses_flags: bool = True
    databases: tuple = ()


def real(name, key, program):
    """Provides an installed tool."""

    def provide(shop):
        shop.offer(name, find_tool(key) / program)

    return provide


def named(ids):
    return dict(zip(("first", "second", "third"), ids, strict=True))


def beads(version):
    offer = real("bd", f"bd-{version}", "bin/bd")

    def provide(shop):
        offer(shop)
        # Its daemon is tried by a test of its own.
        shop.variables["BEADS_NO_DAEMON"] = "1"

    return provide


def created(shop, *words):
    """Makes an issue with `bd`; gives its id."""
    # Its warnings would be in the way of its JSON.
    output = shop.says(f"{shlex.join(['bd', 'create', *words, '--json'])} 2>/dev/null")
    return json.loads(output)["id"]


def beads_issues(shop):
    shop.says("bd init --prefix sh --quiet 2>/dev/null")
    details = ("-d", TEXT, "-l", ",".join(LABELS))
    ids = [created(shop, TITLES[0], *details)]
    ids = named([*ids, *(created(shop, title) for title in TITLES[1:])])
    ids["blocked"] = created(shop, "Orders archive")
    ids["epic"] = created(shop, "Orders", "-t", "epic")
    created(shop, "A part of it", "--parent", ids["epic"])
    shop.says(f"bd dep add {ids['blocked']} {ids['third']}")
    shop.says(f"bd update {ids['first']} --status in_progress")
    return ids


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
    unused = {"details": "", "testStrategy": "", "dependencies": [], "subtasks": []}
    tasks = [
        {"id": number, "title": title, "description": TEXT, "priority": "high", **unused}
        for number, title in enumerate(TITLES, start=1)
    ]
    for task in tasks:
        task["status"] = "in-progress" if task["id"] == 1 else "pending"
    (folder / "tasks.json").write_text(json.dumps({"master": {"tasks": tasks, "metadata": {}}}))
    return named(["1", "2", "3"])


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


def forge_issues(host, state_file, **fields):
    """Makes issues of a server, and a branch that is named by the first."""

    def set_up(shop):
        shop.says(f"git remote add origin https://{host}/shop/orders.git")
        shop.says("git switch -q -c 12-orders-report")
        numbers = zip(("12", "13", "14"), TITLES, strict=True)
        issues = {
            number: {"title": title, "labels": list(LABELS), **fields} for number, title in numbers
        }
        (shop.world.home / state_file).write_text(json.dumps(issues))
        return named(issues)

    return set_up


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

BEADS_FORMS = (
    "bd update {second} --status closed",
    "cd src && bd close {second} -r 'All is done' --json",
    "bd show {second} >/dev/null && bd close",
)

SYSTEMS = (
    System(
        label="beads 0.49.6",
        provide=beads("0.49.6"),
        forms=(*BEADS_FORMS, "bd close --force {blocked}"),
        refused=(*BEADS_REFUSED, "bd done {second}"),
        harmless=BEADS_HARMLESS[:2],
        databases=("project/.beads/beads.db*",),
        **BEADS,
    ),
    System(
        label="beads 1.0.5",
        provide=beads("1.0.5"),
        forms=(
            "bd done {second} 'All is done'",
            "echo 'close {second}' | bd batch",
            *BEADS_FORMS,
            "bd -C src close {second}",
            "bd close {blocked} {second}",
        ),
        refused=(*BEADS_REFUSED, "bd close {epic}", "bd done {second} two words"),
        harmless=BEADS_HARMLESS,
        databases=("project/.beads/embeddeddolt/*",),
        **BEADS,
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
            "backlog tasks edit -s Done {second} --plain",
            "cd src && backlog task edit {second} -s DONE",
        ),
        refused=(
            "backlog task edit {second} -s Nope",
            "backlog task complete {second}",
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
        label="taskwarrior 2.6.2",
        name="taskwarrior",
        provide=real("task", "task-2.6.2", "usr/bin/task"),
        set_up=taskwarrior_tasks,
        close="task {} done",
        reopen="task end.any: {} modify status:pending",
        several="task {},{} done",
        unknown="999",
        forms=(
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
        set_up=forge_issues("github.com", "github.json", body=TEXT, state="OPEN"),
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
        label="jira 1.7.0",
        name="jira",
        provide=jira_server,
        set_up=jira_issues,
        close="jira issue move {} Done",
        reopen="jira issue move {} 'To Do'",
        unknown="SHOP-99",
        forms=("jira issue transition {second} done -RFixed",),
        refused=("jira issue move {second} Nope",),
        harmless=("jira issue move {second} Done --help", "jira issue move {second} 'In Progress'"),
        enabled=True,
        shared_by_worktrees=True,
    ),
)
