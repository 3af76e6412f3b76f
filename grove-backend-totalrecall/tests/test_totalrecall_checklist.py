"""What can go wrong beside Total Recall, case by case, through the backend on real files.

What concerns the fallback to another backend is in tests/test_totalrecall_processes.py, many
processes are in tests/stress/test_totalrecall_stress.py.
"""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import define, evolve

from grove_backend_totalrecall import writing
from grove_backend_totalrecall.backend import TotalRecallBackend
from grove_backend_totalrecall.settings import TotalRecallSettings, Via
from grove_core import (
    BackendContext,
    BackendError,
    Category,
    Confidence,
    Criterion,
    Filters,
    Learning,
    LearningStatus,
    Query,
    ReceiptStatus,
    Scope,
    UnsupportedError,
)

NOW = datetime(2030, 1, 2, 14, 32, 5).astimezone()
TEMPLATE = "# 2030-01-02\n\n## Decisions\n\n## Corrections\n\n## Commitments\n\n## Open Loops\n\n## Notes\n"
ENTRY = """\
[14:32] **Pitfall** (grove:cl_20300102_aaaaaa): The export reads orders one by one
> Call prefetch_items() first.
>
> It took 41 s.

Tags: #orders #export | Confidence: High | Ticket: SHOP-7 | Files: shop/export.py
"""
LEARNING = Learning(
    id="cl_20300102_aaaaaa",
    category=Category.PITFALL,
    summary="The export reads orders one by one",
    detail="Call prefetch_items() first.\n\nIt took 41 s.",
    session_id="session-1",
    timestamp=datetime(2030, 1, 2, 13, 32, 5, tzinfo=UTC),
    confidence=Confidence.HIGH,
    criteria_met=frozenset({Criterion.STABLE_FACT}),
    tags=("orders", "export"),
    context_files=("shop/export.py",),
    ticket_id="SHOP-7",
)
EVERYTHING = Filters(statuses=frozenset(LearningStatus))


@define
class Memory:
    """A project with Total Recall; every call opens the backend anew."""

    context: BackendContext
    now: datetime = NOW

    @property
    def folder(self):
        return self.context.root / "memory"

    @property
    def log(self):
        return self.folder / "daily" / f"{self.now:%Y-%m-%d}.md"

    @property
    def text(self):
        return self.log.read_bytes().decode()

    def open(self):
        self.now += timedelta(milliseconds=1)  # no two changes are of one moment
        return TotalRecallBackend(self.context, clock=lambda: self.now)

    def write(self, learning=LEARNING):
        return self.open().write(learning)

    def get(self, learning_id=LEARNING.id):
        return self.open().get(learning_id)

    def status(self):
        return self.get().status

    def finds(self, *words, filters=EVERYTHING):
        return self.open().search(Query(text=" ".join(words)), filters)

    def state(self):
        """Every file but today's log."""
        root = self.context.root
        return {
            path: path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and path != self.log and ".grove" not in path.parts
        }


@pytest.fixture
def memory(hand_made):
    return Memory(hand_made)


# --- detection ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["only_folder", "nothing"])
def test_a_folder_called_memory_is_not_taken(make_form, form):
    with pytest.raises(BackendError, match="not used there"):
        TotalRecallBackend(make_form(form))


@pytest.mark.parametrize("form", ["standalone", "plugin_user", "plugin_project", "hand_made"])
def test_every_form_can_be_written_to_and_read(make_form, form):
    memory = Memory(make_form(form))
    before = memory.state()
    assert memory.write().status is ReceiptStatus.STORED
    assert memory.get() == LEARNING
    # Neither registers nor working memory, schema, metadata and settings are grove's to change.
    assert memory.state() == before


def test_what_is_not_initialised_is_not_written_to(make_form):
    with pytest.raises(BackendError, match="not initialised"):
        TotalRecallBackend(make_form("not_initialised"))


# --- where the root is --------------------------------------------------------------------------


def test_from_a_subfolder_of_a_repository_the_root_is_found(hand_made, make_context):
    root = hand_made.root
    subprocess.run(["git", "init", "-q", root], check=True)
    inner = root / "shop" / "inner"
    inner.mkdir(parents=True)
    location = Memory(make_context(inner)).write().location
    assert location == f"{root}/memory/daily/2030-01-02.md:15"


