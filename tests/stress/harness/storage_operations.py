"""What grove stores, each as three steps: how it was, one change, and what a reader finds.

The nursery calls them in children of their own; the reader is never the process that wrote.
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from attrs import evolve, frozen

from grove_core import files
from grove_core.clock import now_utc
from grove_core.config import load_config
from grove_core.diagnostics import ROTATION_BYTES
from grove_core.memory import keeping
from grove_core.model.events import Referenced
from grove_core.model.learning import (
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
)
from grove_core.model.session import Session
from grove_core.plugins.discovery import discover
from grove_core.workspace import Workspace

NOW = datetime(2030, 1, 2, tzinfo=UTC)
WORDS = ("bd", "tissue")


def workspace():
    return Workspace(Path.cwd(), os.environ, now_utc())


def learning(number, words=30):
    return Learning(
        id=f"cl_{number:015d}",
        category=Category.PITFALL,
        summary=f"OrderStore.export_{number}() runs one query per order",
        detail="\n\n".join(f"Sentence {one} of it, {number}." for one in range(words)),
        scope=Scope.PROJECT,
        confidence=Confidence.HIGH,
        criteria_met=(Criterion.BEHAVIOR_CHANGING,),
        tags=("orders",),
        session_id="earlier",
        timestamp=NOW,
    )


def write_learning(number):
    library = workspace().library
    receipt = library.write(library.target_for(Scope.PROJECT), learning(number))
    assert receipt is not None


def found_learnings():
    return [
        [one.hit.learning.id, one.hit.learning.status.value, len(one.hit.learning.detail)]
        for one in workspace().library.iterate()
    ]


# --- session state ---------------------------------------------------------------------------


def _session():
    return Session(id="s", host="h", cwd="/0", project_root="/", created_at=NOW, updated_at=NOW)


def change_session():
    def change(stored):
        session = stored or _session()
        return evolve(session, cwd=f"/{int(session.cwd[1:]) + 1}")

    workspace().sessions.update("s", change)


def read_session():
    store = workspace().sessions
    session = store.get("s")
    return [session and session.cwd, [one.cwd for one in store.list()]]


# --- the event log ---------------------------------------------------------------------------


def log_events():
    events = [
        Referenced(ts=NOW, learning_id=f"cl_{number}", session_id="s" * 3000, how="a" * 50)
        for number in range(2)
    ]
    workspace().project_log.append(events)


def read_log():
    return [one.learning_id for one in workspace().project_log.read().events]


# --- learnings -------------------------------------------------------------------------------


def two_learnings():
    write_learning(1)
    write_learning(2)


def archive():
    note = f"seen {len(_archived())} times"
    workspace().library.set_status(learning(1).id, LearningStatus.ARCHIVED, note)


def _archived():
    text = (Path.cwd() / ".grove" / "learnings.md").read_text()
    return [line for line in text.splitlines() if "rchived" in line]


def read_statuses():
    text = (Path.cwd() / ".grove" / "learnings.md").read_text()
    others = [line for line in text.splitlines() if "Status" not in line]
    return [found_learnings(), len(others)]


# --- the outbox ------------------------------------------------------------------------------


def queue():
    number = len(read_outbox()) + 1
    workspace().outbox.put(learning(number), Path.cwd(), NOW)


def queue_again():
    """The same learning once more, as a repeated submission would."""
    workspace().outbox.put(learning(1), Path.cwd(), NOW)


def read_outbox():
    outbox = workspace().outbox
    assert outbox.unreadable() == ()
    return [one.learning.id for one in outbox.entries()]


def deliver():
    one = workspace()
    keeping.deliver(keeping.Shelves(library=one.library, outbox=one.outbox, root=Path.cwd()))


def read_delivery():
    """What was accepted is somewhere, and read as one learning wherever it is."""
    waiting = [[one.learning.id, len(one.learning.detail)] for one in workspace().outbox.entries()]
    stored = [[one, length] for one, _, length in found_learnings()]
    return sorted([*waiting, *(one for one in stored if one not in waiting)])


# --- the fast path's file --------------------------------------------------------------------


def _prefilter_file():
    return workspace().paths.cache / "fast" / "s"


def write_prefilter():
    lines = read_prefilter()
    words = [*lines[1:], f"word-{len(lines)}"]
    workspace().prefilter.write("s", words, close_waits=False)


def close_waits():
    workspace().prefilter.set_close_waits("s", close_waits=True)


def read_prefilter():
    content = files.read_bytes(_prefilter_file())
    return [] if content is None else content.decode().split("\n")


# --- the cache of installed plugins --------------------------------------------------------


def make_home():
    """Reading alone makes none."""
    files.make_directory(workspace().paths.home)


def find_plugins():
    discover(workspace().paths.home)


def read_plugin_cache():
    """Whoever reads it finds all plugins or looks for them anew."""
    caches = list(workspace().paths.cache.glob("plugins-*.json"))
    return [len(json.loads(one.read_bytes())["plugins"]) for one in caches]


# --- files that people write, too ------------------------------------------------------------


def edit_config():
    def change(text):
        number = text.count("#") + 1
        return f"{text}# change {number}\n"

    files.edit_text(Path.cwd() / ".grove" / "config.toml", change)


def read_config():
    loaded = load_config(workspace().paths.home, Path.cwd(), os.environ)
    text = (Path.cwd() / ".grove" / "config.toml").read_text()
    return [len(loaded.problems), loaded.config.gate.session_rearm_lines, text.splitlines()]


# --- grove's own log -------------------------------------------------------------------------


def full_log():
    make_home()
    workspace().paths.log_file.write_text("an older line\n" * (ROTATION_BYTES // 14))


def rotate():
    workspace().diagnostics.log("warning", "another line")


def read_diagnostics():
    """How many lines there are, in this file and the one before, and none of them torn."""
    log = workspace().paths.log_file
    both = [one for one in (log.with_name("grove.log.1"), log) if one.exists()]
    lines = [line for one in both for line in one.read_text().splitlines()]
    return [lines.count("an older line"), sum("another line" in line for line in lines)]


def nothing():
    """There is nothing yet."""


@frozen
class Operation:
    """One thing that grove stores.

    Attributes:
        prepare: Makes the old state.
        act: Changes it.
        look: Reads it.
    """

    prepare: object
    act: object
    look: object


OPERATIONS = {
    "a new session": Operation(nothing, change_session, read_session),
    "a known session": Operation(change_session, change_session, read_session),
    "the first events": Operation(nothing, log_events, read_log),
    "further events": Operation(log_events, log_events, read_log),
    "the first learning": Operation(nothing, lambda: write_learning(1), found_learnings),
    "a further learning": Operation(
        lambda: write_learning(1), lambda: write_learning(2), found_learnings
    ),
    "a status": Operation(two_learnings, archive, read_statuses),
    "a queued learning": Operation(queue_again, queue, read_outbox),
    "a learning queued twice": Operation(nothing, queue_again, read_outbox),
    "a delivery": Operation(queue_again, deliver, read_delivery),
    "words for the fast path": Operation(write_prefilter, write_prefilter, read_prefilter),
    "a flag for the fast path": Operation(write_prefilter, close_waits, read_prefilter),
    "the cache of plugins": Operation(make_home, find_plugins, read_plugin_cache),
    "the configuration": Operation(nothing, edit_config, read_config),
    "a log that is full": Operation(full_log, rotate, read_diagnostics),
}


def run(step, name):
    """Takes one step of an operation."""
    return getattr(OPERATIONS[name], step)()
