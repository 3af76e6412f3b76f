"""What counts as the same lesson in other words, and what as an echo of what was shown."""

import json
from pathlib import Path

import pytest

from grove_core.model.learning import Candidate, Category
from grove_core.reflection.pipeline import ShownText, find_duplicate, find_echo
from grove_core.similarity import SimilarityIndex, topic_of

LESSONS = Path(__file__).parents[2] / "tests" / "data" / "lessons" / "training.jsonl"
SAME = [
    (
        "Redis connections leak when the worker forks after the pool was created",
        "The pool in app/cache.py is made at import; gunicorn forks later and children share sockets. Create the pool in post_fork.",
        "Forking the worker after creating the Redis pool leaks connections",
        "gunicorn children share the sockets of the pool that app/cache.py creates at import. Make the pool in the post_fork hook instead.",
    ),
    (
        "Migrations must not rename columns in one release",
        "The old pods still write to the old column during the rollout, so a rename breaks them. Add the new column, backfill, and drop the old one a release later.",
        "Renaming a column in one release breaks the rollout",
        "Old pods write to the old column while the new ones start. Add a new column, backfill it, drop the old column in the next release.",
    ),
    (
        "Stripe webhooks arrive out of order",
        "invoice.paid can come before invoice.created; handlers in billing/webhooks.py must fetch the object from the API instead of trusting the payload order.",
        "The order of Stripe webhooks is not guaranteed",
        "billing/webhooks.py handlers must fetch the object from the API, because invoice.paid may arrive before invoice.created.",
    ),
    (
        "pytest-xdist workers share the tmp database unless the name has the worker id",
        "tests/conftest.py builds the database name; without PYTEST_XDIST_WORKER in it two workers truncate each other's tables.",
        "Each xdist worker needs its own database name",
        "Workers truncate each other's tables when tests/conftest.py does not put PYTEST_XDIST_WORKER into the name of the tmp database.",
    ),
]
OTHER = [
    (
        "Redis pool must be created after the fork",
        "gunicorn children share sockets made at import in app/cache.py; create the pool in post_fork.",
        "Redis pool size must match the number of threads",
        "With max_connections below the thread count app/cache.py raises ConnectionError under load; gunicorn runs 8 threads.",
    ),
    (
        "Stripe webhooks arrive out of order",
        "billing/webhooks.py must fetch the object instead of trusting the payload order.",
        "Stripe webhooks are retried for three days",
        "billing/webhooks.py must be idempotent: the same event id comes again after a timeout, and invoices were booked twice.",
    ),
    (
        "The alpha service needs its own queue",
        "Seen in src/alpha.py: jobs of others starve it for minutes.",
        "The bravo service needs its own queue",
        "Seen in src/bravo.py: jobs of others starve it for minutes.",
    ),
    (
        "Celery tasks must take ids, not model objects",
        "A pickled Order is stale when tasks/invoice.py runs.",
        "Celery tasks must be enqueued in on_commit",
        "tasks/invoice.py ran before the transaction had committed and did not find the order.",
    ),
]


def candidate(summary, detail, **fields):
    return Candidate(category=Category.PITFALL, summary=summary, detail=detail, **fields)


def index(*lessons):
    """Know lessons, each with its key before it."""
    known = SimilarityIndex()
    for key, summary, detail in lessons:
        known.add(key, summary, detail)
    return known


def every():
    """All first halves of the pairs, as if all were stored: rare words must stay rare."""
    return index(*((f"cl_{place}", one[0], one[1]) for place, one in enumerate((*SAME, *OTHER))))


@pytest.mark.parametrize("place", range(len(SAME)))
@pytest.mark.parametrize("crowded", [False, True])
def test_the_same_lesson_in_other_words_is_refused(place, crowded):
    first, first_detail, second, detail = SAME[place]
    stored = every() if crowded else index((f"cl_{place}", first, first_detail))
    rejection = find_duplicate(candidate(second, detail), stored)
    assert rejection.existing_id == f"cl_{place}"
    assert first in rejection.reason
    assert f'"supersedes": ["cl_{place}"]' in rejection.reason


@pytest.mark.parametrize("place", range(len(OTHER)))
@pytest.mark.parametrize("crowded", [False, True])
def test_another_lesson_on_the_same_matter_passes(place, crowded):
    first, first_detail, second, detail = OTHER[place]
    stored = every() if crowded else index(("cl_x", first, first_detail))
    assert find_duplicate(candidate(second, detail), stored) is None


def test_scripts_without_blanks_are_compared_as_well():
    stored = index(
        ("cl_x", "毎晩のバッチは協定世界時で動く", "deploy/nightly.yaml に時間帯の指定がない。")
    )
    same = candidate(
        "毎晩のバッチは協定世界時で動きます", "時間帯の指定が deploy/nightly.yaml にない。"
    )
    other = candidate(
        "在庫の同期は手動で始める", "管理画面の同期ボタンを押すまで数は古いままである。"
    )
    assert find_duplicate(same, stored)
    assert find_duplicate(other, stored) is None


def test_the_same_is_found_among_many_and_may_be_superseded():
    lines = LESSONS.read_text().splitlines()
    lessons = [json.loads(line)["candidate"] for line in lines]
    many = index(*((f"cl_{at}", one["summary"], one["detail"]) for at, one in enumerate(lessons)))
    first, first_detail, second, detail = SAME[0]
    many.add("cl_same", first, first_detail)
    for summary, text in ((f"  {first.upper()}! ", "x"), (f"{first} here", "x"), (second, detail)):
        known, is_repeated = many.find(summary, text)
        assert known.key == "cl_same"
        assert is_repeated is (text == "x")
        assert many.find(summary, text, ignored=["cl_same"]) is None


@pytest.mark.parametrize(
    ("second", "tags", "same"),
    [
        ("Order rows come back from the replica late", {"x"}, True),
        ("Rows of the replica arrive late", {"orders"}, True),
        ("Rows of the replica arrive sorted", {"x"}, False),
        ("The replica is rebuilt on Sundays", {"orders"}, False),
    ],
)
def test_a_topic_is_told_by_common_words_and_tags(second, tags, same):
    first = topic_of("The replica sends order rows late", {"orders"})
    assert first.is_same(topic_of(second, tags)) is same


SUMMARY, DETAIL = SAME[0][0], SAME[0][1]
SHOWN = [
    ShownText(text=f"{SUMMARY}\n{DETAIL}", learning_id="cl_s", summary=SUMMARY),
    ShownText(text=f"{OTHER[3][0]}\n{OTHER[3][1]}", learning_id="cl_t", summary=OTHER[3][0]),
]


def test_text_that_was_shown_is_no_lesson():
    for one in (
        candidate(SUMMARY, DETAIL),
        candidate("Create the pool in post_fork", DETAIL),
        candidate("Forked workers leak Redis connections", "The pool was created at import."),
    ):
        rejection = find_echo(one, SHOWN)
        assert rejection.existing_id == "cl_s"
        assert '"learnings_used"' in rejection.reason
        assert SUMMARY in rejection.reason


def test_an_echo_that_adds_something_new_passes():
    one = candidate(
        SUMMARY,
        f"{DETAIL} With preload_app the hook runs too late: use on_starting, as uvicorn 0.30 does.",
    )
    assert find_echo(one, SHOWN) is None
