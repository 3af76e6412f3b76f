"""Decay on a year of simulated use, through real files: every learning goes when the rule says.

The clock is passed in. Each day some learnings are shown, used, superseded or restored, and decay
runs at noon. A naive second opinion, which shares no code with grove, says from the list of what
happened which learnings have to go on which day.
"""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest
from scale import turned_up

from grove_core.flow.curation import Outcome, restore, supersede
from grove_core.flow.decaying import decay
from grove_core.model.events import Dismissed, Referenced, Surfaced
from grove_core.model.learning import Category, Criterion, Learning, Scope
from grove_core.workspace import Workspace

START = datetime(2030, 1, 1, tzinfo=UTC)
DAYS = turned_up(250, 366)
LEARNINGS = turned_up(56, 200)
PASSIVE, PERSONAL_PASSIVE, IMMUNITY = 60, 90, 0.75
NOON = timedelta(hours=12)


def day(number):
    return START + timedelta(days=number)


# --- what becomes of each learning --------------------------------------------------------------
# A profile gives, for a learning written on some day, what happens to it: (day, "shown") or
# (day, "used"), or what a person does: (day, "restored"), (day, "superseded").


def never_shown(born, dice):
    return []


def shown_now_and_then(born, dice):
    return [(each, "shown") for each in range(born + 5, DAYS, dice.randint(20, 55))]


def used_every_other_time(born, dice):
    until = min(DAYS, born + dice.randint(40, 200))
    shown = list(range(born + 3, until, 9))
    return [(each, "shown") for each in shown] + [(each, "used") for each in shown[::2]]


def used_at_the_border_of_immunity(born, dice):
    """Three of four are just enough; a fifth showing that was not used ends it."""
    shown = [born + 4 * number for number in range(1, 5)]
    events = [(each, "shown") for each in shown] + [(each, "used") for each in shown[:3]]
    return events + ([(born + 40, "shown")] if dice.random() < 0.5 else [])


def used_twice_and_never_again(born, dice):
    return [(born + each, what) for each in (5, 9) for what in ("shown", "used")]


def restored_once(born, dice):
    return [(born + dice.randint(65, 130), "restored")]


def superseded_one_day(born, dice):
    return [(born + dice.randint(10, 100), "superseded")]


def anything(born, dice):
    whats = ["shown", "shown", "shown", "used", "restored"]
    days = (dice.randrange(born, DAYS) for _ in range(dice.randint(1, 25)))
    return [(each, dice.choice(whats)) for each in days]


PROFILES = [
    never_shown,
    shown_now_and_then,
    used_every_other_time,
    used_at_the_border_of_immunity,
    used_twice_and_never_again,
    restored_once,
    superseded_one_day,
    anything,
]


# --- the second opinion -------------------------------------------------------------------------


class Second:
    """What a person with a list of events and a calendar would say of one learning."""

    def __init__(self, created, passive):
        self.created = created
        self.passive = passive
        self.status = "active"
        self.shown, self.used, self.restored = [], [], []
        self.archived_on = []

    def verified(self):
        moments = [(self.created, "written")]
        moments += [(each, "restored") for each in self.restored]
        moments += [(each, "used") for each in self.used]
        if len(self.shown) < 5 or self.used:
            moments += [(each, "shown") for each in self.shown]
        return max(moments, key=lambda one: one[0])

    def is_immune(self):
        return len(self.shown) >= 3 and len(self.used) / len(self.shown) >= IMMUNITY

    def is_due(self, now):
        overdue = now > self.verified()[0] + timedelta(days=self.passive)
        return self.status == "active" and overdue and not self.is_immune()


# --- the year -----------------------------------------------------------------------------------


