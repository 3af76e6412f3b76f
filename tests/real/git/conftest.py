"""Random histories of several clones through real git, with what must be true at their end."""

import os
import random
import shutil
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve
from core_worlds import events_in

from grove_backend_markdown.backend import MarkdownBackend
from grove_core import BackendContext, LearningStatus, StorageLayout, event_log
from grove_core.model.events import Skip
from grove_core.storage.paths import ProjectPaths
from grove_core.testing.samples import example_learning

START = datetime(2026, 2, 6, tzinfo=UTC)
CLONES = ("ada", "ben")
CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfsync = none
[user]
\tname = N
\temail = n@example.com
[gc]
\tauto = 0
[commit]
\tgpgsign = false
[advice]
\tdetachedHead = false
[rerere]
\tenabled = false
[merge]
\tdirectoryRenames = false
"""


class Git:
    """Runs git in one directory, away from the user's own settings."""

    def __init__(self, directory, home):
        self.directory = directory
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GROVE_HOME": str(home / ".grove"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_EDITOR": "true",
            "GIT_MERGE_AUTOEDIT": "no",
            "LC_ALL": "C.UTF-8",
        }

    def run(self, *words, fails=False):
        done = subprocess.run(
            ["git", *words],
            cwd=self.directory,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert fails or not done.returncode, (words, done.stdout, done.stderr)
        return done

    def __call__(self, *words):
        return self.run(*words).stdout.strip()


class Clone:
    """A person's clone: writes as grove does, commits, merges and resolves as a person would."""

    def __init__(self, name, history):
        self.name = name
        self.root = history.folder / name
        self.git = Git(self.root, history.folder)
        home = history.folder / name / ".git" / "grove-home"
        context = BackendContext(root=self.root, home=home, layout=StorageLayout.SPREAD)
        self.backend = MarkdownBackend(context)
        self.project = ProjectPaths(self.root, home)
        self.branch = "main"

    def commit(self):
        self.git("add", "-A")
        done = self.git.run("commit", "-qm", "work", fails=True)
        assert not done.returncode or "nothing to commit" in done.stdout, done

    def checkout(self, branch, *, new=False):
        self.git("checkout", "-q", *(["-b"] if new else []), branch)
        self.branch = branch

    def integrate(self, *words):
        """Merge, rebase, pick or pull; what git cannot merge by itself is settled by hand."""
        done = self.git.run(*words, fails=True)
        for _ in range(30):
            if not done.returncode:
                return
            done = self._settle(done)
        raise AssertionError(("endless", words, done.stdout, done.stderr))

    def _settle(self, done):
        changes = self.git("status", "--porcelain").splitlines()
        unmerged = [line for line in changes if "U" in line[:2] or line[:2] in {"AA", "DD"}]
        said = (done.args, done.stdout, done.stderr, changes)
        # A learning that is not on this branch was archived on the other: that one is kept.
        assert all(line[:2] in {"DU", "UD"} for line in unmerged), said
        assert all(line[3:].startswith(".grove/learnings/") for line in unmerged), said
        if unmerged:
            self.git("add", "-A")
        git_directory = self.root / ".git"
        if (git_directory / "rebase-merge").exists():
            return self.git.run("rebase", "--continue", fails=True)
        if (git_directory / "CHERRY_PICK_HEAD").exists():
            is_empty = not self.git.run("diff", "--cached", "--quiet", fails=True).returncode
            step = "--skip" if is_empty else "--continue"
            return self.git.run("cherry-pick", step, fails=True)
        assert unmerged, said
        return self.git.run("commit", "-qm", "settled", fails=True)


class History:
    """One random history."""

    def __init__(self, folder, template, seed):
        self.random = random.Random(f"spread {seed}")
        self.folder = folder
        shutil.copytree(template, folder)
        self.clones = [Clone(name, self) for name in CLONES]
        self.learnings = {}
        self.events = []
        self.changes = {}
        self.picked = False
        self._moment = START

    def _now(self):
        self._moment += timedelta(seconds=1)
        return self._moment

    def add(self, clone):
        learning = example_learning(len(self.learnings), session_id=clone.name)
        self.learnings[learning.id] = learning
        clone.backend.write(learning)

    def change(self, clone, statuses=tuple(LearningStatus), *, note=None):
        known = clone.backend.iterate()
        if not known:
            return
        one = self.random.choice(known)
        status = self.random.choice(statuses)
        if status is one.status:
            return
        past = self.changes.setdefault(one.id, [])
        was_seen = not past or (past[-1][0] is one.status and past[-1][2])
        words = note or f"{clone.name} {len(past)}"
        clone.backend.set_status(one.id, status, words)
        past.append((status, one.status, was_seen))

    def log(self, clone):
        event = Skip(
            ts=self._now(),
            session_id=f"{clone.name}-{len(self.events)}",
            reason="nothing to keep here",
            decider="agent",
        )
        self.events.append(event)
        event_log.append(clone.project.events_file, [event], "1")
        event_log.publish(clone.project, event.ts)

    def work(self, clone):
        # An event goes with nearly everything, as in life.
        self.random.choice([self.add, self.add, self.change])(clone)
        if self.random.random() < 0.8:
            self.log(clone)
        clone.commit()

    def step(self, number):
        clone = self.random.choice(self.clones)
        kind = self.random.choices(["work", "branch", "join", "share"], [5, 2, 3, 2])[0]
        if kind == "branch" and clone.branch == "main":
            clone.checkout(f"{clone.name}-{number}", new=True)
            self.work(clone)
        elif kind == "join" and clone.branch != "main":
            self.join(clone)
        elif kind == "share":
            self.share(clone)
        else:
            self.work(clone)

    def join(self, clone):
        """Bring a branch's work to main, in one of git's ways; the branch may go on."""
        branch = clone.branch
        how = self.random.choice(["merge", "merge", "rebase", "pick", "pick", "squash", "stash"])
        if how == "merge":
            clone.checkout("main")
            clone.integrate("merge", "-q", "--no-edit", branch)
        elif how == "rebase":
            self.picked = True
            clone.integrate("rebase", "-q", "main")
        elif how == "pick":
            self.picked = True
            clone.checkout("main")
            tip = self.random.choice([branch, f"{branch}~1"])
            if clone.git.run("rev-parse", "-q", "--verify", f"{tip}^2", fails=True).returncode:
                clone.integrate("cherry-pick", tip)
        elif how == "squash":
            self.picked = True
            clone.checkout("main")
            clone.integrate("merge", "-q", "--squash", branch)
            clone.commit()
        else:
            self.stash(clone, branch)
        if self.random.random() < 0.3 and clone.branch == "main":
            clone.checkout(branch)

    def stash(self, clone, branch):
        self.log(clone)
        self.add(clone)
        clone.git("stash", "-q", "--include-untracked")
        clone.checkout("main")
        clone.integrate("merge", "-q", "--no-edit", branch)
        clone.git("stash", "pop", "-q")
        clone.commit()

    def share(self, clone):
        """Pull and push main."""
        branch = clone.branch
        if branch != "main":
            clone.checkout("main")
        how = self.random.choice(["--no-rebase", "--rebase"])
        self.picked = self.picked or how == "--rebase"
        clone.integrate("pull", "-q", "--no-edit", how, "origin", "main")
        clone.git("push", "-q", "origin", "main")
        if branch != "main" and self.random.random() < 0.5:
            clone.checkout(branch)

    def finish(self):
        """Merge everything, everywhere."""
        for clone in self.clones:
            if clone.branch != "main":
                clone.checkout("main")
            branches = clone.git("for-each-ref", "--format=%(refname:short)", "refs/heads")
            for branch in branches.split():
                if branch != "main":
                    clone.integrate("merge", "-q", "--no-edit", branch)
            clone.integrate("pull", "-q", "--no-edit", "--no-rebase", "origin", "main")
            clone.git("push", "-q", "origin", "main")
        for clone in self.clones:
            clone.git("pull", "-q", "--ff-only", "origin", "main")

    def judge(self):
        """Compare every clone with all that was ever written."""
        heads = {clone.git("rev-parse", "HEAD^{tree}") for clone in self.clones}
        assert len(heads) == 1
        for clone in self.clones:
            found = {one.id: one for one in clone.backend.iterate()}
            assert found.keys() == self.learnings.keys(), "learnings"
            for key, learning in found.items():
                written = self.learnings[key]
                assert evolve(learning, status=written.status) == written, key
                self._judge_status(key, learning.status)
            for paths in (
                event_log.event_files(clone.project),
                event_log.shared_event_files(clone.project),
            ):
                sessions = sorted(one.session_id for one in events_in(*paths))
                assert sessions == sorted(one.session_id for one in self.events), "events"

    def _judge_status(self, key, status):
        changes = self.changes.get(key, [])
        if not changes:
            assert status is LearningStatus.ACTIVE, (key, status)
            return
        assert status in {LearningStatus.ACTIVE, *(to for to, _, _ in changes)}, (key, changes)
        if all(to is changes[0][0] for to, _, _ in changes):
            assert status is changes[0][0], (key, status, changes)
        if not self.picked and all(seen for _, _, seen in changes):
            assert status is changes[-1][0], (key, status, changes)


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """A server and its clones, to be copied."""
    folder = tmp_path_factory.mktemp("template")
    server = Git(folder, folder)
    server("init", "-q", "--bare", "-b", "main", "--template=", "server.git")
    (folder / "server.git" / "config").write_text(CONFIG + "[core]\n\tbare = true\n")
    for name in CLONES:
        root = folder / name
        server("init", "-q", "-b", "main", "--template=", name)
        (root / ".git" / "config").write_text(
            CONFIG + '[remote "origin"]\n\turl = ../server.git\n'
            "\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
        )
    first = Git(folder / CLONES[0], folder)
    grove = folder / CLONES[0] / ".grove"
    grove.mkdir()
    (grove / "config.toml").write_text('[storage]\nlayout = "spread"\n')
    first("add", "-A")
    first("commit", "-qm", "init")
    first("push", "-q", "origin", "main")
    for name in CLONES[1:]:
        Git(folder / name, folder)("pull", "-q", "origin", "main")
    return folder


@pytest.fixture
def start(template, tmp_path):
    """Begin a history."""
    return lambda seed: History(tmp_path / "history", template, seed)
