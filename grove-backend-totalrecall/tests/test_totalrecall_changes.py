"""What the backend tells of changes adds up to what it lists, and mostly takes little reading."""

import json
import subprocess
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
ASK = """
import sys
from pathlib import Path
from grove_backend_totalrecall.backend import TotalRecallBackend
from grove_core import BackendContext
import json
root, mark = Path(sys.argv[1]), Path(sys.argv[2]).read_text()
opened = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str | Path):
        path = Path(arguments[0])
        if path.suffix == ".md" and path.is_relative_to(root):
            opened.append(path.relative_to(root).as_posix())
backend = TotalRecallBackend(BackendContext(root=root, home=root / "none"))
sys.addaudithook(watch)
answer = backend.changes(mark)
print(json.dumps([answer.whole, [one.id for one in answer.learnings], sorted(set(opened))]))
"""


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


def test_first_answer_and_next(recall):
    recall.old_logs()
    whole, told = recall.ask()
    assert (whole, len(told)) == (True, OLD_DAYS)
    assert recall.ask() == (False, [])


HARMLESS = {
    "a note": "[14:00] Called the plumber.\n",
    "a note without a line end": "[14:00] Called the plumber.",
    "a pre-compact block": "\n## [pre-compact 14:00]\n\n- Compaction occurred at 14:00. Go on.\n",
    "a note that mentions an id": "[14:00] see grove:cl_20260201_001\n",
    "CRLF": "\r\n[14:00] Called the plumber.\r\n",
    "half a character": "\n[14:00] caf\u00e9\n",
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


def test_new_learnings_are_told_by_themselves(recall):
    recall.old_logs()
    recall.ask()
    for _ in range(3):
        one = recall.write()
        assert recall.ask() == (False, [one.id])
        two, three = recall.write(), recall.write(SUMMARIES[3])
        assert recall.ask() == (False, [two.id, three.id])
        recall.day += 1


def test_new_learning_after_something_else_was_forgotten(recall):
    recall.old_logs()
    recall.append(
        '[14:00] [superseded] "Rule 2 is of its own kind" - marked as no longer current\n'
    )
    recall.ask()
    one = recall.write()
    assert recall.ask() == (False, [one.id])


def archive(recall):
    name = recall.log(1).name
    recall.log(1).rename(recall.root / "memory/archive/daily" / name)


def promote(recall, learning_id="cl_20260201_002"):
    text = f"# Rules\n\n- Rule 2 is of some kind (grove:{learning_id}) ^tr0123456789\n"
    recall.append(text, recall.root / "memory/registers/rules.md")


def edit(recall, day=1):
    path = recall.log(day)
    path.write_text(path.read_text().replace("own kind", "new sort"))


def set_metadata(recall):
    (recall.root / "memory/.recall").mkdir()
    (recall.root / "memory/.recall/metadata.json").write_text("{}")


def lose_record(recall):
    (recall.root / ".grove/total-recall.jsonl").write_text("")


def record_of_another(recall):
    line = {"id": "cl_20260201_001", "at": "2026-03-09T12:00:00Z", "status": "archived", "marks": 0}
    recall.append(json.dumps(line) + "\n", recall.root / ".grove/total-recall.jsonl")


def mark_line(text):
    return lambda recall: recall.append(f"[14:00] [superseded] {text}\n")


CHANGES = {
    "status": lambda recall: recall.open().set_status(
        "cl_20260201_001", LearningStatus.ARCHIVED, "by hand"
    ),
    "superseded": lambda recall: recall.open().set_status(
        "cl_20260201_001", LearningStatus.SUPERSEDED
    ),
    "forgotten by quotation": mark_line(
        '"Rule 2 is of its own kind" - marked as no longer current'
    ),
    "forgotten by id": mark_line('"Rule" (grove:cl_20260201_001)'),
    "mark about nothing": mark_line('"Nobody has said so"'),
    "archived log": archive,
    "deleted log": lambda recall: recall.log(1).unlink(),
    "deleted newest log": lambda recall: recall.log(OLD_DAYS).unlink(),
    "edited old log": edit,
    "edited newest log": lambda recall: edit(recall, OLD_DAYS),
    "old log has grown": lambda recall: recall.append("[14:00] late\n", recall.log(1)),
    "new log of an older day": lambda recall: (recall.root / "memory/daily/2026-01-01.md").touch(),
    "promoted": promote,
    "metadata": set_metadata,
    "record lost": lose_record,
    "record of another": record_of_another,
    "unreadable log": lambda recall: (recall.log(OLD_DAYS).unlink(), recall.log(OLD_DAYS).mkdir()),
    "entry again": lambda recall: recall.append(recall.log(1).read_text()),
    "detail goes on": lambda recall: recall.append(
        "[14:00] **Pitfall** (grove:cl_20260201_001): again\n"
    ),
    "durable id": lambda recall: recall.append(
        "[14:00] **Pitfall** (grove:cl_20260201_900): short ^tr0123456789\n"
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_may_be_about_the_known_is_told_whole(recall, change):
    recall.old_logs()
    recall.ask()
    change(recall)
    assert recall.ask()[0]
    assert recall.ask()[0] is (recall.log(OLD_DAYS).is_dir())


def test_entry_that_grows_is_told_again(recall):
    recall.append("[14:00] **Pitfall** (grove:cl_20260201_800): Short\n> one\n")
    assert recall.ask() == (True, ["cl_20260201_800"])
    recall.append("> two\n")
    assert recall.ask() == (True, ["cl_20260201_800"])
    assert recall.kept["cl_20260201_800"].detail == "one\ntwo"


def test_entry_that_an_old_quotation_fits(recall):
    """The quotation was of the only text like it, and now there are two of them."""
    recall.write(SUMMARIES[0])
    recall.append(f'[14:00] [superseded] "{SUMMARIES[1]} before it" - marked\n')
    recall.day += 1
    recall.ask()
    superseded = [one for one in recall.kept.values() if one.status is LearningStatus.SUPERSEDED]
    assert len(superseded) == 1
    recall.write(f"{SUMMARIES[1]} before it runs")
    assert recall.ask()[0]
    assert all(one.status is LearningStatus.ACTIVE for one in recall.kept.values())


def test_entry_that_a_claim_in_a_register_fits(recall):
    claims = recall.root / "memory/registers/claims.md"
    recall.append(f"## [superseded: 2026-03-01]\n- **claim**: {SUMMARIES[0]}\n", claims)
    recall.day += 1
    recall.ask()
    recall.write(SUMMARIES[3])
    assert not recall.ask()[0]
    one = recall.write(SUMMARIES[0])
    assert recall.ask()[0]
    assert recall.kept[one.id].status is LearningStatus.SUPERSEDED


def test_entry_that_stands_again_below_what_was_new(recall):
    recall.old_logs()
    recall.ask()
    one = recall.write()
    assert recall.ask() == (False, [one.id])
    recall.append(f"\n[15:00] **Pitfall** (grove:{one.id}): Something else\n")
    assert recall.ask()[0]


def test_id_that_was_only_mentioned(recall):
    mention = "- What was promoted and lost (grove:cl_20260201_001)\n"
    recall.append(mention, recall.root / "memory/registers/rules.md")
    recall.append('[14:00] [superseded] "What comes" (grove:cl_20260201_002)\n')
    recall.day += 1
    recall.ask()
    for _ in range(2):
        recall.write()
        assert recall.ask()[0]


def test_record_that_comes_later_than_its_entry(recall):
    recall.old_logs()
    record = recall.root / ".grove/total-recall.jsonl"
    before = record.read_bytes()
    recall.ask()
    one = recall.write()
    after = record.read_bytes()
    record.write_bytes(before)
    assert recall.ask() == (False, [one.id])
    record.write_bytes(after[:-5])
    assert not recall.ask()[0]
    record.write_bytes(after)
    assert recall.ask()[0]
    assert recall.kept[one.id] == one


def damaged(mark):
    yield from ("", " ", "tr1", "tr1 0 ", "tr1 x []", "tr1 223132457 []", "[]", "é", "\ud800")
    yield from (mark[:-1], mark + " ", mark[1:], mark * 2, mark.replace("tr1", "tr2", 1))
    for place in range(0, len(mark), 7):
        yield mark[:place] + chr(ord(mark[place]) ^ 1) + mark[place + 1 :]


def test_damaged_mark_asks_for_everything(recall):
    recall.write()
    recall.append('[14:00] [superseded] "Caf\u00e9 \u2013 closed"\n')
    recall.ask()
    sound = recall.mark
    for mark in damaged(sound):
        answer = recall.open().changes(mark)
        assert answer.whole, mark
        assert answer.mark == sound


def asked_elsewhere(recall):
    path = recall.root / "mark"
    path.write_text(recall.mark)
    command = [sys.executable, "-c", ASK, str(recall.root), str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_only_the_newest_logs_are_read(recall):
    recall.old_logs()
    promote(recall)
    recall.ask()
    recall.append("[14:00] Called the plumber.\n")
    newest = [f"memory/daily/2026-03-{day:02}.md" for day in range(4, OLD_DAYS + 2)]
    assert asked_elsewhere(recall) == [False, [], newest]
    one = recall.write()
    assert asked_elsewhere(recall) == [False, [one.id], newest]
    recall.ask()
    assert asked_elsewhere(recall) == [False, [], newest[1:]]
    edit(recall)
    assert asked_elsewhere(recall)[0]
    assert len(asked_elsewhere(recall)[2]) == OLD_DAYS + 2


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


def earlier_day(recall, number):
    recall.day = max(recall.day - 1, 1)


def move(recall, path, number):
    path.rename(recall.root / "memory/archive/daily" / path.name)


def cut(recall, path, number):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * (number % 10) // 10])


def to_crlf(recall, path, number):
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def say_otherwise(recall, path, number):
    text = path.read_bytes().decode()
    path.write_bytes(text.replace("pump", f"pumps{number}").encode())


STEPS = {
    "write": lambda recall, number: recall.write(SUMMARIES[number % len(SUMMARIES)]),
    "archive": with_status(LearningStatus.ARCHIVED),
    "restore": with_status(LearningStatus.ACTIVE),
    "supersede": with_status(LearningStatus.SUPERSEDED),
    "next day": next_day,
    "earlier day": earlier_day,
    "foreign": lambda recall, number: recall.append(f"[13:00] Call {number}.\n"),
    "open comment": lambda recall, number: recall.append("<!--\n" if number % 2 else "-->\n"),
    "fence": lambda recall, number: recall.append("```\n"),
    "quotation": lambda recall, number: recall.append(f"> line {number}\n"),
    "metadata": lambda recall, number: recall.append("\nTags: #x | Status: Archived\n"),
    "superseded heading": lambda recall, number: recall.append("\n## [superseded: 2026-03-01]\n"),
    "pre-compact": lambda recall, number: recall.append(HARMLESS["a pre-compact block"]),
    "forget": lambda recall, number: recall.append(
        f'[13:00] [superseded] "{SUMMARIES[number % len(SUMMARIES)]}" - marked\n'
    ),
    "forget by id": lambda recall, number: recall.append(
        f'[13:00] [superseded] "it" (grove:cl_20260201_{number % 30:03})\n'
    ),
    "promote": lambda recall, number: promote(recall, f"cl_20260201_{number % 30:03}"),
    "claim": lambda recall, number: recall.append(
        f"\n## [superseded: 2026-03-01]\n- **claim**: {SUMMARIES[number % len(SUMMARIES)]}\n",
        recall.root / "memory/registers/claims.md",
    ),
    "move": on_log(move),
    "delete": on_log(lambda recall, path, number: path.unlink()),
    "cut": on_log(cut),
    "crlf": on_log(to_crlf),
    "edit": on_log(say_otherwise),
}
FREQUENT = ("write", "write", "write", "foreign", "next day")


@settings(max_examples=60, deadline=None)
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
