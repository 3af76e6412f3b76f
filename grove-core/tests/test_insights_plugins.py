"""Insights of plugins beside grove's own: merged, ranked, and none may spoil the others."""

from datetime import UTC, datetime

import pytest
from core_worlds import plugins_with

from grove_core import GroupStats, Insight, Share, Statistics
from grove_core.plugins.discovery import GENERAL_GROUP, TICKET_GROUP
from grove_core.plugins.report import PluginState

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
LOW = Statistics(
    now=NOW, categories=(GroupStats("pitfall", 6, 6, Share(1, 20), Share(), Share(), ()),)
)


def an_insight(kind="acme", **fields):
    values = {"message": "Seen.", "suggestion": "Do it.", "evidence": {"many": 3}, **fields}
    return Insight(kind=kind, **values)


@pytest.fixture
def make(monkeypatch):
    """Plugins whose insights are what these functions return, each of its own distribution."""

    def plugins(*answers, **options):
        def hook(answer):
            def grove_insights(statistics):
                return answer(statistics)

            return grove_insights

        hooks = (("grove_insights", hook(one)) for one in answers)
        return plugins_with(monkeypatch, *hooks, **options)

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


@pytest.mark.parametrize("group", [TICKET_GROUP, GENERAL_GROUP])
def test_all_answers_are_merged_and_ranked(make, group):
    plugins = make(
        lambda statistics: [an_insight("zeal", priority=1), an_insight("acme", priority=3)],
        lambda statistics: (an_insight("beta", subject=str(len(statistics.categories))),),
        group=group,
    )
    assert kinds(plugins.insights(LOW)) == ["zeal", "beta", "low_hit_category", "acme"]
    assert plugins.problems == []


WRONG = {
    "one insight": (an_insight(), "returned Insight instead of a list of Insight"),
    "no message": ([an_insight(message=" ")], "whose message is not a string that says something"),
    "subject": ([an_insight(subject=None)], "whose subject is not a string"),
    "evidence": ([an_insight(evidence=[1])], "whose evidence is not a mapping"),
    "evidence of no number": ([an_insight(evidence={"a": float("nan")})], "whose evidence is not"),
}


@pytest.mark.parametrize(("answer", "words"), WRONG.values(), ids=WRONG)
def test_a_senseless_answer_is_reported_and_the_others_go_on(make, answer, words):
    plugins = make(lambda _: answer, lambda _: [an_insight("good")])
    assert kinds(plugins.insights(LOW)) == ["good", "low_hit_category"]
    (problem,) = plugins.problems
    assert str(problem).startswith("acme0-dist 1.0 (grove.plugins:acme0): grove_insights: ")
    assert words in problem.detail


def test_a_plugin_that_raises_or_hangs_is_left_behind(make):
    def hang(_):
        import threading

        threading.Event().wait(3600)

    def fall(_):
        raise SystemExit(3)

    plugins = make(hang, fall, lambda _: [an_insight("good")], seconds=0.02)
    assert kinds(plugins.insights(LOW)) == ["good", "low_hit_category"]
    assert [one.detail for one in plugins.problems] == [
        "took longer than 0.4 seconds",
        "raised SystemExit",
    ]


# Whether anybody else has insights.
