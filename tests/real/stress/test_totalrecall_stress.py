"""Processes of grove and a shell that knows of no locks, all writing to one daily log."""

import re
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest
from attrs import define, field
from scale import turned_up

from grove_backend_totalrecall.backend import TotalRecallBackend
from grove_core import BackendContext

NAMES = "abcd"[: turned_up(3, 4)]  # of the processes
ENTRIES = turned_up(30, 400)  # of each process, six lines each
BLOCKS = turned_up(50, 1_000)  # of the shell at least; it goes on as long as grove does
RACES = turned_up(20, 400)
SECTIONS = ("Decisions", "Corrections", "Commitments", "Open Loops", "Notes")

# Five writes to a block, as Total Recall's hook before a compaction makes them.
LOOP = """\
until [ -e "$2" ]; do :; done
number=0
until [ "$number" -ge "$4" ] && [ -e "$3" ]; do
    echo "" >>"$1"
    echo "## [pre-compact 10:00]" >>"$1"
    echo "" >>"$1"
    echo "- Compaction occurred at 10:00. This is number $number." >>"$1"
    echo "" >>"$1"
    number=$((number + 1))
    [ "$number" -le "$4" ] || sleep 0.02
done
echo "$number"
"""
# The same hook on days without a log. Its own `>` would empty a log that was made after it looked,
# whoever made it; with noclobber what it makes can still be empty for a moment.
CREATE = """\
set -C
log=$1
template=$2
shift 2
for sign; do
    until [ -e "$sign" ]; do :; done
    [ -f "$log" ] || { printf '%s' "$template" >"$log"; } 2>/dev/null
    echo "- Compaction occurred at 10:00." >>"$log"
    echo made
done
"""
WRITER = """\
    import os, sys, time
    from datetime import UTC, datetime
    from pathlib import Path
    from grove_backend_totalrecall.backend import TotalRecallBackend
    from grove_core import BackendContext, Category, Learning, Scope

    root, name, count, signs = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    context = BackendContext(root=root, home=root / "home", environment={"HOME": str(root)})
    backend = TotalRecallBackend(context, clock=lambda: datetime(2030, 1, 2, 10, 0).astimezone())
    backend.ping()
    print("ready", flush=True)
    for number in range(count):
        sign = Path(signs[number] if len(signs) > 1 else signs[0])
        while not sign.exists():
            time.sleep(0.0002)
        receipt = backend.write(
            Learning(
                id=f"cl_20300102_{name}{number:04d}",
                category=Category.PITFALL,
                summary=f"number {number} of {name}",
                detail=f"first line of {name}, {number}\\n\\nlast line of {name}, {number}",
                session_id=f"session-{name}",
                timestamp=datetime(2030, 1, 2, 10, 0, number % 60, tzinfo=UTC),
                scope=Scope.PROJECT,
                tags=(f"tag-{name}",),
            )
        )
        print(receipt.status.value, receipt.location, flush=True)
"""