def test_a_work_tree_has_a_memory_of_its_own_or_none(hand_made, make_context, tmp_path):
    root = hand_made.root
    (root / ".gitignore").write_text("memory/\n")
    identity = ["-c", "user.name=Dev", "-c", "user.email=dev@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "Start"]):
        subprocess.run(["git", "-C", root, *words], check=True)
    tree = tmp_path / "tree"
    subprocess.run(["git", "-C", root, "worktree", "add", "-q", tree], check=True)
    with pytest.raises(BackendError, match=r"not used there|not initialised"):
        TotalRecallBackend(make_context(tree))


# --- where the entry goes -----------------------------------------------------------------------

LEARNINGS = "## Learnings\n\n"
PRE_COMPACT = "\n## [pre-compact 10:00]\n\n- Compaction occurred at 10:00. Go on.\n\n"
LOGS = {
    "no Learnings section": (TEMPLATE, f"\n{LEARNINGS}"),
    "Learnings last": (f"{TEMPLATE}\n{LEARNINGS}", ""),
    "another entry last": (
        f"{TEMPLATE}\n{LEARNINGS}[10:00] **Pitfall** (grove:cl_1): It\n> x\n",
        "\n",
    ),
    "Learnings not last": (f"{LEARNINGS}text\n\n## Notes\n\ntext\n", f"\n{LEARNINGS}"),
    "pre-compact last": (TEMPLATE + PRE_COMPACT, LEARNINGS),
    "Learnings, then pre-compact": (f"{TEMPLATE}\n{LEARNINGS}x\n{PRE_COMPACT}", LEARNINGS),
    "no final newline": (f"{TEMPLATE}\n[10:00] half a day", f"\n\n{LEARNINGS}"),
    "blank at the end": (f"{TEMPLATE}\n \t", f"\n{LEARNINGS}"),
    "CRLF": (TEMPLATE.replace("\n", "\r\n"), f"\n{LEARNINGS}"),
    "CRLF, no final newline": ("# 2030-01-02\r\n\r\nx", f"\n\n{LEARNINGS}"),
    "empty": ("", f"{TEMPLATE}\n{LEARNINGS}"),
    "only line ends": ("\n\n", f"{TEMPLATE}\n{LEARNINGS}"),
    "a comment left open": (f"{TEMPLATE}\n{LEARNINGS}<!-- and\n", f"\n{LEARNINGS}"),
    "no UTF-8": (b"# 2030-01-02\n\ncaf\xe9\n", f"\n{LEARNINGS}"),
    "a byte order mark": (f"\ufeff{TEMPLATE}", f"\n{LEARNINGS}"),
}


@pytest.mark.parametrize("name", LOGS)
def test_the_entry_is_appended_and_nothing_else_is_changed(memory, name):
    before, between = LOGS[name]
    before = before if isinstance(before, bytes) else before.encode()
    memory.log.write_bytes(before)
    memory.log.chmod(0o640)
    look = memory.log.stat()
    others = memory.state()
    memory.write()
    new = between + ENTRY
    if b"\r\n" in before:
        new = new.replace("\n", "\r\n")
    assert memory.log.read_bytes() == before + new.encode()
    after = memory.log.stat()
    assert (after.st_ino, stat.S_IMODE(after.st_mode)) == (look.st_ino, 0o640)
    assert memory.get() == LEARNING
    assert memory.state() == others


def test_a_log_that_is_not_there_is_made_from_the_template(memory):
    receipt = memory.write()
    assert memory.text == f"{TEMPLATE}\n{LEARNINGS}{ENTRY}"
    assert receipt.location == f"{memory.log}:15"
    assert os.listdir(memory.log.parent).count(memory.log.name) == 1
    assert not [name for name in os.listdir(memory.log.parent) if not name.endswith(".md")]


def test_links_are_followed(memory):
    other = memory.folder / "elsewhere.txt"
    other.write_text(TEMPLATE)
    memory.log.symlink_to("../elsewhere.txt")
    memory.write()
    assert memory.log.is_symlink()
    assert other.read_text() == f"{TEMPLATE}\n{LEARNINGS}{ENTRY}"
    assert memory.get() == LEARNING


def test_a_log_made_by_many_at_once_is_one(memory):
    several = [evolve(LEARNING, id=f"cl_20300102_{number:06d}") for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(memory.write, several))
    assert [one.status for one in receipts] == [ReceiptStatus.STORED] * 8
    assert memory.text.startswith(f"{TEMPLATE}\n{LEARNINGS}")
    assert memory.text.count("# 2030-01-02\n") == 1
    assert {one.id for one in memory.open().iterate()} == {one.id for one in several}


# --- the clock ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "day", "hour"),
    [
        ("WEST10", "2030-01-01", "14:30"),
        ("EAST-14", "2030-01-02", "14:30"),
        ("UTC0", "2030-01-02", "00:30"),
    ],
)
def test_day_and_time_are_local(memory, monkeypatch, zone, day, hour):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        memory.now = datetime(2030, 1, 2, 0, 30, tzinfo=UTC).astimezone()
        memory.write()
        assert os.listdir(memory.log.parent).count(f"{day}.md") == 1
        assert f"\n[{hour}] **Pitfall**" in memory.text
        assert memory.get() == LEARNING
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_clock_is_asked_once_for_a_learning(memory):
    """At midnight the name of the log and the time in it are of one day."""
    asked = []

    def clock():
        asked.append(datetime(2030, 1, 2, 23, 59, 59).astimezone() + timedelta(seconds=len(asked)))
        return asked[-1]

    TotalRecallBackend(memory.context, clock=clock).write(LEARNING)
    assert len(asked) == 1
    assert "\n[23:59] **Pitfall**" in memory.text


