"""Where a learning stands, whatever people and models have written about it, and whose clock it was."""

import os
import resource
import signal
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from grove_backend_totalrecall.backend import TotalRecallBackend
from grove_core import (
    BackendError,
    Category,
    Filters,
    Learning,
    LearningStatus,
    Query,
    ReceiptStatus,
)

NOW = datetime(2030, 1, 2, 14, 32, 5).astimezone()
ACTIVE, ARCHIVED, SUPERSEDED = (
    LearningStatus.ACTIVE,
    LearningStatus.ARCHIVED,
    LearningStatus.SUPERSEDED,
)
RULE = Learning(
    id="cl_20300102_aaaaaa",
    category=Category.PITFALL,
    summary="The Redis cache is flushed on deploy",
    detail="So that no page of yesterday is shown.",
    session_id="s",
    timestamp=datetime(2030, 1, 2, 13, 32, 5, tzinfo=UTC),
)
CORRECTION = evolve(
    RULE,
    id="cl_20300102_bbbbbb",
    summary="The Redis cache is flushed on deploy only in staging, production keeps it",
)
EVERYTHING = Filters(statuses=frozenset(LearningStatus))


class Memory:
    def __init__(self, context):
        self.context = context
        self.now = NOW

    @property
    def folder(self):
        return self.context.root / "memory"

    @property
    def log(self):
        return self.log_of(self.now.date())

    def log_of(self, day):
        return self.folder / "daily" / f"{day}.md"

    def open(self):
        return TotalRecallBackend(self.context, clock=lambda: self.now)

    def note(self, line, day=None):
        with (self.log if day is None else self.log_of(day)).open("a") as log:
            log.write(f"{line}\n")

    def register(self, text, name="decisions.md"):
        (self.folder / "registers" / name).write_text(text)

    def status(self, learning=RULE):
        return self.open().get(learning.id).status


@pytest.fixture
def memory(hand_made):
    made = Memory(hand_made)
    made.open().write(RULE)
    return made


@pytest.mark.parametrize(
    "line",
    [
        "- Replaced by the newer rule, see (grove:{id})",
        "- **evidence**: daily log 2030-01-02 (grove:{id})",
        "- [superseded: 2030-01-03] Redis is never flushed, see (grove:{id})",
        "## [superseded: 2030-01-03]\n\n- **claim**: Redis is never flushed\n- **superseded_by**: flushed on deploy (grove:{id})",
    ],
)
def test_what_only_refers_to_a_learning_says_nothing_of_it(memory, line):
    memory.register(f"# Decisions\n\n{line.format(id=RULE.id)}\n")
    found = memory.open().get(RULE.id)
    assert (found.summary, found.status) == (RULE.summary, ACTIVE)


@pytest.mark.parametrize("end", [" ^tr0123456789", ""])
def test_an_item_with_the_id_behind_it_is_the_promoted_learning(memory, end):
    memory.register(f"# Decisions\n\n- {RULE.summary} (grove:{RULE.id}){end}\n")
    hits = memory.open().search(Query(text="redis deploy"), EVERYTHING)
    assert [hit.learning.id for hit in hits] == [RULE.id]


@pytest.mark.parametrize("place", ["heading", "claim", "metadata"])
def test_what_a_register_calls_superseded_is(memory, place):
    if place == "heading":
        memory.register(f"## [superseded: 2030-01-03]\n\n- (grove:{RULE.id}): {RULE.summary}\n")
    elif place == "claim":
        memory.register(f"## [superseded: 2030-01-03]\n\n- **claim**: {RULE.summary}\n")
    else:
        memory.register(f"- (grove:{RULE.id}): {RULE.summary} ^tr0123456789\n")
        metadata = memory.folder / ".recall" / "metadata.json"
        metadata.parent.mkdir()
        metadata.write_text('{"tr0123456789": {"status": "superseded"}}')
    assert memory.status() is SUPERSEDED


def test_forgetting_a_rule_leaves_its_correction(memory):
    memory.open().write(CORRECTION)
    memory.note(f'[14:40] [superseded] "{RULE.summary}" - marked as no longer current')
    assert (memory.status(), memory.status(CORRECTION)) == (SUPERSEDED, ACTIVE)


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("{s}", SUPERSEDED),
        ("the redis cache is flushed on deploy.", SUPERSEDED),
        ("The Redis cache is flushed", SUPERSEDED),
        ("The Redis…", SUPERSEDED),
        ("the rule that the Redis cache is flushed on deploy", SUPERSEDED),
        ("cache", ACTIVE),
        ("Redis cache", ACTIVE),
        ("Redis caches are flushed on deployment", ACTIVE),
        ("**Pitfall** (grove:{i}): {s}", SUPERSEDED),
        ("grove:{i}: something else", SUPERSEDED),
        ("(grove:{i})", SUPERSEDED),
        ("grove:{i} and grove:cl_20300102_cccccc", ACTIVE),
    ],
)
def test_a_quotation_is_of_what_it_quotes_most_of(memory, claim, status):
    quoted = claim.format(s=RULE.summary, i=RULE.id)
    memory.note(f'[14:40] [superseded] "{quoted}" - marked as no longer current via /recall-forget')
    assert memory.status() is status


