"""What `grove doctor` makes of the facts: tables of facts and what is said of them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from grove_core.config import ConfigProblem, Origin, Source
from grove_core.flow.merge_driver import MERGED_FILES, MergeDriver, driver_command
from grove_core.health.backends import BackendFact, BackendFacts, judge_backends
from grove_core.health.blocked_plugins import BlockedPlugin
from grove_core.health.check import Status
from grove_core.health.clock_skew import Moment, judge_clock
from grove_core.health.configuration import judge_configuration
from grove_core.health.derived_numbers import CacheFacts, DecayFacts, judge_cache, judge_decay
from grove_core.health.event_logs import LineFault, LogFacts, describe_faults, judge_logs
from grove_core.health.home_directory import HomeFacts, judge_home
from grove_core.health.installation import InstallationFacts, judge_installation
from grove_core.health.installer import Installer, Package, Tool
from grove_core.health.loaded_plugins import judge_plugins, judge_unread_patterns
from grove_core.health.matchers import covers
from grove_core.health.past_faults import Fault, FaultFacts, judge_faults
from grove_core.health.program import Candidate, ProgramFacts, judge_program
from grove_core.health.project_directory import ProjectFacts, judge_project
from grove_core.health.registered_hooks import HookFacts, MatchedTools, judge_hooks
from grove_core.health.secrets import SecretFacts, SecretPlace, judge_secrets
from grove_core.health.sessions import SessionFacts, UnreadableState, judge_sessions
from grove_core.health.waiting import OutboxFacts, judge_outbox
from grove_core.hosts.claude_hooks import SLOTS, conditions_for
from grove_core.hosts.claude_settings import Registration
from grove_core.model.memory import Health
from grove_core.model.session import Session
from grove_core.model.statistics import LogFault
from grove_core.plugins.discovery import FoundPlugin
from grove_core.plugins.report import PluginEntry, PluginReport, PluginState

NOW = datetime(2030, 1, 2, 10, tzinfo=UTC)
HOME = Path("/home/you/.grove")
ROOT = Path("/src/shop")
PIP = Installer()
OK, WARNING, BROKEN = Status.OK, Status.WARNING, Status.BROKEN


def told(checks):
    """The checks by name, the worst of several with one name; each that is not ok has a mend."""
    order = list(Status)
    found = {}
    for check in checks:
        assert bool(check.mend) is (check.status is not OK), check
        found[check.name] = max(found.get(check.name, OK), check.status, key=order.index)
    return found


# --- the interpreter ----------------------------------------------------------------------------

INSTALLED = InstallationFacts(
    python=(3, 11, 0),
    executable="/usr/bin/python3",
    version="1.2.3",
    installed_version="1.2.3",
    has_script=True,
)


@pytest.mark.parametrize(
    ("change", "python", "installation"),
    [
        ({}, OK, OK),
        ({"python": (3, 14, 1)}, OK, OK),
        ({"python": (3, 10, 9)}, BROKEN, OK),
        ({"installed_version": None}, OK, BROKEN),
        ({"installed_version": "1.2.2"}, OK, WARNING),
        ({"has_script": False}, OK, BROKEN),
        ({"cache": Path("/home/you/.cache/uv")}, OK, WARNING),
    ],
)
def test_installation(change, python, installation):
    facts = evolve(INSTALLED, **change)
    assert told(judge_installation(facts)) == {"python": python, "installation": installation}


UV = Installer(
    tool=Tool.UV,
    options=("--find-links", "file:///wheels"),
    beside=(Package(name="grove-acme"), Package(name="grove-beech", folder=Path("/src/beech"))),
)


@pytest.mark.parametrize("installer", [PIP, UV, evolve(UV, tool=Tool.PIPX)])
@pytest.mark.parametrize(
    "change", [{"installed_version": None}, {"installed_version": "1.2.2"}, {"has_script": False}]
)
def test_it_is_installed_anew_by_what_installed_it_with_all_that_is_beside(change, installer):
    facts = evolve(INSTALLED, installer=installer, **change)
    mend = judge_installation(facts)[1].mend
    assert mend == f"Install grove-core anew: {installer.reinstallation()}"
    if installer is UV:
        assert mend.endswith(
            ": uv tool install --reinstall --find-links file:///wheels grove-core"
            " --with grove-acme --with-editable /src/beech"
        )


# --- programs -----------------------------------------------------------------------------------

RECORD = str(HOME / "program")
THIS = Candidate(origin=RECORD, path="/venv/bin/grove", is_this=True)
OTHER = Candidate(origin=RECORD, path="/old/bin/grove")
GONE = Candidate(origin=RECORD, path="/gone/bin/grove", complaint="does not exist")
ON_PATH = Candidate(origin="PATH", path="/venv/bin/grove", is_this=True)
OTHER_ON_PATH = Candidate(origin="PATH", path="/usr/bin/grove", complaint="is another program")
LAUNCHER = Candidate(origin="PATH", path="/p/bin/grove", complaint="is it", is_launcher=True)
VARIABLE = Candidate(origin="GROVE_PROGRAM", path="grove", complaint="is no absolute path")


@pytest.mark.parametrize(
    ("candidates", "complaint", "expected"),
    [
        ((THIS, ON_PATH), "", {}),
        ((ON_PATH,), "", {}),
        ((), "", {"program of hooks": WARNING, "program of agents": WARNING}),
        ((GONE,), "", dict.fromkeys(("program of hooks",), BROKEN)
         | dict.fromkeys(("program of agents", "recorded program"), WARNING)),
        ((GONE, ON_PATH), "", {"recorded program": WARNING}),
        ((OTHER, ON_PATH), "", {"program of hooks": WARNING}),
        ((THIS, ON_PATH), "Permission denied", {"program of hooks": BROKEN}),
        ((VARIABLE, THIS, ON_PATH), "", {"GROVE_PROGRAM": WARNING}),
        ((THIS, LAUNCHER), "", {}),
        ((LAUNCHER,), "", {"program of hooks": WARNING}),
        ((OTHER_ON_PATH, ON_PATH), "", {"program of agents": WARNING}),
        ((THIS, OTHER_ON_PATH), "", {"program of agents": WARNING}),
        ((THIS, evolve(ON_PATH, is_this=False)), "", {"program of agents": WARNING}),
    ],
)  # fmt: skip
def test_program(candidates, complaint, expected):
    facts = ProgramFacts(
        own="/venv/bin/grove",
        version="1.2.3",
        record=RECORD,
        candidates=candidates,
        chosen_version="" if complaint else "1.2.3",
        start_complaint=complaint,
    )
    found = told(judge_program(facts))
    assert {"program of hooks", "program of agents"} <= set(found)
    assert {name: status for name, status in found.items() if status is not OK} == expected


# --- plugins ------------------------------------------------------------------------------------


def entry(group, state, detail=""):
    found = FoundPlugin(group, "acme", "acme", "grove-acme", "1.0", first_party=False)
    return PluginEntry(found=found, state=state, detail=detail)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], {"memory backends": BROKEN, "ticket systems": BROKEN}),
        ([entry("grove.backends", PluginState.ACTIVE)], {"ticket systems": BROKEN}),
        ([entry("grove.tickets", PluginState.ACTIVE)], {"memory backends": BROKEN}),
        (
            [entry("grove.backends", PluginState.BLOCKED, "why"), entry("grove.tickets", PluginState.ACTIVE)],
            {"memory backends": BROKEN},
        ),
        (
            [entry("grove.plugins", PluginState.FAILED, "why")],
            {"memory backends": BROKEN, "ticket systems": BROKEN, "plugin acme": BROKEN},
        ),
        (
            [entry("grove.plugins", PluginState.SHADOWED, "why")],
            {"memory backends": BROKEN, "ticket systems": BROKEN, "plugin acme": WARNING},
        ),
    ],
)  # fmt: skip
def test_plugins(entries, expected):
    found = told(judge_plugins(PluginReport(plugins=tuple(entries), problems=()), (), PIP))
    assert {name: status for name, status in found.items() if status is not OK} == expected


@pytest.mark.parametrize("state", [PluginState.FAILED, PluginState.REFUSED])
def test_a_plugin_that_does_not_load_is_upgraded_or_removed_by_what_installed_it(state):
    def mend(installer):
        report = PluginReport(plugins=(entry("grove.plugins", state),), problems=())
        return judge_plugins(report, (), installer)[-1].mend

    assert mend(PIP) == (
        "Upgrade it: pip install --upgrade grove-acme; or remove it: pip uninstall grove-acme"
    )
    assert mend(UV) == (
        "Upgrade it: uv tool upgrade grove-core; or remove it: uv tool install"
        " --find-links file:///wheels grove-core --with-editable /src/beech"
    )
    assert mend(Installer(tool=Tool.UV)) == "Upgrade it: uv tool upgrade grove-core"
    source = Package(name="grove_acme", folder=Path("/src/acme"))
    assert mend(Installer(beside=(source,))) == (
        "Mend it in /src/acme; or remove it: pip uninstall grove_acme"
    )


def test_one_of_two_plugins_with_a_name_is_removed_by_what_installed_it():
    def mend(installer):
        report = PluginReport(plugins=(entry("grove.plugins", PluginState.SHADOWED),), problems=())
        return judge_plugins(report, (), installer)[-1].mend

    named = "name `acme@DISTRIBUTION` in the configuration"
    assert mend(PIP) == f"Remove one of the two (this one: pip uninstall grove-acme), or {named}"
    assert mend(Installer(tool=Tool.PIPX)) == f"Remove one of the two, or {named}"


def test_patterns_that_nothing_reads_are_named_with_what_would():
    assert list(judge_unread_patterns([], (), PIP)) == []
    (check,) = judge_unread_patterns(["acme", "beech"], (), UV)
    assert (check.name, check.status) == ("ticket patterns", BROKEN)
    assert "closes of acme, beech (ticketing.patterns) are not seen" in check.detail
    assert check.mend == UV.command("grove-tickets")
    (check,) = judge_unread_patterns(["acme"], (evolve(BLOCKED, group="grove.plugins"),), UV)
    assert check.detail.endswith("(acme is blocked by GROVE_PLUGINS)")
    assert check.mend == "unset it"


def test_missing_families_are_named_with_what_to_install():
    checks = judge_plugins(PluginReport(plugins=(), problems=()), (), PIP)
    assert ["grove-backend-markdown" in checks[0].mend, "grove-tickets" in checks[1].mend] == [
        True,
        True,
    ]


BLOCKED = BlockedPlugin(
    group="grove.backends",
    name="acme",
    source="grove-acme 1.0",
    by="GROVE_PLUGINS",
    mend="unset it",
)


def test_what_is_blocked_is_not_to_be_installed():
    entries = (entry("grove.backends", PluginState.BLOCKED, "why"),)
    check = judge_plugins(PluginReport(plugins=entries, problems=()), (BLOCKED,), PIP)[0]
    assert (check.detail, check.mend) == (
        "none can be used: acme is blocked by GROVE_PLUGINS",
        "unset it",
    )
    other = entry("grove.backends", PluginState.ACTIVE)
    check = judge_plugins(PluginReport(plugins=(*entries, other), problems=()), (BLOCKED,), PIP)[0]
    assert check.status is OK
    assert "acme is blocked by GROVE_PLUGINS" in check.detail


# --- hooks --------------------------------------------------------------------------------------


def registered(event, kind="local", matcher=None, program="/venv/bin/grove"):
    return Registration(
        source=ROOT / ".claude" / f"{kind}.json",
        kind=kind,
        event=event,
        matcher=matcher,
        program=program,
        arguments=("hook", "stop"),
        timeout=None,
    )


ALL = tuple(registered(slot.name) for slot in SLOTS)
HOOKS = HookFacts(
    registrations=ALL,
    complaints={},
    disabled_by=None,
    unusable=(),
    matchers=(),
    last_ran=NOW,
    own="/venv/bin/grove",
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        ({"registrations": ()}, {"hooks registered": WARNING}),
        ({"registrations": (), "last_ran": None}, {"hooks registered": BROKEN}),
        ({"registrations": ALL[:-1]}, {"hooks registered": BROKEN}),
        ({"registrations": (*ALL, registered("Stop", "plugin"))}, {"registered twice": WARNING}),
        ({"registrations": (*ALL, registered("Stop"))}, {}),
        ({"complaints": {"/venv/bin/grove": "is gone"}}, {"registered program": BROKEN}),
        ({"disabled_by": ROOT}, {"client's settings": BROKEN}),
        ({"unusable": ((ROOT, "line 1, column 2: why"),)}, {"client's settings": BROKEN}),
        ({"others": ("/other/bin/grove",)}, {"registered program": WARNING}),
    ],
)
def test_hooks(change, expected):
    found = told(judge_hooks(evolve(HOOKS, **change)))
    assert {name: status for name, status in found.items() if status is not OK} == expected


def test_what_keeps_settings_from_counting_is_mended_first():
    facts = evolve(HOOKS, registrations=(), last_ran=None, unusable=((ROOT, "why"),))
    first, second = judge_hooks(facts)
    assert (first.name, first.mend) == ("client's settings", f"Mend {ROOT}")
    assert (second.name, second.mend) == ("hooks registered", f"Mend {ROOT} first")


DEAD = "/old/bin/grove"
REMOVES = "grove init --uninstall --shared takes grove's hooks out of both"


def all_of(kind, program="/venv/bin/grove"):
    return tuple(registered(slot.name, kind, program=program) for slot in SLOTS)


@pytest.mark.parametrize(
    ("registrations", "mend"),
    [
        (all_of("local", DEAD), "grove init --hooks writes /src/shop/.claude/local.json anew"),
        (all_of("project", DEAD), "grove init --hooks --shared writes /src/shop/.claude/project.json anew"),
        (all_of("user", DEAD), f"Edit /src/shop/.claude/user.json: name /venv/bin/grove instead of {DEAD}"),
        (all_of("plugin", DEAD), "Install grove's plugin anew (/src/shop/.claude/plugin.json)"),
        (all_of("project") + all_of("local", DEAD), f"{REMOVES}; then: grove init --hooks --shared"),
        (all_of("project", DEAD) + all_of("local"), f"{REMOVES}; then: grove init --hooks"),
        (all_of("project", DEAD) + all_of("local", DEAD), f"{REMOVES}; then: grove init --hooks --shared"),
        (
            all_of("user", DEAD) + all_of("local"),
            (
                "Keep those of /src/shop/.claude/local.json: take grove's hooks out of"
                " /src/shop/.claude/user.json by hand"
            ),
        ),
        (
            all_of("plugin") + all_of("local", DEAD),
            (
                "Keep those of /src/shop/.claude/plugin.json: grove init --uninstall takes grove's hooks"
                " out of /src/shop/.claude/local.json"
            ),
        ),
        (
            all_of("user") + all_of("project", DEAD),
            (
                "Keep those of /src/shop/.claude/user.json: grove init --uninstall --shared takes grove's"
                " hooks out of /src/shop/.claude/project.json"
            ),
        ),
        (
            all_of("user", DEAD) + all_of("project", DEAD),
            (
                "Keep those of /src/shop/.claude/project.json: take grove's hooks out of"
                " /src/shop/.claude/user.json by hand; then: grove init --hooks --shared"
            ),
        ),
        (
            all_of("plugin", DEAD) + all_of("user"),
            (
                "Keep those of /src/shop/.claude/user.json: uninstall grove's plugin"
                " (/src/shop/.claude/plugin.json)"
            ),
        ),
    ],
)  # fmt: skip
def test_the_mend_of_a_dead_program_really_mends(registrations, mend):
    facts = evolve(HOOKS, registrations=registrations, complaints={DEAD: "is gone"})
    (check,) = [one for one in judge_hooks(facts) if one.name == "registered program"]
    assert mend in check.mend
    twice = [one.mend for one in judge_hooks(facts) if one.name == "registered twice"]
    assert twice == ([check.mend] if len({one.kind for one in registrations}) > 1 else [])


CLOSERS = (
    MatchedTools(system="beads", tools=("Bash",), words=("bd",), takes_part=False),
    MatchedTools(system="tissue", tools=("Bash",), words=("tissue",), takes_part=True),
)


SHELLS = ("Bash(*bash*)", "Bash(sh *)")


def closer(system, *words):
    return MatchedTools(system=system, tools=("Bash",), words=words, takes_part=True)


@pytest.mark.parametrize(
    ("conditions", "matchers", "status"),
    [
        ((None,), CLOSERS, None),
        (("Bash(*tissue*)", "Bash(*sh*)"), CLOSERS, None),
        (("Bash(*tissue*)", "Bash(*bd*)", "Bash(*sh*)"), CLOSERS, OK),
        (("Bash(*bd*)", "Bash(*sh*)"), CLOSERS[:1], WARNING),
        (("Bash(*gone*)", "Bash(*sh*)"), (), WARNING),
        (("Bash(*bd*)", "Bash(*sh*)"), CLOSERS, BROKEN),
        (("Bash(*tissue*)", *SHELLS), CLOSERS, None),
        (("Bash(*bd*)", *SHELLS), CLOSERS, BROKEN),
        (("Bash(*bd*)", *SHELLS), CLOSERS[:1], WARNING),
        (("Bash(*tissue*)", "Bash(*bd*)", *SHELLS), CLOSERS, OK),
        # The conditions for shells are no ticket system's.
        (SHELLS, CLOSERS, BROKEN),
        (SHELLS, (), None),
        # A word that stands in a longer one lets that in, and not the other way round.
        (("Bash(*bd*)", *SHELLS), (closer("acme", "bd-tool"),), None),
        (("Bash(*bd-tool*)", *SHELLS), (closer("beads", "bd"),), BROKEN),
        (("Bash(*bd*)", *SHELLS), (closer("acme", "bd-tool"), closer("beads", "bd")), None),
        # Of several words one is enough.
        (("Bash(*bug*)", *SHELLS), (closer("gitbug", "git-bug", "bug status"),), None),
        (("Bash(*status*)", *SHELLS), (closer("gitbug", "bug status"),), None),
        (("Bash(*show*)", *SHELLS), (closer("gitbug", "bug status"),), BROKEN),
        # A second matcher of a system looks at other tools.
        (
            ("Bash(*tissue*)", *SHELLS),
            (*CLOSERS, MatchedTools(system="x", tools=("mcp__*",), words=("id",), takes_part=True)),
            None,
        ),
        # Conditions of a person's own.
        (("Bash(bd *)",), (closer("beads", "bd"),), None),
        (("Bash(bd close *)",), (closer("beads", "bd"),), BROKEN),
        (("Bash(*)",), CLOSERS, None),
        (("Bash",), CLOSERS, None),
        # Teams' scripts.
        (("Bash(*bash*)", "Bash(sh *)"), (closer("acme", "bash"),), None),
        (("Bash(*bd*)", "Bash(*sh*)"), (closer("acme", "push"), closer("beads", "bd")), None),
    ],
)
def test_conditions_of_hooks(conditions, matchers, status):
    assert told(judge_hooks(narrowed_to(conditions, matchers))).get("conditions of hooks") is status


def test_a_system_with_several_matchers_is_named_once():
    matchers = (closer("beads", "bd"), closer("beads", "make"), closer("acme", "acme"))
    facts = narrowed_to(("Bash(*tissue*)", *SHELLS), matchers)
    (check,) = [one for one in judge_hooks(facts) if one.name == "conditions of hooks"]
    assert "closes of beads, acme are not seen" in check.detail
    assert check.detail.endswith("narrowed to Bash(*tissue*), Bash(*bash*), Bash(sh *)")


def narrowed_to(conditions, matchers):
    shell = tuple(
        evolve(registered("PreToolUse", matcher="Bash"), condition=one) for one in conditions
    )
    others = tuple(one for one in ALL if one.event != "PreToolUse")
    return evolve(HOOKS, registrations=shell + others, matchers=matchers)


LITERALS = st.lists(
    st.lists(
        st.sampled_from(["bd", "bd-tool", "git-bug", "bug", "sh", "bash", "push"]),
        min_size=1,
        max_size=2,
    ).map(" ".join),
    min_size=1,
    max_size=4,
)


@given(LITERALS)
def test_what_init_writes_is_right(literals):
    matchers = tuple(closer(f"system-{place}", one) for place, one in enumerate(literals))
    conditions = conditions_for(literals) or (None,)
    assert told(judge_hooks(narrowed_to(conditions, matchers))).get("conditions of hooks") is None


@pytest.mark.parametrize("event", [slot.name for slot in SLOTS])
def test_each_of_the_eight_events_is_missed(event):
    facts = evolve(HOOKS, registrations=tuple(one for one in ALL if one.event != event))
    (check,) = [one for one in judge_hooks(facts) if one.status is BROKEN]
    assert check.name == "hooks registered"
    assert f" {event} " in check.detail


@pytest.mark.parametrize(
    ("matcher", "tool", "expected"),
    [
        (None, "Bash", True),
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Ba", "Bash", False),
        ("bash", "Bash", False),
        ("Edit|Bash", "Bash", True),
        ("Edit, Bash", "Bash", True),
        ("Edit|Write", "Bash", False),
        ("^Ba", "Bash", True),
        ("Ba.*", "Bash", True),
        # No list, as a regular expression has been asked for: `Bash,` stands nowhere.
        ("Bash, TaskUpdate|mcp__.*", "Bash", False),
        ("Bash(bd close *)", "Bash", False),
        ("(", "Bash", False),
        ("mcp__.*", "mcp__*", True),
        ("mcp__beads__.*", "mcp__*", False),
        ("mcp__.*", "mcp__beads__*", True),
    ],
)
def test_matchers(matcher, tool, expected):
    assert covers(matcher, tool) is expected


# --- sessions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age", "status", "words"),
    [
        (None, WARNING, "no hook has run"),
        (timedelta(minutes=1), OK, "in session monday"),
        (timedelta(days=8), OK, "nothing since, for 8 days"),
        (timedelta(days=30), OK, "nothing since, for 30 days"),
        (timedelta(days=31), WARNING, "nothing since, for 31 days"),
        (timedelta(days=95), WARNING, "nothing since, for 95 days"),
    ],
)
def test_hooks_running(age, status, words):
    here = () if age is None else (session_of(NOW - age),)
    check = judge_sessions(SessionFacts(here=here), NOW)[0]
    assert (check.name, check.status) == ("hooks running", status)
    assert words in check.detail


def session_of(moment):
    return Session(
        id="monday",
        host="claude-code",
        cwd=str(ROOT),
        project_root=str(ROOT),
        created_at=moment,
        updated_at=moment,
    )


@pytest.mark.parametrize(
    ("age", "is_plain", "mend"),
    [
        (
            timedelta(hours=1),
            True,
            (
                "If it goes on, its next hook sets it aside; if it is over, grove clean --orphans deletes"
                " it 24 hours after it was written, from 2030-01-03T09:00:00Z on"
            ),
        ),
        (timedelta(hours=25), True, "grove clean --orphans deletes it"),
        (timedelta(hours=25), False, "Look at /src/shop/monday.json and move it away"),
    ],
)
def test_unreadable_state(age, is_plain, mend):
    state = UnreadableState(
        path=ROOT / "monday.json", fault="torn", written_at=NOW - age, is_plain=is_plain
    )
    check = judge_sessions(SessionFacts(here=(), unreadable=(state,)), NOW)[1]
    assert (check.status, check.detail) == (WARNING, "/src/shop/monday.json: torn")
    assert check.mend.startswith(mend)


# --- directories --------------------------------------------------------------------------------

GOOD_HOME = HomeFacts(
    path=HOME,
    exists=True,
    is_directory=True,
    unwritable=(),
    nearest=HOME,
    can_be_made=True,
    is_own=True,
    others_may_write=False,
    free_bytes=10**12,
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        ({"exists": False, "is_directory": False}, {}),
        ({"exists": False, "can_be_made": False}, {"grove's own directory": BROKEN}),
        ({"is_directory": False}, {"grove's own directory": BROKEN}),
        ({"unwritable": (HOME / "sessions",)}, {"grove's own directory": BROKEN}),
        ({"is_own": False}, {"permissions": WARNING}),
        ({"others_may_write": True}, {"permissions": BROKEN}),
        ({"free_bytes": None}, {"free space": WARNING}),
        ({"free_bytes": 50 * 2**20}, {"free space": WARNING}),
        ({"free_bytes": 2**19}, {"free space": BROKEN}),
    ],
)
def test_home(change, expected):
    found = told(judge_home(evolve(GOOD_HOME, **change)))
    assert {name: status for name, status in found.items() if status is not OK} == expected


ALL_PATTERNS = frozenset(line.split()[0] for line in MERGED_FILES)
GOOD_PROJECT = ProjectFacts(
    root=ROOT,
    directory=ROOT / ".grove",
    exists=True,
    attributes="# ours\n" + "\n".join(MERGED_FILES),
    in_git=True,
    driver=MergeDriver(top=ROOT, registered=driver_command("/venv/bin/grove")),
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        ({"in_git": False, "driver": None}, {}),
        ({"driver": MergeDriver(top=ROOT, registered=None)}, {"merge driver": WARNING}),
        ({"driver": MergeDriver(top=ROOT, registered="mine")}, {"merge driver": WARNING}),
        (
            {"driver": MergeDriver(top=ROOT, registered="grove merge-driver %O %A %B %P")},
            {"merge driver": WARNING},
        ),
        ({"attributes": None, "attributes_in_force": ALL_PATTERNS}, {}),
        ({"exists": False}, {"project": WARNING}),
        ({"leads_to": Path("/elsewhere")}, {"project": BROKEN}),
        ({"unwritable": (ROOT / ".grove",)}, {"project": BROKEN}),
        ({"attributes": None}, {"git attributes": WARNING}),
        ({"attributes": "other.log merge=union\n"}, {"git attributes": WARNING}),
        ({"ignored": (ROOT / ".grove" / "learnings.md",)}, {"git": WARNING}),
    ],
)
def test_project(change, expected):
    found = told(judge_project(evolve(GOOD_PROJECT, **change)))
    assert {name: status for name, status in found.items() if status is not OK} == expected


def test_the_mend_of_what_cannot_be_written_is_a_command_that_works():
    unwritable = (Path("/a shop/.grove"), Path("/a shop/.grove/learnings.md"))
    facts = evolve(GOOD_PROJECT, unwritable=unwritable)
    mend = "chmod u+w '/a shop/.grove' '/a shop/.grove/learnings.md'"
    assert judge_project(facts)[0].mend == mend
    assert "mounted read-only" in judge_project(evolve(facts, read_only=True))[0].mend


# --- memory -------------------------------------------------------------------------------------


def backend(role, *, works=True):
    return BackendFact(name="acme", role=role, health=Health(ok=works, detail="seven shelves"))


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ((backend("primary"), backend("personal")), {}),
        ((), {"primary backend": BROKEN}),
        ((backend("personal"),), {"primary backend": BROKEN}),
        ((backend("primary"),), {"personal backend": WARNING}),
        ((backend("primary", works=False), backend("personal")), {"primary backend": BROKEN}),
        ((backend("primary"), backend("personal", works=False)), {"personal backend": BROKEN}),
        (
            (backend("primary"), backend("searched", works=False), backend("personal")),
            {"further backend": WARNING},
        ),
    ],
)
def test_backends(used, expected):
    unused = (("mcp", "no server"),)
    facts = BackendFacts(used=used, unused=unused, personal="markdown", blocked=())
    found = told(judge_backends(facts))
    assert {name: status for name, status in found.items() if status is not OK} == expected


LOG = ROOT / "stats.log"


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"count": 7}, OK, f"{LOG}, events: 7"),
        ({"complaint": "cannot read it"}, BROKEN, "cannot read it"),
        (
            {"faults": {LineFault.MARKER: [3]}},
            WARNING,
            f"{LOG}:3: 1 marker of a merge conflict, which does not count",
        ),
        (
            {"faults": {LineFault.MARKER: [3, 5, 7]}},
            WARNING,
            f"{LOG}:3, 5, 7: 3 markers of a merge conflict, which do not count",
        ),
        (
            {"faults": {LineFault.UNREADABLE: list(range(1, 13))}},
            WARNING,
            "9, 10 and 2 more: 12 lines that are no events",
        ),
        ({"faults": {LineFault.TORN: [9]}}, WARNING, f"{LOG}:9: 1 last line that was not written"),
        ({"faults": {LineFault.NEWER: [2]}}, WARNING, f"{LOG}:2: 1 line in a newer version"),
        ({"faults": {LineFault.UNKNOWN: [2]}}, WARNING, f"{LOG}:2: 1 event that only a newer"),
    ],
)
def test_event_logs(change, status, words):
    (check,) = judge_logs("event log", [LogFacts(name="event log", path=LOG, **change)])
    assert check.status is status
    assert words in check.detail


def test_a_log_of_many_files_is_told_in_one_line_and_its_faults_by_file():
    logs = [LogFacts(name="event log", path=ROOT / f"{name}.jsonl", count=3) for name in "abc"]
    (check,) = judge_logs("event log", logs)
    assert (check.status, check.detail) == (OK, "files: 3, events: 9")
    logs[1] = evolve(logs[1], faults={LineFault.TORN: [4], LineFault.MARKER: [1, 2]})
    checks = judge_logs("event log", logs)
    assert [check.detail.partition(":")[0] for check in checks] == [str(ROOT / "b.jsonl")] * 2
    assert judge_logs("event log", [])[0].status is OK


def test_faults_of_logs_in_few_words():
    faults = [
        LogFault("a.log", unreadable=tuple(range(1, 101)), unreadable_count=300),
        LogFault("b.log", unreadable=(4,), unreadable_count=1, unknown=1),
        LogFault("c.log"),
    ]
    one, two, three = describe_faults(faults)
    assert one.startswith("a.log:1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 290 more cannot be read")
    assert two.startswith("b.log:4 cannot be read")
    assert three == "b.log: 1 event is of a newer grove"


SECRET = SecretPlace(
    path=LOG,
    line=3,
    kind="GitHub token",
    masked="ghp_*** (40 characters)",
    digest="0123456789abcdef",
)


def test_secrets():
    assert told(judge_secrets(SecretFacts(places=(), files=3))) == {"secrets": OK}
    (check,) = judge_secrets(SecretFacts(places=(SECRET,)))
    assert check.status is BROKEN
    assert check.detail == f"{LOG}:3: GitHub token ghp_*** (40 characters)"
    assert '"0123456789abcdef" to secrets.allow' in check.mend
    checks = judge_secrets(SecretFacts(places=(SECRET,) * 23, unreadable=(ROOT,)))
    assert [check.status for check in checks] == [BROKEN] * 21 + [WARNING]
    assert checks[20].detail == "and 3 more"
    (check,) = judge_secrets(SecretFacts(places=(), unfinished=f"{LOG}:7"))
    assert check.status is WARNING
    assert f"{LOG}:7" in check.detail


@pytest.mark.parametrize(
    ("exists", "fault", "status"), [(False, "", OK), (True, "", OK), (True, "no database", WARNING)]
)
def test_statistics_cache(exists, fault, status):
    facts = CacheFacts(path=ROOT / "stats.sqlite", exists=exists, fault=fault)
    (check,) = judge_cache(facts)
    assert check.status is status
    assert fault in check.detail


@pytest.mark.parametrize(
    ("last", "ran", "status"),
    [
        (None, None, OK),
        (None, 0, OK),
        (0, 0, OK),
        (7, 0, OK),
        (7.1, 0, WARNING),
        (7.1, 6, OK),
        (400, None, OK),
    ],
)
def test_decay(last, ran, status):
    moments = [None if days is None else NOW - timedelta(days=days) for days in (last, ran)]
    facts = DecayFacts(last=moments[0], days=90, ran=moments[1])
    (check,) = judge_decay(facts)
    assert check.status is status
    assert "after 90 days" in check.detail
    assert judge_decay(evolve(facts, has_learnings=False))[0].status is OK


@pytest.mark.parametrize(
    ("here", "elsewhere", "unreadable", "status"),
    [(0, 0, (), OK), (0, 3, (), OK), (1, 0, (), WARNING), (1, 0, (ROOT,), BROKEN), (0, 0, (ROOT,), BROKEN)],
)  # fmt: skip
def test_outbox(here, elsewhere, unreadable, status):
    facts = OutboxFacts(here=here, elsewhere=elsewhere, unreadable=unreadable)
    assert told(judge_outbox(facts)) == {"outbox": status}


# --- configuration, clock, logs -----------------------------------------------------------------


def test_configuration():
    file = Origin(source=Source.PROJECT, file=ROOT / ".grove" / "config.toml")
    variable = Origin(source=Source.ENVIRONMENT, variable="GROVE_X_Y")
    whole = ConfigProblem(key="", origin=file, message="is not valid TOML")
    key = ConfigProblem(key="gate.session", origin=file, message="must be one of …")
    odd = ConfigProblem(key="", origin=variable, message="is unknown")
    assert told(judge_configuration([], [])) == {"configuration": OK}
    assert told(judge_configuration([key], [])) == {"configuration": WARNING}
    assert told(judge_configuration([odd], [])) == {"configuration": WARNING}
    assert told(judge_configuration([], ["[tickets.acme] x is unknown"])) == {
        "configuration": WARNING
    }
    assert told(judge_configuration([key, whole], [])) == {"configuration": BROKEN}
    assert len(judge_configuration([key], ["again", "again"])) == 2


@pytest.mark.parametrize(
    ("ahead", "status"),
    [
        (None, OK),
        (timedelta(days=-400), OK),
        (timedelta(minutes=5), OK),
        (timedelta(minutes=5, seconds=1), WARNING),
        (timedelta(days=9_000), WARNING),
    ],
)
def test_clock(ahead, status):
    moments = [] if ahead is None else [Moment(what="session monday", at=NOW + ahead)]
    (check,) = judge_clock(NOW, [*moments, Moment(what="a file", at=NOW - timedelta(days=1))])
    assert check.status is status
    assert ("session monday" in check.detail) is (status is WARNING)


@pytest.mark.parametrize(
    ("crash_age", "error_age", "expected"),
    [
        (None, None, {}),
        (timedelta(days=6), None, {"crashes": WARNING}),
        (timedelta(days=8), None, {}),
        (None, timedelta(hours=23), {"errors": WARNING}),
        (None, timedelta(hours=25), {}),
    ],
)
def test_past_faults(crash_age, error_age, expected):
    crashes = [] if crash_age is None else [Fault(at=NOW - crash_age, text="stop: error=OSError")]
    errors = [] if error_age is None else [Fault(at=NOW - error_age, text="events were lost")]
    facts = FaultFacts(
        crash_log=HOME / "crash.log",
        crashes=tuple(crashes),
        log_file=HOME / "grove.log",
        errors=tuple(errors),
    )
    checks = judge_faults(facts, NOW)
    assert {name: status for name, status in told(checks).items() if status is not OK} == expected
    if expected.get("errors"):
        assert "of all projects: 1" in checks[1].detail
        assert "goes away a day after the last one, at 2030-01-02T11:00:00Z" in checks[1].mend
    if crashes:
        assert "stop: error=OSError" in checks[0].detail