def test_a_learning_of_yesterday_is_not_written_again_today(memory):
    memory.write()
    memory.now += timedelta(days=1)
    receipt = memory.write()
    assert receipt.status is ReceiptStatus.DUPLICATE
    assert not memory.log.exists()


# --- what cannot be written ---------------------------------------------------------------------


def dangle(log):
    log.symlink_to("nowhere")


def be_folder(log):
    log.mkdir()


def be_huge(log):
    log.touch()
    os.truncate(log, 16 * 1024 * 1024 + 1)


def lead_out(log):
    outside = log.parents[3] / "outside.md"
    outside.write_text("not yours\n")
    log.symlink_to(outside)


@pytest.mark.parametrize("spoil", [dangle, be_folder, be_huge, lead_out])
def test_what_is_no_log_is_refused_and_left_alone(memory, spoil):
    spoil(memory.log)
    look = os.lstat(memory.log)
    others = {
        path: stat.S_IFMT(os.lstat(path).st_mode) for path in memory.context.root.parent.rglob("*")
    }
    with pytest.raises(BackendError):
        memory.write()
    after = os.lstat(memory.log)
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (
        look.st_ino,
        look.st_size,
        look.st_mtime_ns,
    )
    assert others == {
        path: stat.S_IFMT(os.lstat(path).st_mode) for path in memory.context.root.parent.rglob("*")
    }
    health = memory.open().ping()
    assert (health.ok, bool(health.mend)) == (False, True)


@pytest.mark.parametrize("name", ["memory", "memory/daily"])
def test_a_memory_that_has_become_a_file_fails_and_nothing_is_made(memory, name):
    opened = memory.open()
    place = memory.context.root / name
    place.rename(memory.context.root / "away")
    place.write_text("in the way\n")
    with pytest.raises(BackendError):
        opened.write(LEARNING)
    assert place.read_text() == "in the way\n"
    assert not opened.ping().ok


