"""Learnings beside what Total Recall's hooks, its users and other programs do to the same files."""

import json
import os
import stat
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import define, evolve
from core_worlds import write_file, write_program

from grove_backend_totalrecall.backend import TotalRecallBackend
from grove_backend_totalrecall.plugin import TotalRecallSettings, Via
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
    StorageError,
    UnsupportedError,
)

NOW = datetime(2030, 1, 2, 14, 32, 5).astimezone()
TEMPLATE = "# 2030-01-02\n\n## Decisions\n\n## Corrections\n\n## Commitments\n\n## Open Loops\n\n## Notes\n"
LEARNINGS = "## Learnings\n\n"
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
OTHER = evolve(LEARNING, id="cl_20300102_bbbbbb", summary="The import reads orders one by one")
EVERYTHING = Filters(statuses=frozenset(LearningStatus))
ACTIVE, ARCHIVED, SUPERSEDED = (
    LearningStatus.ACTIVE,
    LearningStatus.ARCHIVED,
    LearningStatus.SUPERSEDED,
)


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
        return self.log_of(self.now.date())

    def log_of(self, day):
        return self.folder / "daily" / f"{day}.md"

    @property
    def text(self):
        return self.log.read_bytes().decode()

    @property
    def record(self):
        return self.context.root / ".grove" / "total-recall.jsonl"

    def open(self):
        self.now += timedelta(milliseconds=1)  # no two changes are of one moment
        return TotalRecallBackend(self.context, clock=lambda: self.now)

    def write(self, learning=LEARNING):
        return self.open().write(learning)

    def get(self, learning_id=LEARNING.id):
        return self.open().get(learning_id)

    def status(self, learning=LEARNING):
        return self.get(learning.id).status

    def finds(self, *words, filters=EVERYTHING):
        return self.open().search(Query(text=" ".join(words)), filters)

    def note(self, line, day=None):
        with self.log_of(day or self.now.date()).open("a") as log:
            log.write(f"{line}\n")

    def register(self, text, name="decisions.md"):
        (self.folder / "registers" / name).write_text(text)

    def state(self):
        """Every file but today's log."""
        root = self.context.root
        return {
            path: path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and path != self.log and ".grove" not in path.parts
        }


@pytest.fixture
def empty(make_form):
    return Memory(make_form("hand_made"))


@pytest.fixture
def memory(empty):
    """A memory that holds a learning."""
    empty.write()
    return empty


@pytest.mark.parametrize("form", ["standalone", "plugin_user", "plugin_project", "hand_made"])
def test_every_form_can_be_written_to_and_read(make_form, form):
    memory = Memory(make_form(form))
    before = memory.state()
    receipt = memory.write()
    assert (receipt.status, receipt.location) == (ReceiptStatus.STORED, f"{memory.log}:15")
    assert memory.text == f"{TEMPLATE}\n{LEARNINGS}{ENTRY}"
    assert memory.get() == LEARNING
    # Neither registers nor working memory, schema, metadata and settings are grove's to change.
    assert memory.state() == before


PRE_COMPACT = "\n## [pre-compact 10:00]\n\n- Compaction occurred at 10:00. Go on.\n\n"
LOGS = {
    "no Learnings section": (TEMPLATE, f"\n{LEARNINGS}"),
    "Learnings, then pre-compact": (f"{TEMPLATE}\n{LEARNINGS}x\n{PRE_COMPACT}", LEARNINGS),
    "no final newline": (f"{TEMPLATE}\n[10:00] half a day", f"\n\n{LEARNINGS}"),
    "CRLF": (TEMPLATE.replace("\n", "\r\n"), f"\n{LEARNINGS}"),
    "empty": ("", f"{TEMPLATE}\n{LEARNINGS}"),
    "no UTF-8": (b"# 2030-01-02\n\ncaf\xe9\n", f"\n{LEARNINGS}"),
}


@pytest.mark.parametrize("name", LOGS)
def test_the_entry_is_appended_and_nothing_else_is_changed(empty, name):
    before, between = LOGS[name]
    before = before if isinstance(before, bytes) else before.encode()
    empty.log.write_bytes(before)
    empty.log.chmod(0o640)
    look = empty.log.stat()
    empty.write()
    new = between + ENTRY
    if b"\r\n" in before:
        new = new.replace("\n", "\r\n")
    assert empty.log.read_bytes() == before + new.encode()
    after = empty.log.stat()
    assert (after.st_ino, stat.S_IMODE(after.st_mode)) == (look.st_ino, 0o640)
    assert empty.get() == LEARNING


