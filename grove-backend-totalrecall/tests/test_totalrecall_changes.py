"""What the backend tells of changes adds up to what it lists, and mostly takes little reading."""

import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_totalrecall.backend import TotalRecallBackend
from grove_core import BackendContext, BackendError, Category, Learning, LearningStatus

SUMMARIES = (
    "The pump needs ten minutes before it is primed",
    "The pump needs ten minutes",
    "The pump needs ten minutes before it is primed, in winter twenty",
    "Keys hang behind the clock",
)
OLD_DAYS = 6


def learning_of(number, summary):
    return Learning(
        id=f"cl_20260201_{number:03}",
        category=Category.PITFALL,
        summary=summary,
        detail=f"Detail {number}.\n> quoted",
        session_id="s-1",
        timestamp=datetime(2026, 2, 1, 12, number % 60, tzinfo=UTC),
        tags=("pump",),
    )


class Recall:
    """A project with Total Recall, and someone who keeps what the backend tells."""

    def __init__(self, root):
        self.root = root
        for folder in ("memory/daily", "memory/registers", "memory/archive/daily", ".claude/rules"):
            (root / folder).mkdir(parents=True)
        (root / ".claude/rules/total-recall.md").write_text("# Total Recall\n")
        self.count = 0
        self.day = 1
        self.kept = {}
        self.mark = ""

    def open(self):
        context = BackendContext(root=self.root, home=self.root / "home")
        now = datetime(2026, 3, self.day, 12, self.count % 60).astimezone()
        return TotalRecallBackend(context, clock=lambda: now)

    def log(self, day=None):
        return self.root / f"memory/daily/2026-03-{day or self.day:02}.md"

    def append(self, text, path=None):
        path = path or self.log()
        with path.open("a", newline="") as file:
            file.write(text)

    def write(self, summary=SUMMARIES[0]):
        self.count += 1
        one = learning_of(self.count, summary)
        self.open().write(one)
        return one

    def ask(self):
        answer = self.open().changes(self.mark)
        self.mark = answer.mark
        told = {one.id: one for one in answer.learnings}
        assert len(told) == len(answer.learnings)
        assert [*answer.learnings] == sorted(answer.learnings, key=lambda one: one.timestamp)
        self.kept = told if answer.whole else self.kept | told
        assert self.kept == {one.id: one for one in self.open().iterate()}
        return answer.whole, [*told]

    def old_logs(self):
        """Some days, each with a learning and a note."""
        for _ in range(OLD_DAYS):
            self.write(f"Rule {self.day} is of its own kind")
            self.append("\n[18:00] Went home.\n")
            self.day += 1


@pytest.fixture
def recall(tmp_path):
    return Recall(tmp_path / "project")