FULL = """\
    import resource, sys
    from datetime import UTC, datetime
    from pathlib import Path
    from grove_backend_totalrecall.backend import TotalRecallBackend
    from grove_core import BackendContext, BackendError, Category, Learning

    root, limit = Path(sys.argv[1]), int(sys.argv[2])
    backend = TotalRecallBackend(
        BackendContext(root=root, home=root), clock=lambda: datetime(2030, 1, 2, 14, 32).astimezone()
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    learning = Learning(
        id="cl_20300102_aaaaaa", category=Category.PITFALL, summary="It is full", detail="x" * 500,
        session_id="s", timestamp=datetime(2030, 1, 2, tzinfo=UTC),
    )
    try:
        print(backend.write(learning).status)
    except BackendError as error:
        print("refused")
"""


@pytest.mark.parametrize("there", [True, False])
def test_a_full_disk_leaves_no_half_entry(memory, there):
    """The kernel cuts the write: a limit on the size of files, in a process of its own."""
    before = (TEMPLATE + "[09:00] somebody's note\n").encode() if there else None
    if there:
        memory.log.write_bytes(before)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL), memory.context.root, "300"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
    )
    assert (done.stdout, done.stderr) == ("refused\n", "")
    if there:
        assert memory.log.read_bytes() == before
    else:
        # At most what Total Recall's own tools would have begun the day with.
        assert not memory.log.exists() or memory.text in {"", TEMPLATE}
    assert memory.get() is None
    # There is space again.
    assert memory.write().status is ReceiptStatus.STORED
    assert memory.get() == LEARNING
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_where_the_record_cannot_be_written_nothing_is(memory):
    record = memory.context.root / ".grove" / "total-recall.jsonl"
    record.mkdir(parents=True)
    with pytest.raises(BackendError):
        memory.write()
    assert not memory.log.exists() or memory.text == TEMPLATE
    record.rmdir()
    assert memory.write().status is ReceiptStatus.STORED
    assert memory.get() == LEARNING


def test_what_was_interrupted_between_log_and_record_is_completed(memory):
    memory.write()
    (memory.context.root / ".grove" / "total-recall.jsonl").unlink()
    assert memory.get() != LEARNING
    assert memory.write().status is ReceiptStatus.DUPLICATE
    assert memory.get() == LEARNING
    assert memory.text.count("(grove:cl_20300102_aaaaaa):") == 1


# --- once ---------------------------------------------------------------------------------------


def test_a_retry_is_no_second_entry(memory):
    memory.write()
    before = memory.log.read_bytes()
    again = memory.write()
    assert (again.status, again.location) == (ReceiptStatus.DUPLICATE, f"{memory.log}:15")
    assert memory.log.read_bytes() == before


def test_many_that_try_the_same_write_it_once(memory):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: memory.write(), range(8)))
    assert memory.text.count("(grove:cl_20300102_aaaaaa):") == 1


# --- what becomes of a log ----------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["archive/daily", "archive/daily/2030", "archive/projects"])
def test_a_log_that_was_moved_to_the_archive_is_still_found(memory, folder):
    memory.write()
    archive = memory.folder / folder
    archive.mkdir(parents=True, exist_ok=True)
    memory.log.rename(archive / memory.log.name)
    assert memory.get() == LEARNING
    assert [hit.learning for hit in memory.finds("export", "orders")] == [LEARNING]
    memory.now += timedelta(days=40)
    assert memory.write().status is ReceiptStatus.DUPLICATE


def test_logs_of_all_days_are_searched(memory):
    memory.write()
    memory.now += timedelta(days=400)
    assert [hit.learning for hit in memory.finds("export", "orders")] == [LEARNING]


@pytest.mark.parametrize(
    "line",
    [
        "- **Pitfall** (grove:cl_20300102_aaaaaa): The export reads orders one by one ^tr0123456789",
        "- (grove:cl_20300102_aaaaaa): The export reads orders one by one ^tr0123456789",
        "- [14:32] **Pitfall** (grove:cl_20300102_aaaaaa): The export reads orders one by one",
    ],
)
def test_a_promoted_entry_is_the_same_learning(memory, line):
    memory.write()
    (memory.folder / "registers" / "decisions.md").write_text(f"# Decisions\n\n{line}\n")
    assert memory.get() == LEARNING
    assert [hit.learning for hit in memory.finds("export", "orders")] == [LEARNING]