@pytest.mark.parametrize(("zone", "day"), [("WEST10", "2030-01-01"), ("EAST-14", "2030-01-02")])
def test_day_and_time_are_local(empty, monkeypatch, zone, day):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        empty.now = datetime(2030, 1, 2, 0, 30, tzinfo=UTC).astimezone()
        empty.write()
        assert "\n[14:30] **Pitfall**" in empty.log_of(day).read_text()
        assert empty.get() == LEARNING
    finally:
        monkeypatch.undo()
        time.tzset()


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


def lead_to_what_is_theirs(log):
    theirs = log.parents[2] / "CLAUDE.local.md"
    theirs.write_text("# Theirs\n")
    log.symlink_to(theirs)


@pytest.mark.parametrize("spoil", [dangle, be_folder, be_huge, lead_out, lead_to_what_is_theirs])
def test_what_is_no_log_is_refused_and_left_alone(empty, spoil):
    spoil(empty.log)

    def look():
        found = {path: os.lstat(path) for path in empty.context.root.parent.rglob("*")}
        return {path: (one.st_mode, one.st_size, one.st_mtime_ns) for path, one in found.items()}

    before = look()
    with pytest.raises((BackendError, StorageError)):
        empty.write()
    assert look() == before
    health = empty.open().ping()
    assert (health.ok, bool(health.fix)) == (False, True)


def test_what_was_interrupted_between_log_and_record_is_completed(memory):
    memory.record.unlink()
    assert memory.get() != LEARNING
    before = memory.text
    again = memory.write()
    assert (again.status, again.location) == (ReceiptStatus.DUPLICATE, f"{memory.log}:15")
    assert (memory.get(), memory.text) == (LEARNING, before)


def test_text_that_git_ignores_stays_out_of_the_record(memory):
    root = memory.context.root
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / ".gitignore").write_text("memory/\n")
    secret = evolve(OTHER, detail="Only in the log.")
    # As Total Recall's own command leaves it.
    memory.note(f"[14:33] **Pitfall** (grove:{secret.id}): {secret.summary}")
    memory.write(secret)
    assert memory.get(secret.id) == secret
    assert secret.detail not in memory.record.read_text()


@pytest.mark.parametrize("folder", ["archive/daily/2030", "archive/projects"])
def test_a_log_that_was_moved_to_the_archive_is_still_found(memory, folder):
    archive = memory.folder / folder
    archive.mkdir(parents=True, exist_ok=True)
    memory.log.rename(archive / memory.log.name)
    memory.now += timedelta(days=40)
    assert memory.get() == LEARNING
    assert [hit.learning for hit in memory.finds("export", "orders")] == [LEARNING]
    assert memory.write().status is ReceiptStatus.DUPLICATE


@pytest.mark.parametrize(
    "line",
    [
        "- **Pitfall** (grove:cl_20300102_aaaaaa): The export reads orders one by one ^tr0123456789",
        "- The export reads orders one by one (grove:cl_20300102_aaaaaa) ^tr0123456789",
        # What only refers to a learning says nothing of it.
        "- Replaced by the newer rule, see (grove:cl_20300102_aaaaaa)",
        "## [superseded: 2030-01-03]\n\n- **superseded_by**: that (grove:cl_20300102_aaaaaa)",
    ],
)
def test_a_promoted_entry_is_the_same_learning(memory, line):
    memory.register(f"# Decisions\n\n{line}\n")
    assert memory.get() == LEARNING
    ids = [hit.learning.id for hit in memory.finds("export", "orders") if hit.complete]
    assert ids == [LEARNING.id]


def test_notes_of_others_are_found_and_theirs_to_forget(memory):
    memory.register(
        "# Tech stack\n\n## Export\n\n- **claim**: Prefetch items in exports ^tr0123456789\n"
        "- **confidence**: high\n- **evidence**: the log\n- **last_verified**: 2030-01-02\n"
    )
    assert memory.get() == LEARNING
    (hit,) = [hit for hit in memory.finds("prefetch", "items", "exports") if not hit.complete]
    assert hit.learning.summary == "Prefetch items in exports"
    assert hit.learning.confidence is Confidence.HIGH
    with pytest.raises(UnsupportedError, match="recall-forget"):
        memory.open().set_status(hit.learning.id, ARCHIVED)


