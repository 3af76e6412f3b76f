"""What many tests of core begin with: a learning, a session, a paid debt, git, plugins, and processes."""

import itertools
import os
import sqlite3
import subprocess
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

from grove_core import hookimpl
from grove_core.codec import event_from_line
from grove_core.model.gate import (
    ReflectionResult,
    SkipDecider,
    SkipDecision,
)
from grove_core.model.learning import Category, Learning
from grove_core.model.session import Session
from grove_core.plugins.discovery import GENERAL_GROUP, Plugin, PluginSettings
from grove_core.plugins.limits import TimeLimits
from grove_core.plugins.manager import Plugins
from grove_core.retrieval.index import LearningIndex
from grove_core.retrieval.terms import entry_of
from grove_core.stats.cache import Numbers
from grove_core.stats.counts import statistics
from grove_core.stats.decay import DecayRule

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
_NUMBERS = itertools.count()


def events_in(*logs):
    """The events of logs that hold nothing else, each once, in the order of time."""
    there = (log.read_text() for log in logs if log.exists())
    lines = dict.fromkeys(line for text in there for line in text.splitlines())
    return sorted(map(event_from_line, lines), key=lambda one: one.ts)


def a_learning(name="cl_1", **fields):
    given = {
        "category": Category.PITFALL,
        "summary": "Migrations lock the table",
        "detail": "Add the index first, then the column.",
        "session_id": "s",
        "timestamp": NOW,
    }
    return Learning(id=name, **{**given, **fields})


def a_session(name="s", **fields):
    given = {"host": "h", "cwd": "/", "project_root": "/", "created_at": NOW, "updated_at": NOW}
    return Session(id=name, **{**given, **fields})


def put(store, session):
    """Store a session whole."""
    return store.update(session.id, lambda _: session)


def count_all(cache, logs, learnings=(), *, now=NOW, **options):
    """What logs and learnings add up to, and how learnings have fared."""
    entries = [entry_of(one, backend="markdown", personal=False) for one in learnings]

    def fill(index):
        assert index.put("project markdown", entries, "", whole=True)

    index, numbers = LearningIndex(cache, fill), Numbers(cache, [*map(str, logs)], **options)
    found = statistics(numbers, index.content, index.catalogue, now, DecayRule(90, 0.8))
    assert numbers.complete
    return found, numbers.usage()


def fork(work):
    """A process that does this and nothing else."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def codes_of(*children):
    """How each has ended; the number is negative for a signal."""
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def own_git_only(monkeypatch, home):
    """From here on git knows a name to commit under, and nothing of who runs the tests."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Dev")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "dev@example.org")


def git(*words, cwd):
    subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True)


def run_program(words, *, check=False, **options):
    """Run a program to its end; what it prints is text."""
    return subprocess.run(words, capture_output=True, text=True, check=check, **options)


def write_file(path, text=""):
    """A file, whose folder is made; gives its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def write_program(path, script="exit 0"):
    """A shell script that can be run, unless its first line names another program."""
    write_file(path, script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def install(site, name, entry_points, *, version="1.0", requires=(), suffix=".dist-info"):
    """Put a distribution into a folder, as an installer does; give the folder of its metadata."""
    folder = site / f"{name.replace('-', '_')}-{version}{suffix}"
    folder.mkdir(parents=True)
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {each}" for each in requires]
    metadata = "PKG-INFO" if suffix == ".egg-info" else "METADATA"
    (folder / metadata).write_text("\n".join(lines) + "\n\n")
    lines = []
    for group, points in entry_points.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items()), ""]
    (folder / "entry_points.txt").write_text("\n".join(lines))
    return folder


def only_site(monkeypatch, site):
    """From here on distributions are installed in this folder and nowhere else."""
    site.mkdir(exist_ok=True)
    others = [entry for entry in sys.path if not any(Path(entry).glob("*.dist-info"))]
    monkeypatch.setattr(sys, "path", [str(site), *others])


def damage_tables(path, like):
    """Overwrite the first pages of the tables of a SQLite file that have such a name."""
    connection = sqlite3.connect(path)
    query = "SELECT rootpage FROM sqlite_master WHERE name LIKE ? AND rootpage"
    pages = connection.execute(query, (like,)).fetchall()
    connection.close()
    content = bytearray(path.read_bytes())
    for (page,) in pages:
        content[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    path.write_bytes(content)


def paying(moment):
    """The events of a reflection that stored one learning of two, and of an agent's skip."""
    result = ReflectionResult(
        learning_ids=("cl_20260102_aaaaaa",),
        rejected=(),
        candidates_produced=2,
        completed_at=moment,
    )
    skip = SkipDecision(reason="only a typo", decider=SkipDecider.AGENT, timestamp=moment)
    return result, skip


def plugins_with(monkeypatch, *hooks, group=GENERAL_GROUP, seconds=30, **settings):
    """Real plugins, one for each pair of a hook's name and function."""
    found = []
    for number, (name, function) in enumerate(hooks):
        module = ModuleType(f"plugin_of_a_test_{next(_NUMBERS)}")
        setattr(module, name, hookimpl(function, specname=name))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        plugin = f"acme{number}"
        found.append(Plugin(group, plugin, module.__name__, f"{plugin}-dist", "1.0", False))
    limits = TimeLimits(load=30, registration=30, life_cycle=seconds)
    return Plugins(found, PluginSettings(**settings), lambda _: None, limits=limits)
