"""Insights of plugins beside grove's own: merged, ranked, and none may spoil the others."""

import itertools
import sys
from datetime import UTC, datetime
from types import ModuleType

import pytest

from grove_core import GROVE_API, GroupStats, Insight, Share, Statistics, hookimpl
from grove_core.paths import Paths
from grove_core.plugins.discovery import BACKEND_GROUP, GENERAL_GROUP, TICKET_GROUP, FoundPlugin
from grove_core.plugins.environment import cache_file
from grove_core.plugins.facade import Plugins
from grove_core.plugins.limits import TimeLimits
from grove_core.plugins.offered_commands import INSIGHTS, none_is_offered
from grove_core.plugins.report import PluginState
from grove_core.plugins.selection import PluginSettings
from grove_core.workspace import Workspace

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
NUMBERS = itertools.count()
LOW = Statistics(
    now=NOW,
    categories=(GroupStats("pitfall", 6, 6, Share(1, 20), Share(), Share(), ()),),
)


def an_insight(kind="acme", **fields):
    values = {"message": "Seen.", "suggestion": "Do it.", "evidence": {"many": 3}, **fields}
    return Insight(kind=kind, **values)


@pytest.fixture
def make(monkeypatch):
    """Plugins whose insights are what these functions return, each of its own distribution."""

    def plugins(*answers, group=GENERAL_GROUP, seconds=30, **settings):
        found = []
        for answer in answers:
            module = ModuleType(f"insights_of_a_test_{next(NUMBERS)}")
            if answer is not None:

                def grove_insights(statistics, answer=answer):
                    return answer(statistics)

                module.grove_insights = hookimpl(grove_insights)
            else:
                module.grove_query_terms = hookimpl(lambda: ())
            monkeypatch.setitem(sys.modules, module.__name__, module)
            name = f"acme{len(found)}"
            found.append(FoundPlugin(group, name, module.__name__, f"{name}-dist", "1.0", False))
        problems = []
        limits = TimeLimits(load=30, registration=30, life_cycle=seconds)
        made = Plugins(found, PluginSettings(**settings), problems.append, limits=limits)
        made.problems = problems
        return made

    return plugins


def kinds(insights):
    return [one.kind for one in insights]


def test_groves_own_insights_come_through_the_same_hook(make):
    plugins = make()
    assert kinds(plugins.insights(LOW)) == ["low_hit_category"]
    own = plugins.report().own
    assert (own.found.name, own.state, own.hooks) == (
        "grove-core",
        PluginState.ACTIVE,
        ("grove_insights", "grove_retrieval_engines"),
    )
    assert plugins.report().plugins == ()
    assert plugins.problems == []


def test_groves_own_part_is_loaded_for_insights_only(make):
    plugins = make()
    plugins.commands()
    plugins.ticket_probes()
    assert plugins.report().own.state is PluginState.NOT_LOADED


@pytest.mark.parametrize("group", [TICKET_GROUP, BACKEND_GROUP, GENERAL_GROUP])
def test_all_answers_are_merged_and_ranked(make, group):
    plugins = make(
        lambda statistics: [an_insight("zeal", priority=1), an_insight("acme", priority=3)],
        lambda statistics: (an_insight("beta", subject=str(len(statistics.categories))),),
        group=group,
    )
    assert kinds(plugins.insights(LOW)) == ["zeal", "beta", "low_hit_category", "acme"]
    assert plugins.problems == []


def test_a_generator_will_do_and_needs_no_end(make):
    plugins = make(lambda _: (an_insight() for _ in itertools.count()))
    assert len(plugins.insights(Statistics(now=NOW))) == 100


class Late(dict):
    def __iter__(self):
        raise RuntimeError("not yet")

    def keys(self):
        raise RuntimeError("not yet")