def test_an_entry_whose_id_was_edited_away_is_gracefully_absent(memory):
    memory.log.write_text(memory.text.replace("(grove:cl_20300102_aaaaaa)", ""))
    assert memory.get() is None
    assert memory.open().iterate() == []
    assert memory.open().ping().ok


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("{s}", SUPERSEDED),
        ("THE EXPORT READS ORDERS ONE BY ONE.", SUPERSEDED),
        ("The export reads orders", SUPERSEDED),
        ("reads orders", ACTIVE),
        ("The exports read their orders in one go", ACTIVE),
        ("(grove:{i})", SUPERSEDED),
        ("grove:{i} and grove:cl_20300102_cccccc", ACTIVE),
    ],
)
def test_a_note_that_forgets_is_about_what_it_quotes_most_of(memory, claim, status):
    before = memory.text
    quoted = claim.format(s=LEARNING.summary, i=LEARNING.id)
    memory.note(f'[14:40] [superseded] "{quoted}" — no longer current via /recall-forget')
    assert memory.status() is status
    found = memory.finds("export", "orders", filters=Filters())
    assert [hit.learning.id for hit in found if hit.complete] == [LEARNING.id] * (status is ACTIVE)
    assert memory.text.startswith(before)


@pytest.mark.parametrize("place", ["heading", "claim", "metadata"])
def test_what_a_register_calls_superseded_is(memory, place):
    before = memory.text
    if place == "metadata":
        memory.register(f"- (grove:{LEARNING.id}): {LEARNING.summary} ^tr0123456789\n")
        write_file(
            memory.folder / ".recall" / "metadata.json",
            json.dumps({"tr0123456789": {"status": "superseded"}}),
        )
    else:
        line = f"**claim**: {LEARNING.summary}"
        line = line if place == "claim" else f"(grove:{LEARNING.id}): {LEARNING.summary}"
        memory.register(
            f"## [superseded: 2030-01-03]\n\n- {line}\n\n## [current]\n\n- **claim**: x\n"
        )
    assert memory.status() is SUPERSEDED
    assert memory.text == before
    if place != "claim":
        with pytest.raises(BackendError, match="registers or metadata"):
            memory.open().set_status(LEARNING.id, ACTIVE)


def test_grove_supersedes_and_restores_with_notes_and_changes_no_line(memory):
    lines = memory.text
    for status, word in ((SUPERSEDED, "superseded"), (ACTIVE, "restored")):
        assert memory.open().set_status(LEARNING.id, status).status is status
        assert memory.status() is status
        assert memory.text.startswith(lines)
        new = memory.text.removeprefix(lines)
        assert f'[{word}] "{LEARNING.summary}" (grove:{LEARNING.id})' in new
        lines = memory.text
    memory.open().set_status(LEARNING.id, ARCHIVED)
    assert (memory.status(), memory.text) == (ARCHIVED, lines)
    # And whoever forgets it within the same minute has the last word.
    memory.open().set_status(LEARNING.id, ACTIVE)
    memory.note(f'[14:32] [superseded] "{LEARNING.summary}" (grove:{LEARNING.id})')
    assert memory.status() is SUPERSEDED
    assert memory.open().set_status(LEARNING.id, ACTIVE) == LEARNING


@pytest.fixture
def by_client(empty, tmp_path):
    """A memory that is written to by a client, which is a script."""

    def install(script, **fields):
        script = f"echo run >>{tmp_path}/runs\n{script}"
        program = write_program(tmp_path / "programs" / "claude", script)
        environment = {**empty.context.environment, "PATH": f"{program.parent}:/usr/bin:/bin"}
        settings = TotalRecallSettings(via=Via.CLAUDE)
        empty.context = evolve(empty.context, environment=environment, settings=settings, **fields)
        return empty

    return install


@pytest.mark.parametrize(
    "script", ["echo Logged", "echo '[14:32] orders are slow' >>memory/daily/2030-01-02.md"]
)
def test_a_client_that_has_not_written_it_is_found_out(by_client, script):
    memory = by_client(script)
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