def test_a_forget_with_the_id_counts_after_what_grove_has_recorded(memory):
    for status in (ARCHIVED, ACTIVE):
        memory.open().set_status(RULE.id, status)
    memory.note(f'[14:32] [superseded] "{RULE.summary}" (grove:{RULE.id}) - via /recall-forget')
    assert memory.status() is SUPERSEDED


@pytest.mark.parametrize("named", [True, False])
def test_a_colleague_further_west_forgets_in_the_log_of_yesterday(memory, named):
    behind = f" (grove:{RULE.id})" if named else ""
    memory.note(f'[23:10] [superseded] "{RULE.summary}"{behind}', day="2030-01-01")
    assert memory.status() is SUPERSEDED


def test_what_was_forgotten_long_before_is_something_else(memory):
    memory.note(f'[23:10] [superseded] "{RULE.summary}"', day="2029-12-20")
    assert memory.status() is ACTIVE


@pytest.mark.parametrize("ahead", ["2030-01-03", "9999-12-31"])
def test_a_clock_that_is_ahead_keeps_nobody_from_restoring(memory, ahead):
    memory.note(f'[23:59] [superseded] "{RULE.summary}"', day=ahead)
    assert memory.status() is SUPERSEDED
    for status in (ACTIVE, ARCHIVED, ACTIVE):
        memory.now += timedelta(seconds=1)
        assert memory.open().set_status(RULE.id, status).status is status
    assert memory.open().ping().ok


def test_a_record_of_a_clock_that_is_ahead_is_no_obstacle(memory):
    memory.now += timedelta(minutes=5)
    memory.open().set_status(RULE.id, ARCHIVED)
    memory.now -= timedelta(minutes=5)
    memory.open().set_status(RULE.id, ACTIVE)
    assert memory.status() is ACTIVE


def test_superseding_does_not_need_the_log(memory):
    memory.now += timedelta(days=1)
    memory.log.mkdir()
    memory.open().set_status(RULE.id, SUPERSEDED)
    assert memory.status() is SUPERSEDED


@pytest.mark.parametrize(
    "target", ["memory/registers/decisions.md", "CLAUDE.local.md", ".hidden/notes.md", "tool.py"]
)
def test_a_log_that_leads_to_another_file_is_not_written_through(memory, target):
    memory.now += timedelta(days=1)
    other = memory.context.root / target
    other.parent.mkdir(exist_ok=True)
    other.write_text("# Theirs\n")
    memory.log.symlink_to(other)
    with pytest.raises(BackendError, match="no log"):
        memory.open().write(CORRECTION)
    assert other.read_text() == "# Theirs\n"


def test_a_full_disk_leaves_no_log_without_its_sections(memory):
    memory.now += timedelta(days=1)
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            memory.open().write(CORRECTION)
        except BackendError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [path.name for path in memory.log.parent.iterdir()] == ["2030-01-02.md"]


@pytest.mark.parametrize("content", ["\ufeff", "\n", "\r\n\r\n"])
def test_a_log_that_is_as_good_as_empty_gets_its_sections(memory, content):
    memory.now += timedelta(days=1)
    memory.log.write_bytes(content.encode())
    assert memory.open().write(CORRECTION).status is ReceiptStatus.STORED
    assert "## Decisions" in memory.log.read_text()


def test_text_that_git_ignores_stays_out_of_the_record(memory):
    root = memory.context.root
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / ".gitignore").write_text("memory/\n")
    # As Total Recall's own command leaves it.
    memory.note(f"[14:33] **Pitfall** (grove:{CORRECTION.id}): {CORRECTION.summary}")
    memory.open().write(CORRECTION)
    assert memory.open().get(CORRECTION.id) == CORRECTION
    assert CORRECTION.detail not in (root / ".grove" / "total-recall.jsonl").read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_one_unreadable_file_takes_no_other_with_it(memory):
    memory.register("# People\n", "people.md")
    (memory.folder / "registers" / "people.md").chmod(0)
    assert memory.open().write(CORRECTION).status is ReceiptStatus.STORED
    assert memory.status() is ACTIVE
