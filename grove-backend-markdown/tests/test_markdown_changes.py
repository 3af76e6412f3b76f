"""What is new in the files is told without reading all of them again, and is never wrong."""

import json
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from zlib import crc32

import pytest
from attrs import evolve
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from grove_backend_markdown import changes as module
from grove_backend_markdown.backend import MarkdownBackend
from grove_backend_markdown.format import format_entry
from grove_backend_markdown.migrate import relocate
from grove_backend_markdown.reader import read_entries
from grove_core import (
    BackendContext,
    BackendError,
    Changes,
    LearningStatus,
    StorageLayout,
)
from grove_core.testing.samples import example_learning

OLD = "## cl_20260101_{:03}\n\n**Category:** Pitfall\n**Summary:** Old {}\n\nDetail.\n\n---\n"
PROSE = (
    OLD.format(2, 2),
    "A note by hand.\n",
    "> more of a quote\n",
    ">",
    "```\n",
    "~~~~ python\n",
    "```",
    "- **Status:** archived\n",
    "- **Tags:** more, tags\n",
    "- a list\n",
    "<<<<<<< HEAD\n",
    "=======\n",
    ">>>>>>> branch\n",
    "---\n",
    "## cl_20260101_001\n",
    "### [cl_20260206_aaaaab] again\n",
    "# Heading",
    "#",
    "\r\n",
    "\n\n",
    " ",
    "\ufeff",
    "\udce9\udcff",
    "- **Status",
)


class Keeper:
    """Keeps what a backend says is new, as an index does."""

    def __init__(self):
        self.learnings = {}
        self.mark = ""
        self.last = None

    def ask(self, backend):
        self.last = backend.changes(self.mark)
        if self.last.whole:
            self.learnings = {}
        assert len({one.id for one in self.last.learnings}) == len(self.last.learnings)
        self.learnings |= {one.id: one for one in self.last.learnings}
        self.mark = self.last.mark
        return self.last


def listed(backend):
    return {learning.id: learning for learning in backend.iterate()}


@pytest.fixture
def spread(context):
    return evolve(context, layout=StorageLayout.SPREAD)


@pytest.fixture
def file(context):
    path = context.root / ".grove" / "learnings.md"
    path.parent.mkdir()
    return path


@pytest.fixture
def keeper():
    return Keeper()


@pytest.fixture
def parsed(monkeypatch):
    """How many characters were taken apart since the list was last cleared."""
    texts = []

    def noted(text):
        texts.append(len(text))
        return read_entries(text)

    monkeypatch.setattr(module, "read_entries", noted)
    return texts


@pytest.mark.parametrize("layout", StorageLayout)
def test_what_grove_appends_is_read_alone(context, layout, keeper, parsed):
    backend = MarkdownBackend(evolve(context, layout=layout))
    for number in range(1, 30):
        backend.write(example_learning(number))
    everything = keeper.ask(backend)
    assert everything.whole
    assert list(everything.learnings) == list(backend.iterate())
    backend.write(example_learning(30))
    parsed.clear()
    news = keeper.ask(backend)
    assert not news.whole
    assert news.learnings == (example_learning(30),)
    assert sum(parsed) < 2 * len(format_entry(example_learning(30)))
    assert keeper.learnings == listed(backend)
    parsed.clear()
    assert keeper.ask(backend).learnings == ()
    assert parsed == []


def test_a_file_of_its_own_that_changes_is_read_alone(spread, keeper, parsed):
    backend = MarkdownBackend(spread)
    for number in range(1, 10):
        backend.write(example_learning(number))
    keeper.ask(backend)
    changed = backend.set_status(example_learning(5).id, LearningStatus.ARCHIVED, "decayed")
    parsed.clear()
    news = keeper.ask(backend)
    assert (news.whole, news.learnings) == (False, (changed,))
    assert len(parsed) == 1
    Path(spread.root, ".grove", "learnings", f"{example_learning(5).id}.md").unlink()
    assert keeper.ask(backend).whole
    assert keeper.learnings == listed(backend)


def sealed(value):
    body = value if isinstance(value, str) else json.dumps(value)
    return f"{crc32(body.encode('utf-8', 'replace')):08x} {body}"


@pytest.mark.parametrize(
    "damage",
    [
        lambda mark: mark[:-1],
        lambda mark: mark.replace("cl_20260206", "cl_20260207"),
        lambda mark: sealed('["0.1.0",{"":' + "[" * 100_000),
        lambda mark: sealed('["0.1.0",{"":[' + "9" * 10_000 + ",0,true,[]]}]"),
        lambda mark: sealed(["0.1.0", {"": [1, 0, True, []]}]),
        lambda mark: sealed(["0.1.0", {"": [0, 0, 0]}]),
        lambda mark: sealed(["0.0.9", json.loads(mark[9:])[1]]),
        lambda mark: "\udcff",
    ],
)
def test_a_damaged_mark_means_everything(context, damage):
    backend = MarkdownBackend(context)
    backend.write(example_learning(1))
    mark = backend.changes("").mark
    assert not backend.changes(mark).whole
    assert backend.changes(damage(mark)) == Changes(
        learnings=(example_learning(1),), mark=mark, whole=True
    )