def test_a_promoted_entry_outlives_its_log(memory):
    memory.write()
    memory.log.unlink()
    (memory.folder / "registers" / "decisions.md").write_text(
        "# Decisions\n\n- **Pitfall** (grove:cl_20300102_aaaaaa): Exports read one by one ^tr0123456789\n"
    )
    learning = memory.get()
    assert learning.summary == "Exports read one by one"
    assert (learning.id, learning.session_id) == (LEARNING.id, "session-1")
    assert learning.criteria_met == LEARNING.criteria_met


def test_a_promotion_that_drops_the_id_leaves_the_log(memory):
    memory.write()
    (memory.folder / "registers" / "tech-stack.md").write_text(
        "# Tech stack\n\n## Export\n\n- **claim**: Prefetch items in exports ^tr0123456789\n"
        "- **confidence**: high\n- **evidence**: the log\n- **last_verified**: 2030-01-02\n"
    )
    assert memory.get() == LEARNING
    (hit,) = [hit for hit in memory.finds("prefetch", "items", "exports") if not hit.complete]
    assert hit.learning.summary == "Prefetch items in exports"
    assert hit.learning.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("(grove:cl_20300102_aaaaaa)", ""),
        lambda text: text[: text.index("[14:32]")],
        lambda text: text.replace("grove:", "grove "),
    ],
)
def test_an_entry_whose_id_was_edited_away_is_gracefully_absent(memory, edit):
    memory.write()
    memory.log.write_text(edit(memory.text))
    assert memory.get() is None
    assert memory.open().iterate() == []
    health = memory.open().ping()
    assert health.ok
    assert LEARNING.id in health.detail


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (
            "reads orders one by one",
            "reads them singly",
            {"summary": "The export reads them singly"},
        ),
        (
            "> It took 41 s.",
            "> It took 1 s.",
            {"detail": "Call prefetch_items() first.\n\nIt took 1 s."},
        ),
        ("#orders #export", "#orders", {"tags": ("orders",)}),
        ("Confidence: High", "Confidence: Low", {"confidence": Confidence.LOW}),
        ("[14:32] **Pitfall**", "- **Convention**", {"category": Category.CONVENTION}),
        ("SHOP-7 |", "SHOP-8 |", {"ticket_id": "SHOP-8"}),
    ],
)
def test_what_a_person_has_edited_in_an_entry_is_what_it_says(memory, old, new, changes):
    memory.write()
    memory.log.write_text(memory.text.replace(old, new))
    assert memory.get() == evolve(LEARNING, **changes)


# --- what a user of Total Recall forgets --------------------------------------------------------


FORGET = '[superseded] "{}" {} marked as no longer current via /recall-forget'


@pytest.mark.parametrize("dash", ["-", "–", "—"])
@pytest.mark.parametrize(
    "claim", [LEARNING.summary, LEARNING.summary.upper(), "export reads orders one by one"]
)
def test_a_note_that_it_is_forgotten_supersedes_it(memory, dash, claim):
    memory.write()
    before = memory.text
    memory.log.write_text(f"{before}[15:00] {FORGET.format(claim, dash)}\n")
    assert memory.status() is LearningStatus.SUPERSEDED
    assert memory.finds("export", "orders", filters=Filters()) == []
    assert memory.text.startswith(before)


def test_a_note_in_a_later_log_supersedes_it_too(memory):
    memory.write()
    later = memory.folder / "daily" / "2030-02-01.md"
    later.write_text(f"# 2030-02-01\n\n[09:00] {FORGET.format(LEARNING.summary, '—')}\n")
    assert memory.status() is LearningStatus.SUPERSEDED


def test_a_note_from_before_is_about_another_one(memory):
    memory.log.write_text(f"{TEMPLATE}\n[14:32] {FORGET.format(LEARNING.summary, '—')}\n")
    memory.write()
    assert memory.status() is LearningStatus.ACTIVE


def test_a_note_by_a_clock_far_behind_counts(memory):
    """Logs do not say in which time zone a line was written: their order tells."""
    memory.write()
    memory.log.write_text(f"{memory.text}[05:10] {FORGET.format(LEARNING.summary, '—')}\n")
    assert memory.status() is LearningStatus.SUPERSEDED


