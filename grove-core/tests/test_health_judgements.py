"""What `grove doctor` makes of the facts: one table of facts and what is said of them."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from grove_core.config import ConfigProblem, Origin, Source
from grove_core.health.backends import BackendFact, BackendFacts, judge_backends
from grove_core.health.check import Status
from grove_core.health.clock_skew import Moment, judge_clock
from grove_core.health.configuration import judge_configuration
from grove_core.health.derived_numbers import CacheFacts, DecayFacts, judge_cache, judge_decay
from grove_core.health.event_logs import LineFault, LogFacts, judge_logs
from grove_core.health.home_directory import HomeFacts, judge_home
from grove_core.health.installation import InstallationFacts, judge_installation
from grove_core.health.installer import Installer
from grove_core.health.loaded_plugins import judge_plugins
from grove_core.health.past_faults import Fault, FaultFacts, judge_faults
from grove_core.health.program import Candidate, ProgramFacts, judge_program
from grove_core.health.project_directory import ProjectFacts, judge_project
from grove_core.health.registered_hooks import HookFacts, MatchedTools, judge_hooks
from grove_core.health.secrets import SecretFacts, SecretPlace, judge_secrets
from grove_core.health.sessions import SessionFacts, judge_sessions
from grove_core.health.waiting import OutboxFacts, judge_outbox
from grove_core.hosts.claude_hooks import SLOTS
from grove_core.hosts.claude_settings import Registration
from grove_core.model.memory import Health
from grove_core.model.session import Session
from grove_core.plugins.discovery import FoundPlugin
from grove_core.plugins.report import PluginEntry, PluginReport, PluginState

NOW = datetime(2030, 1, 2, 10, tzinfo=UTC)
HOME = Path("/home/you/.grove")
ROOT = Path("/src/shop")
LOG = ROOT / "stats.log"
OK, WARNING, BROKEN = Status.OK, Status.WARNING, Status.BROKEN


def days(number):
    return timedelta(days=number)


def faults_of(checks):
    """What is not well by name, the worst of several with one name; each of these has a mend."""
    order = list(Status)
    found = {}
    for check in checks:
        assert bool(check.mend) is (check.status is not OK), check
        found[check.name] = max(found.get(check.name, OK), check.status, key=order.index)
    assert found
    return "; ".join(
        f"{name}: {found[name].value}" for name in sorted(found) if found[name] is not OK
    )


def installed(**change):
    usual = {"python": (3, 11, 0), "version": "1.2", "installed_version": "1.2", "has_script": True}
    return judge_installation(InstallationFacts(executable="/bin/python3", **usual | change))


RECORD = str(HOME / "program")
THIS = Candidate(origin=RECORD, path="/venv/bin/grove", is_this=True)
GONE = Candidate(origin=RECORD, path="/gone/bin/grove", complaint="does not exist")
ON_PATH = Candidate(origin="PATH", path="/venv/bin/grove", is_this=True)
OTHER_ON_PATH = Candidate(origin="PATH", path="/usr/bin/grove", complaint="is another program")


def program(*candidates, complaint=""):
    version = "" if complaint else "1.2"
    chosen = {"chosen_version": version, "start_complaint": complaint, "candidates": candidates}
    return judge_program(ProgramFacts(own=THIS.path, version="1.2", record=RECORD, **chosen))


def plugins(*entries):
    """Judges plugins that are given as pairs of a group and a state."""
    made = [
        PluginEntry(
            found=FoundPlugin(group, "acme", "acme", "grove-acme", "1.0", first_party=False),
            state=state,
            detail="" if state is PluginState.ACTIVE else "why",
        )
        for group, state in entries
    ]
    return judge_plugins(PluginReport(plugins=tuple(made), problems=()), (), Installer())


A_BACKEND = ("grove.backends", PluginState.ACTIVE)
TICKETS = ("grove.tickets", PluginState.ACTIVE)


def registered(event, kind="local", **fields):
    usual = {
        "source": ROOT / ".claude" / f"{kind}.json",
        "matcher": None,
        "program": "/venv/bin/grove",
        "arguments": ("hook", "stop"),
        "timeout": None,
    }
    return Registration(kind=kind, event=event, **usual | fields)


ALL = tuple(registered(slot.name) for slot in SLOTS)


def hooks(**change):
    usual = {
        "registrations": ALL,
        "complaints": {},
        "disabled_by": None,
        "unusable": (),
        "matchers": (),
        "last_ran": NOW,
        "own": "/venv/bin/grove",
    }
    return judge_hooks(HookFacts(**{**usual, **change}))


def sessions(*ages):
    """Judges sessions that ran a hook so long ago."""
    here = (
        Session(
            id="monday",
            host="claude-code",
            cwd=str(ROOT),
            project_root=str(ROOT),
            created_at=NOW,
            updated_at=NOW - age,
        )
        for age in ages
    )
    return judge_sessions(SessionFacts(here=tuple(here)), NOW)


def home(**change):
    usual = {
        "path": HOME,
        "exists": True,
        "is_directory": True,
        "unwritable": (),
        "nearest": HOME,
        "can_be_made": True,
        "is_own": True,
        "others_may_write": False,
        "free_bytes": 10**12,
    }
    return judge_home(HomeFacts(**usual | change))


def project(**change):
    usual = {
        "root": ROOT,
        "directory": ROOT / ".grove",
        "exists": True,
        "in_git": True,
    }
    return judge_project(ProjectFacts(**{**usual, **change}))


def backends(*roles, broken=""):
    health = {role: Health(ok=role != broken, detail="shelves") for role in roles}
    used = tuple(BackendFact(name="acme", role=role, health=health[role]) for role in roles)
    return judge_backends(BackendFacts(used=used, unused=(), personal="markdown", blocked=()))


def log(**facts):
    return judge_logs("event log", [LogFacts(name="event log", path=LOG, **facts)])


SECRET = SecretPlace(
    path=LOG, line=3, kind="GitHub token", masked="ghp_*** (40 characters)", digest="01234567"
)


def cache(fault):
    return judge_cache(CacheFacts(path=ROOT / "stats.sqlite", exists=True, fault=fault))


def decay(last, ran, **fields):
    moments = [None if age is None else NOW - days(age) for age in (last, ran)]
    return judge_decay(DecayFacts(last=moments[0], days=90, ran=moments[1], **fields))


def clock(*ahead):
    moments = [Moment(what="session monday", at=NOW + one) for one in ahead]
    return judge_clock(NOW, [*moments, Moment(what="a file", at=NOW - days(1))])


def past(crash=None):
    crashes = () if crash is None else (Fault(at=NOW - crash, text="stop: OSError"),)
    log, crash_log = HOME / "grove.log", HOME / "crash.log"
    return judge_faults(
        FaultFacts(crash_log=crash_log, crashes=crashes, log_file=log, errors=()), NOW
    )


IN_FILE = Origin(source=Source.PROJECT, file=ROOT / ".grove" / "config.toml")
A_KEY = ConfigProblem(key="gate.session", origin=IN_FILE, message="must be one of …")
NO_TOML = ConfigProblem(key="", origin=IN_FILE, message="is not valid TOML")

TABLE = [
    (partial(installed), ""),
    (partial(installed, python=(3, 10, 9)), "python: broken"),
    (partial(installed, installed_version=None), "installation: broken"),
    (partial(installed, cache=Path("/c/uv")), "installation: warning"),
    (partial(program, THIS, ON_PATH), ""),
    (partial(program, GONE, ON_PATH), "recorded program: warning"),
    (partial(program, THIS, ON_PATH, complaint="Permission denied"), "program of hooks: broken"),
    (partial(program, THIS, OTHER_ON_PATH), "program of agents: warning"),
    (partial(plugins, A_BACKEND, TICKETS), ""),
    (
        partial(plugins, ("grove.plugins", PluginState.FAILED)),
        "memory backends: broken; plugin acme: broken; ticket systems: broken",
    ),
    (partial(hooks), ""),
    (partial(hooks, registrations=(), last_ran=None), "hooks registered: broken"),
    (partial(hooks, registrations=ALL[:-1]), "hooks registered: broken"),
    (
        partial(hooks, registrations=(*ALL, registered("Stop", "plugin"))),
        "registered twice: warning",
    ),
    (partial(hooks, complaints={"/venv/bin/grove": "is gone"}), "registered program: broken"),
    (partial(hooks, disabled_by=ROOT), "client's settings: broken"),
    (partial(sessions), "hooks running: warning"),
    (partial(sessions, days(30)), ""),
    (partial(sessions, days(31)), "hooks running: warning"),
    (partial(home), ""),
    (partial(home, exists=False, can_be_made=False), "grove's own directory: broken"),
    (partial(home, unwritable=(HOME / "sessions",)), "grove's own directory: broken"),
    (partial(home, others_may_write=True), "permissions: broken"),
    (partial(home, free_bytes=2**19), "free space: broken"),
    (partial(project), ""),
    (partial(project, old_driver=True), "merge driver: warning"),
    (partial(project, exists=False), "project: warning"),
    (partial(project, leads_to=Path("/elsewhere")), "project: broken"),
    (partial(project, unwritable=(ROOT / ".grove",)), "project: broken"),
    (partial(backends, "primary", "personal"), ""),
    (partial(backends, "personal"), "primary backend: broken"),
    (partial(backends, "primary", "personal", broken="primary"), "primary backend: broken"),
    (partial(log, faults={LineFault.TORN: [9]}), "event log: warning"),
    (partial(judge_secrets, SecretFacts(places=(), files=3)), ""),
    (partial(judge_secrets, SecretFacts(places=(SECRET,))), "secrets: broken"),
    (partial(judge_secrets, SecretFacts(places=(), unfinished="a:7")), "secrets: warning"),
    (partial(cache, "no database"), "statistics cache: warning"),
    (partial(decay, 7.1, 0), "decay: warning"),
    (partial(judge_outbox, OutboxFacts(here=1, elsewhere=0, unreadable=())), "outbox: warning"),
    (partial(judge_configuration, [A_KEY], []), "configuration: warning"),
    (partial(judge_configuration, [A_KEY, NO_TOML], []), "configuration: broken"),
    (partial(clock, timedelta(minutes=5, seconds=1)), "clock: warning"),
    (partial(past, crash=days(6)), "crashes: warning"),
    (partial(past, crash=days(8)), ""),
]


@pytest.mark.parametrize(("judge", "faults"), TABLE)
def test_what_facts_are_said_to_be(judge, faults):
    assert faults_of(judge()) == faults


SHELLS = ("Bash(*bash*)", "Bash(sh *)")


def closer(system, *words, takes_part=True):
    return MatchedTools(system=system, tools=("Bash",), words=words, takes_part=takes_part)


BEADS = closer("beads", "bd", takes_part=False)
CLOSERS = (BEADS, closer("tissue", "tissue"))


@pytest.mark.parametrize(
    ("conditions", "matchers", "status"),
    [
        ((None,), CLOSERS, None),
        (("Bash(*bd*)", *SHELLS), CLOSERS, BROKEN),
        (("Bash(*bd*)", *SHELLS), (BEADS,), WARNING),
        (("Bash(*bd*)", *SHELLS), (closer("acme", "bd-tool"),), None),
        (("Bash(bd close *)",), (closer("beads", "bd"),), BROKEN),
    ],
)
def test_conditions_of_hooks(conditions, matchers, status):
    shell = tuple(
        registered("PreToolUse", matcher="Bash", condition=condition) for condition in conditions
    )
    others = tuple(one for one in ALL if one.event != "PreToolUse")
    checks = hooks(registrations=shell + others, matchers=matchers)
    told = [one.status for one in checks if one.name == "conditions of hooks"]
    assert told == ([] if status is None else [status])