WRONG = {
    "no list": (7, "returned int instead of a list of Insight"),
    "one insight": (an_insight(), "returned Insight instead of a list of Insight"),
    "text": ("seen", "returned str instead of a list of Insight"),
    "nothing": (None, "returned NoneType instead of a list of Insight"),
    "text in a list": (["seen"], "returned str instead of Insight"),
    "no message": ([an_insight(message=" ")], "whose message is not a string that says something"),
    "no kind": ([an_insight(kind=3)], "whose kind is not a string that says something"),
    "subject": ([an_insight(subject=None)], "whose subject is not a string"),
    "priority": ([an_insight(priority=4)], "whose priority is not 1, 2 or 3"),
    "priority of words": ([an_insight(priority="high")], "whose priority is not 1, 2 or 3"),
    "evidence": ([an_insight(evidence=[1])], "whose evidence is not a mapping"),
    "evidence of objects": ([an_insight(evidence={"a": object()})], "whose evidence is not"),
    "evidence of no number": ([an_insight(evidence={"a": float("nan")})], "whose evidence is not"),
    "evidence without end": ([an_insight(evidence={"a": "x" * 20_000})], "whose evidence is not"),
    "evidence that raises": ([an_insight(evidence=Late(a=1))], "RuntimeError: not yet"),
}


@pytest.mark.parametrize(("answer", "words"), WRONG.values(), ids=WRONG)
def test_a_senseless_answer_is_reported_and_the_others_go_on(make, answer, words):
    plugins = make(lambda _: answer, lambda _: [an_insight("good")])
    assert kinds(plugins.insights(LOW)) == ["good", "low_hit_category"]
    (problem,) = plugins.problems
    assert str(problem).startswith("acme0-dist 1.0 (grove.plugins:acme0): grove_insights: ")
    assert words in problem.detail


def test_what_is_sound_beside_what_is_not_counts(make):
    plugins = make(lambda _: [an_insight("good"), 3])
    assert kinds(plugins.insights(Statistics(now=NOW))) == ["good"]
    assert len(plugins.problems) == 1


def test_a_plugin_that_raises_or_hangs_is_left_behind(make):
    def hang(_):
        import threading

        threading.Event().wait(3600)

    def fall(_):
        raise SystemExit(3)

    plugins = make(hang, fall, lambda _: [an_insight("good")], seconds=0.4)
    assert kinds(plugins.insights(LOW)) == ["good", "low_hit_category"]
    assert [one.detail for one in plugins.problems] == [
        "took longer than 0.4 seconds",
        "raised SystemExit",
    ]


def test_what_a_plugin_says_is_shown_on_one_line(make):
    hostile = an_insight(message="\x1b[31mred\nalert", suggestion="run\r\nit", subject="a\tb")
    (seen,) = make(lambda _: [hostile]).insights(Statistics(now=NOW))
    for text in (seen.message, seen.suggestion, seen.subject):
        assert text.isprintable()
    assert seen.evidence == {"many": 3}


# Whether anybody else has insights.


def test_it_is_known_when_nobody_else_has_insights(make):
    assert make().offers_insights_besides_own() is False
    assert make(None).offers_insights_besides_own() is False
    assert make(lambda _: []).offers_insights_besides_own() is True
    assert make(None, lambda _: []).offers_insights_besides_own() is True
    assert make(lambda _: [], enabled=False).offers_insights_besides_own() is None
    assert make(None, allowed=frozenset()).offers_insights_besides_own() is None


def test_groves_own_insights_are_there_without_plugins(make):
    plugins = make(lambda _: [an_insight()], enabled=False)
    assert kinds(plugins.insights(LOW)) == ["low_hit_category"]


@pytest.mark.parametrize("makes_home", [True, False])
def test_a_workspace_remembers_that_nobody_else_has_insights(tmp_path, makes_home, monkeypatch):
    settled = "grove_core.plugins.offered_commands.is_settled"
    monkeypatch.setattr(settled, lambda environment: True)
    home = tmp_path / "home"
    if makes_home:
        home.mkdir()
    workspace = Workspace(tmp_path, {"GROVE_HOME": str(home)}, NOW)
    monkeypatch.setattr("grove_core.workspace.discover", lambda home: ())
    assert kinds(workspace.insights(LOW)) == ["low_hit_category"]
    assert none_is_offered(home, INSIGHTS) is makes_home
    assert home.exists() is makes_home
    assert not none_is_offered(home)  # of commands nothing is known
    if makes_home:
        (Paths(home).cache / cache_file(home, INSIGHTS)).write_text("{broken")
        assert not none_is_offered(home, INSIGHTS)


def test_the_public_types_are_enough_to_write_one():
    assert GROVE_API == 1
    assert Insight(kind="a", message="b", suggestion="c", evidence={}).priority == 2