def test_a_superseded_heading_in_a_register_supersedes_it(memory):
    memory.write()
    before = memory.text
    (memory.folder / "registers" / "decisions.md").write_text(
        "# Decisions\n\n## [superseded: 2030-01-03]\n\n"
        "- **Pitfall** (grove:cl_20300102_aaaaaa): The export reads orders one by one\n\n"
        "## [current]\n\n- **claim**: The export prefetches\n"
    )
    assert memory.status() is LearningStatus.SUPERSEDED
    assert memory.text == before
    with pytest.raises(BackendError, match="registers or metadata"):
        memory.open().set_status(LEARNING.id, LearningStatus.ACTIVE)


@pytest.mark.parametrize("word", ["superseded", "archived"])
def test_metadata_tells_what_became_of_a_promoted_entry(memory, word):
    memory.write()
    (memory.folder / "registers" / "decisions.md").write_text(
        "# Decisions\n\n- (grove:cl_20300102_aaaaaa): The export reads orders one by one ^tr0123456789\n"
    )
    metadata = memory.folder / ".recall" / "metadata.json"
    metadata.parent.mkdir(exist_ok=True)
    metadata.write_text(json.dumps({"tr0123456789": {"status": word, "tier": "register"}}))
    assert memory.status().value == word


def test_grove_supersedes_and_restores_with_notes_and_changes_no_line(memory):
    memory.write()
    lines = memory.text
    for status, word in (
        (LearningStatus.SUPERSEDED, "superseded"),
        (LearningStatus.ACTIVE, "restored"),
    ):
        assert memory.open().set_status(LEARNING.id, status).status is status
        assert memory.status() is status
        assert memory.text.startswith(lines)
        new = memory.text.removeprefix(lines)
        assert f'[{word}] "{LEARNING.summary}" (grove:{LEARNING.id})' in new
        lines = memory.text
    memory.open().set_status(LEARNING.id, LearningStatus.ARCHIVED)
    assert memory.status() is LearningStatus.ARCHIVED
    assert memory.text == lines


def test_what_is_forgotten_can_be_restored_and_forgotten_within_a_minute(memory):
    memory.write()
    for _ in range(2):
        with memory.log.open("a") as file:
            file.write(f"[14:32] {FORGET.format(LEARNING.summary, '—')}\n")
        assert memory.status() is LearningStatus.SUPERSEDED
        assert memory.open().set_status(LEARNING.id, LearningStatus.ACTIVE) == LEARNING


def test_a_note_of_others_is_theirs_to_forget(memory):
    memory.log.write_text(f"{TEMPLATE}\n[10:00] the kitchen sink leaks on mondays\n")
    (hit,) = memory.finds("kitchen", "sink")
    assert not hit.complete
    with pytest.raises(UnsupportedError, match="recall-forget"):
        memory.open().set_status(hit.learning.id, LearningStatus.ARCHIVED)


# --- hostile content ----------------------------------------------------------------------------

HOSTILE = {
    "headings": "# One\n## Learnings\n\n## [superseded: 2030-01-02]\n## [pre-compact 10:00]\n",
    "fences": "```\nnever closed\n~~~~\n",
    "a rule": "---\n\n***\n",
    "a comment": "<!-- never closed\n--> and <!-- whole -->",
    "an entry": "(grove:x): y\n[14:32] **Pitfall** (grove:cl_20300102_forged): it\n\n> quoted",
    "metadata": "Tags: #forged | Confidence: Low | Status: Archived",
    "a mark": '[15:00] [superseded] "The export reads orders one by one" - gone',
    "a mark with an id": '[15:00] [superseded] "x" (grove:cl_20300102_aaaaaa)',
    "a durable id": "- bullet ^tr0123456789",
    "line ends": "a\rb\r\nc\x0bd\x85e\u2028f",
}