class Year:
    """A project whose days go by."""

    def __init__(self, folder):
        self.root = folder / "project"
        self.home = folder / "home"
        (self.root / ".grove").mkdir(parents=True)
        self.home.mkdir()
        (self.root / ".grove" / "config.toml").write_text(
            f"[decay]\npassive_duration_days = {PASSIVE}\nimmunity_hit_rate = {IMMUNITY}\n"
        )
        # The project's file decides nothing about learnings that all projects share.
        (self.home / "config.toml").write_text(f"[decay]\nimmunity_hit_rate = {IMMUNITY}\n")
        self.dice = random.Random(20300101)
        self.plans = defaultdict(list)
        self.seconds = {}
        self.personal = set()
        for number in range(LEARNINGS):
            self.plan(number)

    def workspace(self, now):
        return Workspace(self.root, {"HOME": "/nowhere", "GROVE_HOME": str(self.home)}, now)

    def plan(self, number):
        profile = PROFILES[number % len(PROFILES)]
        born = self.dice.randrange(DAYS * 2 // 3)
        learning_id = f"cl_{day(born):%Y%m%d}_{number:06d}"
        if number % 7 == 0:
            self.personal.add(learning_id)
        self.plans[born].append((learning_id, "written", profile.__name__))
        for when, what in profile(born, self.dice):
            if when < DAYS:
                self.plans[when].append((learning_id, what, profile.__name__))

    def live(self, number):
        """One day: what happens in the morning, decay at noon; gives what had to go and went."""
        morning = day(number) + timedelta(hours=8)
        events = {False: [], True: []}
        workspace = self.workspace(morning)
        for position, (learning_id, what, profile) in enumerate(self.plans[number]):
            now = morning + timedelta(minutes=position)
            personal = learning_id in self.personal
            session = f"session-{number}-{position}"
            if what == "written":
                self.write(workspace, learning_id, profile, now)
                continue
            if self.seconds[learning_id].status != "active" and what in ("shown", "used"):
                continue  # what is out of sight is not shown
            if what == "shown":
                self.seconds[learning_id].shown.append(now)
                fields = {"ts": now, "learning_id": learning_id, "session_id": session}
                events[personal] += [Surfaced(**fields, score=0.5), Dismissed(**fields)]
            elif what == "used":
                self.seconds[learning_id].used.append(now)
                used = Referenced(ts=now, learning_id=learning_id, session_id=session)
                events[personal].append(used)
            else:
                self.curate(learning_id, what, now)
        for personal, some in events.items():
            workspace.log_events(some, personal=personal)
        noon = day(number) + NOON
        had_to_go = {name for name, second in self.seconds.items() if second.is_due(noon)}
        curated = decay(self.workspace(noon), dry_run=False)
        assert {one.outcome for one in curated} <= {Outcome.CHANGED}
        for name in had_to_go:
            self.seconds[name].status = "archived"
            self.seconds[name].archived_on.append(noon)
        return had_to_go, {one.learning_id for one in curated}

    def write(self, workspace, learning_id, profile, now):
        personal = learning_id in self.personal
        scope = Scope.PERSONAL if personal else Scope.PROJECT
        learning = Learning(
            id=learning_id,
            category=Category.PITFALL,
            summary=f"Lesson {learning_id} of the kind {profile}",
            detail=f"What {learning_id} has to say, in a sentence or two.",
            session_id="earlier",
            timestamp=now,
            scope=scope,
            criteria_met=frozenset({Criterion.STABLE_FACT}),
            tags=("orders",),
        )
        workspace.library.write(workspace.library.target_for(scope), learning)
        passive = PERSONAL_PASSIVE if personal else PASSIVE
        self.seconds[learning_id] = Second(now, passive)

    def curate(self, learning_id, what, now):
        second = self.seconds[learning_id]
        workspace = self.workspace(now)
        if what == "restored":
            (curated,) = restore(workspace, [learning_id], dry_run=False)
            assert (curated.outcome is Outcome.CHANGED) == (second.status == "archived")
            if second.status == "archived":
                second.status = "active"
                second.restored.append(now)
        elif successors := self.successors_of(learning_id):
            curated = supersede(workspace, learning_id, successors[0], "", dry_run=False)
            assert curated.outcome is Outcome.CHANGED
            second.status = "superseded"

    def successors_of(self, learning_id):
        personal = learning_id in self.personal
        return sorted(
            name
            for name, second in self.seconds.items()
            if second.status == "active"
            and name != learning_id
            and (name in self.personal) is personal
        )


@pytest.fixture(scope="module")
def year(tmp_path_factory):
    lived = Year(tmp_path_factory.mktemp("year"))
    lived.days = {number: lived.live(number) for number in range(DAYS)}
    return lived


def test_every_learning_goes_on_the_day_the_rule_says(year):
    wrong = {number: both for number, both in year.days.items() if both[0] != both[1]}
    assert wrong == {}


def test_the_year_was_worth_simulating(year):
    """Otherwise the test above would prove little."""
    seconds = year.seconds.values()
    archived = [one for one in seconds if one.status == "archived"]
    some = LEARNINGS // 40
    assert len(archived) > LEARNINGS // 3
    assert sum(one.status == "superseded" for one in seconds) >= some
    assert sum(one.status == "active" and one.is_immune() for one in seconds) >= some
    assert sum(len(one.archived_on) > 1 for one in seconds) >= some
    assert sum(len(one.shown) >= 5 and not one.used for one in archived) >= some
    assert {name for one in archived for name in [one.verified()[1]]} >= {
        "written",
        "shown",
        "used",
        "restored",
    }
    assert any(one.passive == PERSONAL_PASSIVE for one in archived)
