"""Insights of plugins beside grove's own: merged, ranked, and none may spoil the others."""

from datetime import UTC, datetime

import pytest
from core_worlds import plugins_with

from grove_core import Insight, Statistics
from grove_core.cli.stats import ask_for_insights
from grove_core.model.statistics import GroupStats
from grove_core.model.usage import Share
from grove_core.project import Project

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
LOW = Statistics(
    now=NOW, categories=(GroupStats("pitfall", 6, 6, Share(1, 20), Share(), Share(), ()),)
)


def an_insight(kind="acme", **fields):
    values = {"message": "Seen.", "suggestion": "Do it.", "evidence": {"many": 3}, **fields}
    return Insight(kind=kind, **values)


@pytest.fixture
def make(monkeypatch, tmp_path):
    """Plugins whose insights are what these functions return, each of its own distribution."""

    def plugins(*answers, **options):
        def hook(answer):
            def grove_insights(statistics):
                return answer(statistics)

            return grove_insights

        hooks = (("grove_insights", hook(one)) for one in answers)
        project = Project(tmp_path, {"GROVE_HOME": str(tmp_path / "home")}, NOW)
        project.__dict__["plugins"] = plugins_with(monkeypatch, *hooks, **options)
        return project

    return plugins


def kinds(insights):
    return [one.kind for one in insights]


WRONG = {
    "one insight": (an_insight(), "returned Insight instead of a list of Insight"),
    "no message": (
        [an_insight(message=" ")],
        "Insight.message is not a string that says something",
    ),
    "subject": ([an_insight(subject=None)], "Insight.subject is not a string"),
    "evidence": ([an_insight(evidence=[1])], "Insight.evidence is not a mapping"),
    "evidence of no number": (
        [an_insight(evidence={"a": float("nan")})],
        "Insight.evidence is not",
    ),
}


@pytest.mark.parametrize(("answer", "words"), WRONG.values(), ids=WRONG)
def test_a_senseless_answer_is_reported_and_the_others_go_on(make, answer, words):
    plugins = make(lambda _: answer, lambda _: [an_insight("good")])
    assert kinds(ask_for_insights(plugins, LOW)) == ["good", "low_hit_category"]
    (problem,) = plugins.plugins.problems
    assert str(problem).startswith("acme0-dist 1.0 (grove.plugins:acme0): grove_insights: ")
    assert words in problem.detail