@define
class Race:
    """A memory on which writers wait for a sign."""

    root: object
    started: list = field(factory=list)

    @property
    def log(self):
        return self.root / "memory" / "daily" / "2030-01-02.md"

    def writers(self, count, *signs):
        """Starts grove's processes, and waits until each is ready to write."""
        writer = textwrap.dedent(WRITER)
        writers = [
            self.start(sys.executable, "-c", writer, self.root, name, count, *signs)
            for name in NAMES
        ]
        for one in writers:
            assert one.stdout.readline() == "ready\n"
        return writers

    def shell(self, script, *arguments):
        return self.start("/bin/sh", "-c", script, "sh", *arguments)

    def start(self, *words):
        process = subprocess.Popen([*map(str, words)], stdout=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def close(self):
        """Nobody waits for a sign for ever."""
        for one in self.started:
            one.kill()
            one.communicate()


@pytest.fixture
def race(tmp_path):
    for folder in ("memory/daily", "memory/registers", ".claude/rules"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".claude" / "rules" / "total-recall.md").write_text("# Total Recall\n")
    with closing(Race(tmp_path)) as started:
        yield started


def ended(writers):
    """What each writer was told, line by line."""
    answers = [one.communicate(timeout=120)[0].splitlines() for one in writers]
    assert [one.returncode for one in writers] == [0] * len(writers)
    return answers


def entry(name, number):
    return (
        f"**Pitfall** (grove:cl_20300102_{name}{number:04d}): number {number} of {name}\n"
        f"> first line of {name}, {number}\n>\n> last line of {name}, {number}\n\n"
        f"Tags: #tag-{name} | Confidence: Medium\n"
    )


def test_nothing_is_lost_or_torn_beside_a_shell(race):
    sign, end = race.root / "go", race.root / "end"
    race.log.write_text("# 2030-01-02\n\n" + "\n".join(f"## {name}\n" for name in SECTIONS))
    before = race.log.read_text()
    writers = race.writers(ENTRIES, sign)
    shell = race.shell(LOOP, race.log, sign, end, BLOCKS)
    sign.touch()
    answers = ended(writers)
    end.touch()
    blocks = int(shell.communicate(timeout=60)[0])
    assert blocks >= BLOCKS

    text = race.log.read_text()
    assert text.startswith(before)
    for number in range(blocks):
        line = f"- Compaction occurred at 10:00. This is number {number}.\n"
        assert text.count(f"\n{line}") == 1
    assert text.count("## [pre-compact 10:00]\n") == blocks
    for name in NAMES:
        for number in range(ENTRIES):
            assert text.count(f"[10:00] {entry(name, number)}") == 1
    check_answers(answers, text)
    check_reading(race)


def check_answers(answers, text):
    """Every receipt says stored, and its line was the entry's: lines before it stay."""
    lines = text.split("\n")
    for name, told in zip(NAMES, answers, strict=True):
        for number, answer in enumerate(told):
            status, _, location = answer.partition(" ")
            assert status == "stored"
            line = int(location.rpartition(":")[2])
            assert f"(grove:cl_20300102_{name}{number:04d}):" in lines[line - 1]


def check_reading(race):
    """Another process reads all of them back as they were, and each was recorded once."""
    record = (race.root / ".grove" / "total-recall.jsonl").read_text()
    ids = re.findall(r'"id": "(\w+)"', record)
    assert len(ids) == len(set(ids)) == record.count("\n") == len(NAMES) * ENTRIES
    backend = TotalRecallBackend(BackendContext(root=race.root, home=race.root / "home"))
    learnings = backend.iterate()
    assert len(learnings) == len(NAMES) * ENTRIES
    for one in learnings:
        name, number = one.session_id[-1], int(one.id[-4:])
        assert one.summary == f"number {number} of {name}"
        assert one.detail == f"first line of {name}, {number}\n\nlast line of {name}, {number}"
        assert one.tags == (f"tag-{name}",)


def template():
    return "# 2030-01-02\n\n" + "\n".join(f"## {one}\n" for one in SECTIONS)


def signs(race):
    return [race.root / f"go-{number}" for number in range(RACES)]


def rounds(race, writers):
    """Lets all of them find no log in the same moment, over and over; gives what they make."""
    for number, sign in enumerate(signs(race)):
        race.log.unlink(missing_ok=True)
        sign.touch()
        told = [one.stdout.readline().split(" ")[0].strip() for one in writers]
        assert told == ["stored"] * len(NAMES)
        yield race.log
        text = race.log.read_text()
        for name in NAMES:
            assert text.count(f"[10:00] {entry(name, number)}") == 1
    assert ended(writers) == [[]] * len(NAMES)


@pytest.mark.parametrize("beside", ["nobody", "a shell"])
def test_nothing_is_lost_where_many_make_the_log_of_a_day(race, beside):
    writers = race.writers(RACES, *signs(race))
    shell = beside == "a shell" and race.shell(CREATE, race.log, template(), *signs(race))
    for log in rounds(race, writers):
        assert not shell or shell.stdout.readline() == "made\n"
        text = log.read_text()
        assert text.startswith(template())
        assert text.count("- Compaction occurred at 10:00.\n") == int(bool(shell))
        # A log that the shell has made and not yet filled looks empty, and another one fills it.
        assert 1 <= text.count("# 2030-01-02\n") <= (2 if shell else 1)
        assert [one.name for one in log.parent.iterdir()] == [log.name]
