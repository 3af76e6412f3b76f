"""What is new, kept step by step, is what is listed; what came from the server is kept as it came."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_mcp.delivering.courier import is_due
from grove_backend_mcp.keeping.breaker import Breaker, read_breaker, text_of
from grove_backend_mcp.keeping.cached import CachedLearnings
from grove_backend_mcp.keeping.changes import changes_since
from grove_backend_mcp.keeping.contents import Contents
from grove_backend_mcp.keeping.journal import Delivery
from grove_backend_mcp.keeping.places import Places
from grove_core import BackendContext, BackendError, LearningStatus
from grove_core.testing.samples import example_learning, learning_id

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
STATUSES = [*LearningStatus]
SECOND = timedelta(seconds=1)


def contents_in(folder):
    places = Places(BackendContext(root=folder, home=folder / "home"), "")
    return Contents(places), places


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("record"), st.integers(1, 6)),
        st.tuples(st.just("others"), st.lists(st.integers(1, 9), unique=True, max_size=4)),
        st.tuples(st.just("found"), st.lists(st.integers(1, 9), unique=True, max_size=2)),
        st.tuples(st.just("status"), st.tuples(st.integers(1, 9), st.sampled_from(STATUSES))),
        st.tuples(st.just("merge"), st.integers(0, 9)),
        st.tuples(st.just("strange"), st.sampled_from(["<<<<<<< HEAD\n", '{"at": ', "\n", "{}\n"])),
        st.tuples(st.just("ask"), st.none()),
    ),
    max_size=15,
)


class Keeper:
    """Somebody who keeps what is told, while the files change."""

    def __init__(self, folder):
        self.folder, self.now = folder, NOON
        self.mark, self.kept = "", {}

    def take(self, name, value):
        self.now += SECOND
        contents, places = contents_in(self.folder)
        if name == "record":
            contents.record.add(example_learning(value), self.now)
        elif name == "others":
            contents.seen.replace([example_learning(100 + one) for one in value])
        elif name == "found":
            # Somebody has told the server another status of it.
            status = LearningStatus.ARCHIVED
            contents.seen.add([example_learning(100 + one, status=status) for one in value])
        elif name == "status":
            number, status = value
            for one in (number, 100 + number):
                contents.record.add_status(learning_id(one), status, self.now)
        elif name == "merge" and places.record.exists():
            lines = places.record.read_text().splitlines(keepends=True)
            places.record.write_text("".join([*lines[value:], *lines[:value]]))
        elif name == "strange" and places.record.exists():
            with places.record.open("a") as file:
                file.write(value)
        elif name == "ask":
            self.ask()

    def ask(self):
        contents, _ = contents_in(self.folder)
        answer = changes_since(contents, self.mark)
        told = {one.id: one for one in answer.learnings}
        assert len(told) == len(answer.learnings)
        self.mark, self.kept = answer.mark, told if answer.whole else {**self.kept, **told}
        assert self.kept == {one.id: one for one in contents.learnings()}
        return answer


@settings(max_examples=120, deadline=None)
@given(steps=STEPS)
def test_what_is_told_adds_up_to_what_is_listed(steps, tmp_path_factory):
    keeper = Keeper(tmp_path_factory.mktemp("project"))
    for name, value in steps:
        keeper.take(name, value)
    keeper.ask()


def test_little_news_is_told_alone_and_much_as_everything(tmp_path):
    keeper = Keeper(tmp_path)
    assert keeper.ask().whole
    for number in range(3):
        keeper.take("record", number)
    news = keeper.ask()
    assert (news.whole, len(news.learnings)) == (False, 3)
    keeper.take("status", (1, LearningStatus.ARCHIVED))
    news = keeper.ask()
    archived = evolve(example_learning(1), status=LearningStatus.ARCHIVED)
    assert (news.whole, news.learnings) == (False, (archived,))
    for number in range(10, 120):
        keeper.take("record", number)
    assert keeper.ask().whole


def test_a_status_of_what_others_wrote_is_news(tmp_path):
    keeper = Keeper(tmp_path)
    keeper.take("others", [1, 2])
    keeper.ask()
    keeper.take("status", (2, LearningStatus.SUPERSEDED))
    (one,) = keeper.ask().learnings
    assert (one.id, one.status) == (learning_id(102), LearningStatus.SUPERSEDED)


def test_of_two_that_have_an_id_the_own_one_counts(tmp_path):
    contents, _ = contents_in(tmp_path)
    contents.seen.add([example_learning(detail="As the server has it.")])
    assert contents.get(learning_id(1)).detail == "As the server has it."
    contents.record.add(example_learning(), NOON)
    assert contents.get(learning_id(1)) == example_learning()
    assert [*contents.learnings()] == [example_learning()]


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(
        st.tuples(
            st.booleans(),
            st.lists(st.tuples(st.integers(1, 9), st.sampled_from(STATUSES)), max_size=5),
        ),
        max_size=6,
    )
)
def test_what_came_last_is_kept(steps, tmp_path_factory):
    path = tmp_path_factory.mktemp("cache") / "deep" / "seen.jsonl"
    kept, known = CachedLearnings(path), {}
    for replaces, some in steps:
        learnings = {learning_id(n): example_learning(n, status=one) for n, one in some}
        if replaces:
            news = sum(known.get(each) != one for each, one in learnings.items())
            assert kept.replace(learnings.values()) == news
            known = learnings
        else:
            kept.add(learnings.values())
            known = {**known, **learnings}
        assert kept.learnings() == known == CachedLearnings(path).learnings()


def test_of_too_many_the_oldest_go(tmp_path):
    kept = CachedLearnings(tmp_path / "notes.jsonl")
    for number in range(8):
        kept.add([example_learning(number)], most=5)
    kept.add([example_learning(3, summary="It was found once more")], most=5)
    assert sorted(kept.learnings()) == sorted(map(learning_id, (3, 4, 5, 6, 7)))
    kept.add([example_learning(number) for number in (8, 9)], most=5)
    assert sorted(kept.learnings()) == sorted(map(learning_id, (3, 6, 7, 8, 9)))


def test_nothing_is_written_where_nothing_is_new(tmp_path):
    kept = CachedLearnings(tmp_path / "seen.jsonl")
    kept.replace([])
    kept.add([])
    assert not kept.path.exists()
    kept.add([example_learning()])
    before = kept.path.stat()
    kept.add([example_learning()])
    assert kept.replace([example_learning()]) == 0
    now = kept.path.stat()
    assert (now.st_mtime_ns, now.st_ino, now.st_size) == (
        before.st_mtime_ns,
        before.st_ino,
        before.st_size,
    )


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"learning": 7}', '{"learning": {"id": "../x"}}', "\x00", '{"a":' * 9000],
)
def test_what_is_no_learning_in_a_cache_is_left_alone(tmp_path, text):
    kept = CachedLearnings(tmp_path / "seen.jsonl")
    kept.add([example_learning()])
    with kept.path.open("a") as file:
        file.write(f"{text}\n")
    assert CachedLearnings(kept.path).learnings() == {learning_id(1): example_learning()}


def test_a_cache_that_cannot_be_read_is_a_fault(tmp_path):
    (tmp_path / "seen.jsonl").mkdir()
    with pytest.raises(BackendError):
        CachedLearnings(tmp_path / "seen.jsonl").learnings()


@pytest.mark.parametrize(
    ("failures", "minutes"), [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (8, 60), (10**6, 60)]
)
def test_a_server_that_fails_is_left_alone_longer_each_time(failures, minutes):
    breaker = Breaker(server="one", failures=failures, failed_at=NOON)
    end = NOON + timedelta(minutes=minutes)
    assert breaker.until() == end
    opened = [breaker.is_open(at) for at in (NOON - SECOND, NOON, end - SECOND, end)]
    assert opened == [False, True, True, False]


def test_a_server_that_works_is_not_left_alone(tmp_path):
    assert Breaker(server="one").until() is None
    assert not Breaker(server="one").is_open(NOON)
    path = tmp_path / "breaker.json"
    assert read_breaker(path, "one") == Breaker(server="one")
    failed = Breaker(server="one").after_failure(NOON, "it has ended")
    path.write_text(text_of(failed))
    assert read_breaker(path, "one") == failed
    assert failed.after_failure(NOON + SECOND, "again").failures == 2
    assert read_breaker(path, "another") == Breaker(server="another")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "[]",
        "{}",
        '{"server": "one"}',
        '{"server": "one", "failures": "many", "failed_at": "", "detail": ""}',
        '{"server": "one", "failures": 1, "failed_at": "never", "detail": ""}',
        '{"server": "one", "failures": 1, "failed_at": null, "detail": ""}',
        '{"server": "one", "failures": 1e999, "failed_at": "2026-02-06T12:00:00Z", "detail": ""}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_tells_of_no_failure(tmp_path: Path, text: str) -> None:
    path = tmp_path / "breaker.json"
    path.write_text(text)
    assert read_breaker(path, "one") == Breaker(server="one")


@pytest.mark.parametrize(
    ("failures", "minutes"), [(1, 1), (2, 2), (5, 16), (11, 1024), (12, 1440), (10**6, 1440)]
)
def test_what_has_failed_is_put_off_longer_each_time(failures, minutes):
    delivery = Delivery(failures=failures, tried_at=NOON)
    end = NOON + timedelta(minutes=minutes)
    due = [is_due(delivery, at) for at in (NOON - SECOND, NOON, end - SECOND, end)]
    assert due == [True, False, False, True]


def test_what_has_not_failed_is_due():
    assert is_due(Delivery(), NOON)
    assert is_due(Delivery(tried_at=NOON, is_open=True), NOON)
    assert is_due(Delivery(failures=3), NOON)
