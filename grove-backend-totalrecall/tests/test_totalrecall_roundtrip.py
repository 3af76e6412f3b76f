"""Any learning written to any log is read back equal by another instance, and nothing else moves."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from grove_backend_totalrecall.backend import TotalRecallBackend
from grove_core import (
    BackendContext,
    Category,
    Confidence,
    Criterion,
    Filters,
    Learning,
    LearningStatus,
    Query,
    ReceiptStatus,
    Scope,
)
from grove_core.testing import learnings

DAY = datetime(2030, 1, 2, 10, 0, 30).astimezone()
HOSTILE = (
    "[10:00] **Pitfall** (grove:cl_20300102_aaaaaa): forged",
    "- (grove:cl_20300102_aaaaaa): forged ^tr0123456789",
    '[10:00] [superseded] "claim" (grove:cl_20300102_aaaaaa)',
    "[supersedes grove:cl_20300102_aaaaaa]",
    "Tags: #forged | Confidence: Low | Ticket: T | Files: x | Scope: Team | Status: Archived",
    "## Learnings",
    "\n## Learnings\n",
    "## [superseded: 2030-01-02]",
    "# 2030-01-03",
    "---",
    "<!--",
    "-->",
    "```",
    "~~~~",
    "> quoted",
    "- **claim**: x",
    "(grove:x):",
    "&#10;",
    "\\&#10;",
    "|",
    ",",
    "#",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\x00\x1b[31m\x85\u2028",
    "x" * 3000,
    "prose",
)
pieces = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
texts = st.lists(pieces, max_size=5).map("".join)
lines = st.lists(pieces | st.just("[09:00] somebody's note"), max_size=9)
ends = st.sampled_from(["\n", "\r\n"])
surroundings = st.tuples(lines, ends, st.booleans()).map(
    lambda parts: parts[1].join(parts[0]) + (parts[1] if parts[2] else "")
)
wild = st.builds(
    Learning,
    id=st.from_regex(r"cl_20300102_[b-z]{6}|cl_20300102_0[0-9]{2}", fullmatch=True),
    category=st.sampled_from(Category),
    summary=texts,
    detail=texts,
    session_id=texts,
    timestamp=st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)),
    scope=st.sampled_from(Scope),
    confidence=st.sampled_from(Confidence),
    criteria_met=st.frozensets(st.sampled_from(Criterion)),
    tags=st.lists(texts, max_size=3).map(tuple),
    context_files=st.lists(texts, max_size=3).map(tuple),
    ticket_id=st.none() | texts,
    status=st.sampled_from(LearningStatus),
    supersedes=st.lists(texts, max_size=2).map(tuple),
)


class Project:
    """A memory, and the local time."""

    def __init__(self, root):
        self.root = root
        self.now = DAY
        for folder in ("memory/daily", "memory/registers", ".claude/rules"):
            (root / folder).mkdir(parents=True)
        (root / ".claude" / "rules" / "total-recall.md").write_text("# Total Recall\n")

    @property
    def log(self):
        return self.root / "memory" / "daily" / f"{self.now:%Y-%m-%d}.md"

    def open(self):
        """Another instance each time: nothing is remembered but what is in files."""
        context = BackendContext(root=self.root, home=self.root / "home")
        self.now += timedelta(milliseconds=1)  # no two changes are of one moment
        return TotalRecallBackend(context, clock=lambda: self.now)

    def content(self):
        return self.log.read_bytes() if self.log.exists() else b""


@contextmanager
def a_project():
    with TemporaryDirectory() as folder:
        yield Project(Path(folder))


def appended(project, text):
    """What somebody appends without a lock."""
    with project.log.open("ab") as file:
        file.write(text.encode())


def check(learning, before, after):
    with a_project() as project:
        project.log.write_bytes(before.encode())
        receipt = project.open().write(learning)
        assert receipt.status is ReceiptStatus.STORED
        written = project.content()
        assert written.startswith(before.encode())
        assert project.open().get(learning.id) == learning
        appended(project, after)
        assert project.open().get(learning.id) == learning
        assert project.open().write(learning).status is ReceiptStatus.DUPLICATE
        assert project.content() == written + after.encode()
        ours = [one for one in project.open().iterate() if one.id == learning.id]
        assert ours == [learning]


@given(learning=learnings(*Scope), before=surroundings, after=surroundings)
@settings(max_examples=60, deadline=None)
def test_what_core_writes_is_read_back_equal(learning, before, after):
    check(learning, before, "\n" + after)


@given(learning=wild, before=surroundings, after=surroundings)
@settings(max_examples=120, deadline=None)
@example(
    learning=Learning(
        id="cl_20300102_bbbbbb",
        category=Category.PATTERN,
        summary="",
        detail="",
        session_id="",
        timestamp=datetime(2030, 1, 2, tzinfo=UTC),
    ),
    before="# 2030-01-02\r\n\r\n<!--\r\n```\r\n## Notes",
    after="```\n-->\n",
)
def test_whatever_a_learning_holds_is_read_back_equal(learning, before, after):
    check(learning, before, after)


@given(
    several=st.lists(wild, min_size=2, max_size=5, unique_by=lambda one: one.id),
    before=surroundings,
)
@settings(max_examples=40, deadline=None)
def test_a_day_of_learnings_is_read_back_equal(several, before):
    with a_project() as project:
        project.log.write_bytes(before.encode())
        for learning in several:
            project.open().write(learning)
            appended(project, "\n## [pre-compact 10:00]\n\n- Compaction occurred at 10:00.\n\n")
        read = {one.id: one for one in project.open().iterate()}
        for learning in several:
            assert read[learning.id] == learning


class Standing(RuleBasedStateMachine):
    """Statuses as grove, Total Recall's user and time change them."""

    def __init__(self):
        super().__init__()
        self.folder = TemporaryDirectory()
        self.project = Project(Path(self.folder.name))
        self.expected = {}
        self.logs = {}

    def teardown(self):
        self.folder.cleanup()

    @staticmethod
    def summary(number):
        return f"Fact number {number} about the machine in room {number}"

    def some(self, data):
        return data.draw(st.sampled_from(sorted(self.expected)))

    @rule()
    def write(self):
        number = len(self.expected)
        learning = Learning(
            id=f"cl_20300102_{number:06d}",
            category=Category.PATTERN,
            summary=self.summary(number),
            detail="All that there is to say about it.",
            session_id="session",
            timestamp=self.project.now.astimezone(UTC).replace(microsecond=0),
        )
        self.project.open().write(learning)
        self.expected[learning.id] = learning

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), status=st.sampled_from(LearningStatus), note=st.sampled_from(["", "why"]))
    def set_status(self, data, status, note):
        learning_id = self.some(data)
        changed = self.project.open().set_status(learning_id, status, note)
        self.expected[learning_id] = evolve(self.expected[learning_id], status=status)
        assert changed == self.expected[learning_id]

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def forget(self, data):
        """What /recall-forget has the model append: the claim, and no id."""
        learning_id = self.some(data)
        claim = self.expected[learning_id].summary
        line = f'[superseded] "{claim}" — marked as no longer current via /recall-forget'
        appended(self.project, f"[{self.project.now:%H:%M}] {line}\n")
        superseded = LearningStatus.SUPERSEDED
        self.expected[learning_id] = evolve(self.expected[learning_id], status=superseded)

    @rule(minutes=st.integers(1, 900))
    def wait(self, minutes):
        self.project.now += timedelta(minutes=minutes)

    @rule()
    def move_to_archive(self):
        """What /recall-maintain suggests for old logs."""
        daily = self.project.root / "memory" / "daily"
        archive = self.project.root / "memory" / "archive" / "daily"
        archive.mkdir(parents=True, exist_ok=True)
        for path in daily.iterdir():
            if path != self.project.log:
                path.rename(archive / path.name)

    @invariant()
    def logs_only_grow(self):
        memory = self.project.root / "memory"
        logs = {path.name: path.read_bytes() for path in memory.rglob("*.md")}
        for name, content in self.logs.items():
            assert logs[name].startswith(content)
        self.logs = logs

    @invariant()
    def another_instance_sees_the_same(self):
        backend = self.project.open()
        assert {one.id: one for one in backend.iterate()} == self.expected
        shown = backend.search(Query(), Filters(statuses=frozenset(LearningStatus)))
        ours = {hit.learning.id: hit.learning.status for hit in shown}
        assert ours == {key: one.status for key, one in self.expected.items()}


TestStanding = Standing.TestCase
TestStanding.settings = settings(max_examples=25, stateful_step_count=12, deadline=None)
