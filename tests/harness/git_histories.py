"""Random histories of two clones through real git: all learnings and events are there at the end."""

import os
import random
import subprocess
from datetime import UTC, datetime, timedelta

from attrs import evolve
from core_worlds import events_in, run_program

from grove_backend_markdown.backend import MarkdownBackend
from grove_core import BackendContext, LearningStatus, StorageLayout, event_log
from grove_core.model.events import Skip
from grove_core.storage.paths import ProjectPaths
from grove_core.testing.samples import example_learning

START = datetime(2026, 2, 6, tzinfo=UTC)


class Clone:
    """A person's clone: writes as grove does, commits, merges and resolves as a person would."""

    def __init__(self, root):
        self.root, self.branch = root, "main"
        home = root / ".git" / "grove-home"
        context = BackendContext(root=root, home=home, layout=StorageLayout.SPREAD)
        self.backend, self.project = MarkdownBackend(context), ProjectPaths(root, home)

    def run(self, *words, fails=False):
        own = {"HOME": str(self.root), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_EDITOR": "true"}
        own |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_MERGE_AUTOEDIT": "no", "LC_ALL": "C.UTF-8"}
        identity = ("-c", f"user.name={self.root.name}", "-c", "user.email=n@example.com")
        done = run_program(
            ["git", *identity, "-c", "core.fsync=none", "-c", "gc.auto=0", *words],
            cwd=self.root,
            env={"PATH": os.environ["PATH"], **own},
            stdin=subprocess.DEVNULL,
        )
        assert fails or not done.returncode, (words, done.stdout, done.stderr)
        return done

    def git(self, *words):
        return self.run(*words).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        done = self.run("commit", "-qm", "work", fails=True)
        assert not done.returncode or "nothing to commit" in done.stdout, done

    def checkout(self, branch, *, new=False):
        self.git("checkout", "-q", *(["-b"] if new else []), branch)
        self.branch = branch

    def integrate(self, *words):
        """Merge, rebase, pick or pull; what git cannot merge by itself is settled by hand."""
        done = self.run(*words, fails=True)
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
        if (self.root / ".git" / "rebase-merge").exists():
            return self.run("rebase", "--continue", fails=True)
        if (self.root / ".git" / "CHERRY_PICK_HEAD").exists():
            is_empty = not self.run("diff", "--cached", "--quiet", fails=True).returncode
            return self.run("cherry-pick", "--skip" if is_empty else "--continue", fails=True)
        assert unmerged, said
        return self.run("commit", "-qm", "settled", fails=True)


class History:
    """One random history."""

    def __init__(self, folder, seed):
        self.random = random.Random(f"spread {seed}")
        self.learnings, self.events, self.given = {}, [], {}
        git = ("git", "-c", "init.defaultBranch=main")
        subprocess.run([*git, "init", "-q", "--bare", folder / "server.git"], check=True)
        for name in ("ada", "ben"):
            words = [*git, "clone", "-q", folder / "server.git", folder / name]
            subprocess.run(words, check=True, capture_output=True)
        self.clones = [Clone(folder / name) for name in ("ada", "ben")]
        first, second = self.clones
        (first.root / ".grove").mkdir()
        (first.root / ".grove" / "config.toml").write_text('[storage]\nlayout = "spread"\n')
        first.commit()
        first.git("push", "-q", "origin", "main")
        second.git("pull", "-q", "origin", "main")

    def work(self, clone):
        """A learning or a change of one's status; an event goes with nearly everything."""
        known = clone.backend.iterate()
        if known and self.random.random() < 0.33:
            one, status = self.random.choice(known), self.random.choice([*LearningStatus])
            if status is not one.status:
                clone.backend.set_status(one.id, status, f"by {clone.root.name}")
                self.given.setdefault(one.id, {LearningStatus.ACTIVE}).add(status)
        else:
            learning = example_learning(len(self.learnings), session_id=clone.root.name)
            self.learnings[learning.id] = learning
            clone.backend.write(learning)
        if self.random.random() < 0.8:
            number = len(self.events)
            event = Skip(
                ts=START + timedelta(seconds=number),
                session_id=f"{clone.root.name}-{number}",
                reason="nothing to keep here",
                decider="agent",
            )
            self.events.append(event.session_id)
            event_log.append(clone.project.events_file, [event], "1")
            event_log.publish(clone.project, event.ts)

    def step(self, number):
        clone = self.random.choice(self.clones)
        kind = self.random.choices(["work", "branch", "join", "share"], [5, 2, 3, 2])[0]
        if kind == "join" and clone.branch != "main":
            self.join(clone, clone.branch)
        elif kind == "share":
            self.share(clone, self.random.choice(["--no-rebase", "--rebase"]))
        else:
            if kind == "branch" and clone.branch == "main":
                clone.checkout(f"{clone.root.name}-{number}", new=True)
            self.work(clone)
            clone.commit()

    def join(self, clone, branch):
        """Bring a branch's work to main, in one of git's ways; the branch may go on."""
        how = self.random.choice(["merge", "rebase", "cherry-pick", "squash", "stash"])
        if how == "rebase":
            clone.integrate("rebase", "-q", "main")
            return
        if how == "stash":
            self.work(clone)
            clone.git("add", "-A")
            clone.git("stash", "-q")
        clone.checkout("main")
        if how == "cherry-pick":
            if clone.run("rev-parse", "-q", "--verify", f"{branch}^2", fails=True).returncode:
                clone.integrate("cherry-pick", branch)
        else:
            clone.integrate("merge", "-q", "--squash" if how == "squash" else "--no-edit", branch)
        if how == "stash" and clone.git("stash", "list"):
            clone.git("stash", "pop", "-q")
        clone.commit()
        if self.random.random() < 0.3:
            clone.checkout(branch)

    def share(self, clone, how="--no-rebase"):
        """Pull and push main."""
        branch = clone.branch
        clone.checkout("main")
        clone.integrate("pull", "-q", "--no-edit", how, "origin", "main")
        clone.git("push", "-q", "origin", "main")
        clone.checkout(branch)

    def finish(self):
        """Merge everything, everywhere."""
        for clone in self.clones:
            clone.checkout("main")
            for branch in clone.git(
                "for-each-ref", "--format=%(refname:short)", "refs/heads"
            ).split():
                clone.integrate("merge", "-q", "--no-edit", branch)
            self.share(clone)
        self.share(self.clones[0])

    def judge(self):
        """Compare every clone with all that was ever written."""
        assert len({clone.git("rev-parse", "HEAD^{tree}") for clone in self.clones}) == 1
        for clone in self.clones:
            found = {one.id: one for one in clone.backend.iterate()}
            assert found.keys() == self.learnings.keys()
            for key, one in found.items():
                assert evolve(one, status=self.learnings[key].status) == self.learnings[key]
                assert one.status in self.given.get(key, {LearningStatus.ACTIVE})
            for files in (event_log.event_files, event_log.shared_event_files):
                sessions = [one.session_id for one in events_in(*files(clone.project))]
                assert sorted(sessions) == sorted(self.events)