@pytest.mark.parametrize("where", ["detail", "summary", "ticket_id", "tags", "context_files"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_content_is_read_back_and_forges_nothing(memory, name, where):
    text = HOSTILE[name]
    value = (text, "b") if where in {"tags", "context_files"} else text
    learning = evolve(LEARNING, **{where: value})
    memory.write(learning)
    memory.write(evolve(LEARNING, id="cl_20300102_bbbbbb", summary="The next one"))
    assert memory.get() == learning
    assert [one.id for one in memory.open().iterate()] == [LEARNING.id, "cl_20300102_bbbbbb"]
    assert len(memory.finds(filters=EVERYTHING)) == 2
    # Headings, for Total Recall's tools: the template's and one section.
    assert [line for line in memory.text.split("\n") if line.startswith("#")] == [
        *[line for line in TEMPLATE.split("\n") if line.startswith("#")],
        "## Learnings",
    ]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_notes_of_a_status_forge_nothing(memory, text):
    memory.write()
    memory.open().set_status(LEARNING.id, LearningStatus.SUPERSEDED, text)
    assert memory.get() == evolve(LEARNING, status=LearningStatus.SUPERSEDED)
    assert [one.id for one in memory.open().iterate()] == [LEARNING.id]
    assert memory.text.splitlines()[:-1] == (f"{TEMPLATE}\n{LEARNINGS}{ENTRY}").splitlines()


@pytest.mark.parametrize("learning_id", ["", "x): forged", "a b", "..", "cl\n", "x" * 500])
def test_an_id_that_is_none_is_refused(memory, learning_id):
    with pytest.raises(BackendError, match="no id"):
        memory.write(evolve(LEARNING, id=learning_id))
    assert not memory.log.exists()


@pytest.mark.parametrize("scope", Scope)
def test_what_the_entry_does_not_say_survives_as_well(memory, scope):
    learning = evolve(LEARNING, scope=scope, supersedes=("cl_20300101_bbbbbb",))
    memory.write(learning)
    assert memory.get() == learning


# --- through the client -------------------------------------------------------------------------

CLIENTS = {
    "missing": None,
    "unknown command": "echo 'Unknown command: /recall-log'",
    "denied": "echo 'I have not been granted permission to write'",
    "not logged in": "echo 'Not logged in' >&2; exit 1",
    "says it is done": "echo 'Logged to memory/daily/2030-01-02.md'",
    "writes something else": "echo '[14:32] orders are slow' >>memory/daily/2030-01-02.md",
    "never ends": "exec sleep 60",
}


@pytest.fixture
def by_client(memory, tmp_path, monkeypatch):
    """A memory that is written to by a client, which is a script."""
    monkeypatch.setattr(writing, "_CLAUDE_SECONDS", 0.5)

    def install(script, **fields):
        programs = tmp_path / "programs"
        programs.mkdir()
        if script is not None:
            (programs / "claude").write_text(f"#!/bin/sh\necho run >>{tmp_path}/runs\n{script}\n")
            (programs / "claude").chmod(0o755)
        environment = {**memory.context.environment, "PATH": f"{programs}:/usr/bin:/bin"}
        memory.context = evolve(
            memory.context,
            environment=environment,
            settings=TotalRecallSettings(via=Via.CLAUDE),
            **fields,
        )
        return memory

    return install


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_that_has_not_written_it_is_found_out(by_client, name):
    memory = by_client(CLIENTS[name])
    receipt = memory.write()
    assert receipt.status is ReceiptStatus.STORED
    assert "grove has written it to the log itself" in receipt.note
    assert memory.text.count("(grove:cl_20300102_aaaaaa):") == 1
    assert memory.get() == LEARNING


def test_a_client_that_has_written_it_is_believed(by_client):
    """What its one line does not say is in grove's own record."""
    memory = by_client('printf "[14:32] %s\\n" "${2#* }" >>memory/daily/2030-01-02.md')
    receipt = memory.write()
    assert (receipt.status, receipt.note) == (ReceiptStatus.STORED, "")
    assert memory.text.count("(grove:cl_20300102_aaaaaa):") == 1
    assert memory.get() == LEARNING


def test_no_client_is_started_inside_a_hook(by_client, tmp_path):
    memory = by_client("exit 0", in_hook=True)
    assert memory.write().status is ReceiptStatus.STORED
    assert not Path(tmp_path, "runs").exists()
    assert memory.get() == LEARNING
