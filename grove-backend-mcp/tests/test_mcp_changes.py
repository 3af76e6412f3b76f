"""What is new, kept step by step, is what is listed; what came from the server is kept as it came."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from grove_backend_mcp.sync.record import CachedLearnings, Contents, Paths
from grove_core import BackendContext, LearningStatus
from grove_core.testing.samples import example_learning, learning_id

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def contents_in(folder):
    places = Paths(BackendContext(root=folder, home=folder / "home"), "")
    return Contents(places), places


class Keeper:
    """Somebody who keeps what is told, while the files change."""

    def __init__(self, folder):
        self.folder, self.now = folder, NOON
        self.mark, self.kept = "", {}

    @property
    def contents(self):
        self.now += SECOND
        return contents_in(self.folder)[0]

    def ask(self):
        answer = self.contents.changes(self.mark)
        told = {one.id: one for one in answer.learnings}
        assert len(told) == len(answer.learnings)
        self.mark, self.kept = answer.mark, told if answer.whole else {**self.kept, **told}
        assert self.kept == {one.id: one for one in self.contents.learnings()}
        return answer


def test_little_news_is_told_alone_and_much_as_everything(tmp_path):
    keeper = Keeper(tmp_path)
    assert keeper.ask().whole
    for number in range(3):
        keeper.contents.record.add(example_learning(number), NOON)
    news = keeper.ask()
    assert (news.whole, len(news.learnings)) == (False, 3)
    # What others wrote is on the server.
    keeper.contents.seen.hold([example_learning(100)])
    keeper.ask()
    for number in (1, 100):
        keeper.contents.record.add_status(learning_id(number), LearningStatus.ARCHIVED, keeper.now)
        archived = evolve(example_learning(number), status=LearningStatus.ARCHIVED)
        news = keeper.ask()
        assert (news.whole, news.learnings) == (False, (archived,))
    for number in range(10, 120):
        keeper.contents.record.add(example_learning(number), NOON)
    assert keeper.ask().whole
    # A merge changes the lines' order, and somebody leaves what is none.
    record = contents_in(tmp_path)[1].record
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(["<<<<<<< HEAD\n", *lines[5:], *lines[:5]]))
    keeper.ask()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"learning": 7}', '{"learning": {"id": "../x"}}', "\x00", '{"a":' * 9000],
)
def test_what_is_no_learning_in_a_cache_is_left_alone(tmp_path, text):
    kept = CachedLearnings(tmp_path / "seen.jsonl")
    kept.add([example_learning()])
    with kept.path.open("a") as file:
        file.write(f"{text}\n")
    assert CachedLearnings(kept.path).state() == {learning_id(1): example_learning()}
