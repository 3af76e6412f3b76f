"""Whatever git does to branches and clones, all learnings and events are there at the end."""

import pytest
from scale import turned_up

from grove_core import LearningStatus, StorageLayout

SPREAD = StorageLayout.SPREAD
HISTORIES = [(SPREAD, one) for one in range(turned_up(6, 1000))]
HISTORIES += [(StorageLayout.SINGLE, one) for one in range(turned_up(6, 200))]


@pytest.mark.parametrize(("layout", "seed"), HISTORIES)
def test_histories_end_with_everything_everywhere(start, layout, seed):
    history = start(layout, seed)
    for number in range(history.random.randint(4, 9)):
        history.step(number)
    history.finish()
    history.judge()


# --- merges where grove is not installed --------------------------------------------------------


class Host:
    """Merges pushed branches in a bare repository, without drivers and attributes."""

    def __init__(self, history):
        self.history = history
        self.git = type(history.clones[0].git)(history.folder / "server.git", history.folder)

    def merge(self, branch, *, squash):
        done = self.git.run("merge-tree", "--write-tree", "main", branch, fails=True)
        assert not done.returncode, ("the host has a conflict", done.stdout)
        parents = ["-p", "main"] if squash else ["-p", "main", "-p", branch]
        commit = self.git("commit-tree", *parents, "-m", "merged", done.stdout.strip())
        self.git("update-ref", "refs/heads/main", commit)


def branches_of(clone):
    names = clone.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
    return [name for name in names if name != "main"]


def step_on_host(history, host, number):
    """Work on one of two branches of a clone, whose names come again as they do in life."""
    clone = history.random.choice(history.clones)
    branch = f"{clone.name}-{history.random.choice(['fix', 'try'])}"
    if branch in branches_of(clone):
        clone.checkout(branch)
    else:
        clone.checkout("main")
        clone.git("pull", "-q", "--ff-only", "origin", "main")
        clone.checkout(branch, new=True)
    for _ in range(2):
        history.log(clone)
        if history.random.random() < 0.3:
            history.change(clone, (LearningStatus.ARCHIVED,), note="decayed 2026-05-07")
        else:
            history.add(clone)
        clone.commit()
    if history.random.random() < 0.6:
        offer(history, host, clone, squash=history.random.random() < 0.4)


def offer(history, host, clone, *, squash):
    branch = clone.branch
    clone.git("push", "-q", "--force", "origin", branch)
    host.merge(branch, squash=squash)
    # A squashed branch is at its end; a merged one may go on.
    if squash or history.random.random() < 0.5:
        clone.checkout("main")
        clone.git("branch", "-q", "-D", branch)


@pytest.mark.parametrize("seed", range(turned_up(6, 100)))
def test_hosted_merges_of_spread_files_know_no_conflict(start, seed):
    history = start(SPREAD, f"host {seed}")
    host = Host(history)
    for number in range(history.random.randint(4, 6)):
        step_on_host(history, host, number)
    for clone in history.clones:
        for branch in branches_of(clone):
            clone.checkout(branch)
            offer(history, host, clone, squash=False)
    for clone in history.clones:
        clone.git("checkout", "-q", "main")
        clone.git("pull", "-q", "--ff-only", "origin", "main")
    history.judge()