HARMLESS = {
    "a note": "[14:00] Called the plumber.\n",
    "a pre-compact block": "\n## [pre-compact 14:00]\n\n- Compaction occurred at 14:00. Go on.\n",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
@pytest.mark.parametrize("is_new", [True, False])
def test_foreign_lines_are_no_news(recall, text, is_new):
    recall.old_logs()
    recall.day -= 0 if is_new else 1
    recall.ask()
    recall.append(text)
    assert recall.ask() == (False, [])
    recall.append(text)
    assert recall.ask() == (False, [])


def archive(recall):
    name = recall.log(1).name
    recall.log(1).rename(recall.root / "memory/archive/daily" / name)


def promote(recall, learning_id="cl_20260201_002"):
    text = f"# Rules\n\n- Rule 2 is of some kind (grove:{learning_id}) ^tr0123456789\n"
    recall.append(text, recall.root / "memory/registers/rules.md")


def edit(recall):
    path = recall.log(1)
    path.write_text(path.read_text().replace("own kind", "new sort"))


def lose_record(recall):
    (recall.root / ".grove/total-recall.jsonl").write_text("")


def mark_line(text):
    return lambda recall: recall.append(f"[14:00] [superseded] {text}\n")


CHANGES = {
    "status": lambda recall: recall.open().set_status(
        "cl_20260201_001", LearningStatus.ARCHIVED, "by hand"
    ),
    "forgotten by quotation": mark_line(
        '"Rule 2 is of its own kind" - marked as no longer current'
    ),
    "forgotten by id": mark_line('"Rule" (grove:cl_20260201_001)'),
    "archived log": archive,
    "edited old log": edit,
    "promoted": promote,
    "record lost": lose_record,
    "detail goes on": lambda recall: recall.append(
        "[14:00] **Pitfall** (grove:cl_20260201_001): again\n"
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_may_be_about_the_known_is_told_whole(recall, change):
    recall.old_logs()
    recall.ask()
    change(recall)
    assert recall.ask()[0]
    assert not recall.ask()[0]


def test_damaged_mark_asks_for_everything(recall):
    recall.write()
    recall.append('[14:00] [superseded] "Caf\u00e9 \u2013 closed"\n')
    recall.ask()
    sound = recall.mark
    middle = len(sound) // 2
    flipped = sound[:middle] + chr(ord(sound[middle]) ^ 1) + sound[middle + 1 :]
    for mark in ("", "tr1 0 ", "tr1 x []", "\ud800", sound[:-1], sound * 2, flipped):
        answer = recall.open().changes(mark)
        assert (answer.whole, answer.mark) == (True, sound), mark


@pytest.fixture
def opened():
    """The names of the Markdown files that are opened."""
    names, is_on = [], True

    def watch(event, arguments):
        if is_on and event == "open" and str(arguments[0]).endswith(".md"):
            names.append(Path(arguments[0]).name)

    sys.addaudithook(watch)
    yield names
    is_on = False


def test_only_the_newest_logs_are_read(recall, opened):
    recall.old_logs()
    promote(recall)
    recall.ask()
    recall.append("[14:00] Called the plumber.\n")
    one = recall.write()
    opened.clear()
    answer = recall.open().changes(recall.mark)
    assert (answer.whole, [*answer.learnings]) == (False, [one])
    newest = {f"2026-03-{day:02}.md" for day in range(4, OLD_DAYS + 2)}
    assert {*opened} == newest


def some_entry(recall, number):
    return f"cl_20260201_{number % max(recall.count, 1) + 1:03}"


def with_status(status):
    def change(recall, number):
        if recall.open().get(some_entry(recall, number)):
            with suppress(BackendError):  # what a register says, grove does not change
                recall.open().set_status(some_entry(recall, number), status)

    return change


def some_log(recall, number):
    logs = sorted((recall.root / "memory/daily").iterdir())
    return logs[number % len(logs)] if logs else None


def on_log(change):
    def changed(recall, number):
        path = some_log(recall, number)
        if path is not None:
            change(recall, path, number)

    return changed


def next_day(recall, number):
    recall.day = min(recall.day + 1, 28)


def move(recall, path, number):
    path.rename(recall.root / "memory/archive/daily" / path.name)


def cut(recall, path, number):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * (number % 10) // 10])


def say_otherwise(recall, path, number):
    text = path.read_bytes().decode()
    path.write_bytes(text.replace("pump", f"pumps{number}").encode())


STEPS = {
    "write": lambda recall, number: recall.write(SUMMARIES[number % len(SUMMARIES)]),
    "archive": with_status(LearningStatus.ARCHIVED),
    "restore": with_status(LearningStatus.ACTIVE),
    "supersede": with_status(LearningStatus.SUPERSEDED),
    "next day": next_day,
    "foreign": lambda recall, number: recall.append(f"[13:00] Call {number}.\n"),
    "open comment": lambda recall, number: recall.append("<!--\n" if number % 2 else "-->\n"),
    "metadata": lambda recall, number: recall.append("\nTags: #x | Status: Archived\n"),
    "superseded heading": lambda recall, number: recall.append("\n## [superseded: 2026-03-01]\n"),
    "pre-compact": lambda recall, number: recall.append(HARMLESS["a pre-compact block"]),
    "forget": lambda recall, number: recall.append(
        f'[13:00] [superseded] "{SUMMARIES[number % len(SUMMARIES)]}" - marked\n'
    ),
    "promote": lambda recall, number: promote(recall, f"cl_20260201_{number % 30:03}"),
    "claim": lambda recall, number: recall.append(
        f"\n## [superseded: 2026-03-01]\n- **claim**: {SUMMARIES[number % len(SUMMARIES)]}\n",
        recall.root / "memory/registers/claims.md",
    ),
    "move": on_log(move),
    "delete": on_log(lambda recall, path, number: path.unlink()),
    "cut": on_log(cut),
    "edit": on_log(say_otherwise),
}
FREQUENT = ("write", "write", "write", "foreign", "next day")


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([*STEPS, *FREQUENT]), st.integers(0, 99), st.booleans()),
        min_size=5,
        max_size=20,
    )
)
def test_answers_add_up(steps):
    with tempfile.TemporaryDirectory() as folder:
        recall = Recall(Path(folder) / "project")
        for name, number, asks in steps:
            STEPS[name](recall, number)
            if asks:
                recall.ask()
        recall.ask()