class Files(RuleBasedStateMachine):
    """Whatever is done to the files, what is kept of the answers is what they hold."""

    def __init__(self):
        super().__init__()
        self.root = Path(mkdtemp(dir=self.base))
        self.keeper, self.every = Keeper(), Keeper()
        self.number = 0
        self.branches = []

    def teardown(self):
        shutil.rmtree(self.root)

    @initialize(entries=st.integers(0, 6))
    def begin(self, entries):
        for _ in range(entries):
            self.write(layout=StorageLayout.SINGLE)

    @property
    def directory(self):
        return self.root / ".grove"

    @property
    def file(self):
        return self.directory / "learnings.md"

    def backend(self, layout=StorageLayout.SINGLE):
        return MarkdownBackend(
            BackendContext(root=self.root, home=self.root / "home", layout=layout)
        )

    def learning(self, **changes):
        return example_learning(self.number, **changes)

    def files(self):
        return sorted(path for path in self.directory.rglob("*.md") if path.is_file())

    @rule(layout=st.sampled_from(StorageLayout))
    def write(self, layout):
        self.number += 1
        self.backend(layout).write(self.learning())

    @rule(end=st.sampled_from(["\n", ""]), is_crlf=st.booleans(), offset=st.integers(0, 3))
    def append_by_hand(self, end, is_crlf, offset):
        """Also an id that is there already."""
        self.number += 1
        number = max(1, self.number - offset)
        text = "\n" + format_entry(example_learning(number, summary="By hand")).rstrip() + end
        self.append(self.file, text.replace("\n", "\r\n") if is_crlf else text)

    @rule(data=st.data(), prose=st.sampled_from(PROSE))
    def append_prose(self, data, prose):
        self.append(data.draw(st.sampled_from([self.file, *self.files()])), prose)

    def append(self, path, text):
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            file.write(text.encode("utf-8", "surrogateescape"))

    @precondition(lambda self: self.files())
    @rule(data=st.data(), text=st.sampled_from(["", *PROSE]), length=st.integers(0, 400))
    def edit(self, data, text, length):
        path = data.draw(st.sampled_from(self.files()))
        content = path.read_bytes()
        at = data.draw(st.integers(0, len(content)))
        new = text.encode("utf-8", "surrogateescape")
        path.write_bytes(content[:at] + new + content[at + length :])

    @precondition(lambda self: listed(self.backend()))
    @rule(data=st.data(), status=st.sampled_from(LearningStatus))
    def change_status(self, data, status):
        learning_id = data.draw(st.sampled_from(sorted(listed(self.backend()))))
        with suppress(BackendError):  # a line that two entries share, where there are markers
            self.backend().set_status(learning_id, status, f"by cl_20260206_{self.number:06}")

    @precondition(lambda self: self.files())
    @rule(data=st.data(), name=st.sampled_from(["notes.md", "a.md", "zz-\udcff.md"]))
    def copy(self, data, name):
        """Ids stand in two files; a file of another name takes one's place."""
        path = data.draw(st.sampled_from(self.files()))
        (self.directory / "learnings").mkdir(exist_ok=True)
        (self.directory / "learnings" / name).write_bytes(path.read_bytes())

    @precondition(lambda self: self.directory.exists())
    @rule(layout=st.sampled_from(StorageLayout))
    def relocate(self, layout):
        context = BackendContext(root=self.root, home=self.root / "home", layout=layout)
        with suppress(BackendError):  # markers, or an id twice
            relocate(context, dry_run=False)

    @precondition(lambda self: self.directory.exists())
    @rule()
    def remember(self):
        self.branches.append({path: path.read_bytes() for path in self.files()})

    @precondition(lambda self: self.branches)
    @rule(data=st.data(), prune=st.booleans())
    def check_out(self, data, prune):
        """As git does: some files are another version, some are gone."""
        branch = data.draw(st.sampled_from(self.branches))
        for path in self.files() if prune else ():
            path.unlink()
        for path, content in branch.items():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)

    @precondition(lambda self: self.branches)
    @rule(data=st.data())
    def merge(self, data):
        """As git does with ``merge=union``, or with markers: the other side's lines come too."""
        branch = data.draw(st.sampled_from(self.branches))
        with_markers = data.draw(st.booleans())
        for path, theirs in branch.items():
            path.parent.mkdir(exist_ok=True)
            ours = path.read_bytes() if path.exists() else theirs
            if ours == theirs:
                path.write_bytes(theirs)
            elif with_markers:
                path.write_bytes(b"<<<<<<< a\n%b\n=======\n%b\n>>>>>>> b\n" % (ours, theirs))
            else:
                path.write_bytes(ours + theirs)

    @rule()
    def lose_the_mark(self):
        self.keeper.mark = self.keeper.mark[:-1]

    @rule()
    def ask(self):
        """Several changes may come between two questions."""
        self.keeper.ask(self.backend())
        assert self.keeper.learnings == listed(self.backend())

    @invariant()
    def a_keeper_who_always_asks_is_right(self):
        self.every.ask(self.backend())
        assert self.every.learnings == listed(self.backend())


def test_what_is_kept_of_the_answers_is_what_the_files_hold(tmp_path):
    Files.base = tmp_path
    run_state_machine_as_test(
        Files, settings=settings(max_examples=15, stateful_step_count=20, deadline=None)
    )
