"""What is asked of real repositories, ordinary, odd and hostile ones."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from grove_core import gitinfo
from grove_core.gitinfo import BranchHistory, WorkTree

LATIN = os.fsdecode(b"caf\xe9.txt")
PATIENT = 30.0


class Repository:
    """A real repository."""

    def __init__(self, top, *options):
        self.top = top
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", *options)

    def git(self, *arguments, check=True, **options):
        done = subprocess.run(
            ["git", "-C", self.top, *arguments],
            capture_output=True,
            check=check,
            **options,
        )
        return os.fsdecode(done.stdout).strip()

    def write(self, path, content="one\ntwo\n"):
        full = self.top / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, subject="a commit"):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def own_settings_only(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Dev")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "dev@example.org")


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "work")


def tree_of(repository):
    tree = gitinfo.read_work_tree(repository.top, PATIENT)
    assert isinstance(tree, WorkTree)
    return tree


def lines_since(repository, base):
    return gitinfo.count_changed_lines(repository.top, base, PATIENT)


# The top.


def test_the_top_is_found_without_git(repository, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    deep = repository.top / "a" / "b"
    deep.mkdir(parents=True)
    assert gitinfo.find_top(deep) == gitinfo.find_top(repository.top) == repository.top
    assert gitinfo.find_top(tmp_path / "gone" / "away") is None


def test_the_top_of_a_linked_work_tree_and_of_a_submodule(repository, tmp_path):
    repository.commit()
    repository.git("worktree", "add", "-q", tmp_path / "linked")
    assert gitinfo.find_top(tmp_path / "linked") == tmp_path / "linked"
    other = Repository(tmp_path / "other")
    other.commit()
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", other.top, "sub")
    assert gitinfo.find_top(repository.top / "sub") == repository.top / "sub"


# The state.


def test_a_repository_without_commits(repository):
    repository.write("a")
    repository.write("b")
    repository.git("add", "b")
    assert tree_of(repository) == WorkTree(head="", branch="main", changed=("b",), untracked=("a",))
    assert lines_since(repository, "") == {"b": 2}


def test_an_unchanged_repository(repository):
    repository.write("a")
    head = repository.commit()
    assert tree_of(repository) == WorkTree(head=head, branch="main", changed=(), untracked=())
    assert lines_since(repository, head) == {}


def test_every_kind_of_change(repository):
    for name in ("edited", "staged", "deleted", "renamed", "made executable", "to link"):
        repository.write(name, f"{name}\n2\n")
    repository.write(".gitignore", "*.log\n")
    head = repository.commit()
    repository.write("edited", "other\n2\n")
    repository.write("staged", "staged\n2\n3\n")
    repository.git("add", "staged")
    repository.git("rm", "-q", "deleted")
    repository.git("mv", "renamed", "new name")
    (repository.top / "made executable").chmod(0o755)
    (repository.top / "to link").unlink()
    (repository.top / "to link").symlink_to("edited")
    repository.write("ignored.log")
    repository.write("deep/er/untracked")
    tree = tree_of(repository)
    assert set(tree.changed) == {
        *("edited", "staged", "deleted", "renamed", "new name", "made executable", "to link"),
    }
    assert tree.untracked == ("deep/er/untracked",)
    assert lines_since(repository, head) == {
        "edited": 2,
        "staged": 1,
        "deleted": 2,
        "renamed": 2,
        "new name": 2,
        "made executable": 0,
        "to link": 3,
    }


@pytest.mark.parametrize(
    "name",
    [
        "with blanks  in it",
        " leading",
        "trailing ",
        "new\nline",
        "tab\tand\\backslash",
        'a "quoted" one',
        "ünïcödé/文件",
        LATIN,
        "-n",
        ":(glob)*",
        "? x",
        "1 .M N... fake",
        "#hash",
    ],
)
def test_odd_file_names(repository, name):
    repository.write(name)
    assert tree_of(repository).untracked == (name,)
    head = repository.commit()
    repository.write(name, "one\nchanged\n")
    tree = tree_of(repository)
    assert (tree.head, tree.changed, tree.untracked) == (head, (name,), ())
    assert lines_since(repository, head) == {name: 2}
    repository.git("checkout", "-q", "-b", "topic")
    repository.commit("subject")
    repository.git("branch", "-q", "-f", "main", head)
    assert gitinfo.read_branch_history(repository.top, PATIENT).files == (name,)


def test_commits_made_since_count_and_binary_files_do_not(repository):
    repository.write("a", "1\n")
    base = repository.commit()
    repository.write("a", "1\n2\n")
    repository.write("picture", b"\0\1\2" * 100)
    repository.commit()
    repository.write("a", "1\n2\n3\n")
    assert lines_since(repository, base) == {"a": 2}


def test_a_detached_head_and_a_conflict(repository):
    repository.write("a", "base\n")
    first = repository.commit()
    repository.git("checkout", "-q", "-b", "side")
    repository.write("a", "side\n")
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write("a", "main\n")
    repository.commit()
    repository.git("merge", "-q", "side", check=False)
    assert tree_of(repository).changed == ("a",)
    repository.git("merge", "--abort")
    repository.git("checkout", "-q", "--detach", first)
    tree = tree_of(repository)
    assert (tree.head, tree.branch) == (first, "")


def test_a_subdirectory_is_told_of_the_whole_work_tree(repository):
    repository.write("sub/a")
    repository.write("b")
    tree = gitinfo.read_work_tree(repository.top / "sub", PATIENT)
    assert set(tree.untracked) == {"sub/a", "b"}


def test_a_dirty_submodule_is_no_change(repository, tmp_path):
    other = Repository(tmp_path / "other")
    other.write("a")
    other.commit()
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", other.top, "sub")
    head = repository.commit()
    repository.write("sub/a", "changed\n")
    repository.write("sub/new", "new\n")
    assert tree_of(repository).changed == ()
    assert lines_since(repository, head) == {}


# The branch.


def test_the_history_of_a_branch(repository):
    repository.write("old")
    repository.commit("on main")
    assert gitinfo.read_branch_history(repository.top, PATIENT) == BranchHistory()
    repository.git("checkout", "-q", "-b", "topic")
    repository.write("new")
    repository.commit("first\n\nwith a body")
    repository.write("new", "again\n")
    repository.write("old", "again\n")
    repository.commit("second: é")
    repository.git("commit", "-q", "--allow-empty", "-m", "third")
    assert gitinfo.read_branch_history(repository.top, PATIENT) == BranchHistory(
        subjects=("third", "second: é", "first"), files=("new", "old")
    )


@pytest.mark.parametrize("default", ["master", "main"])
def test_the_default_branch_may_be_remote(tmp_path, default):
    origin = Repository(tmp_path / "origin")
    origin.git("symbolic-ref", "HEAD", f"refs/heads/{default}")
    origin.commit("theirs")
    subprocess.run(["git", "clone", "-q", origin.top, tmp_path / "clone"], check=True)
    clone = Repository(tmp_path / "clone")
    clone.git("checkout", "-q", "-b", "topic")
    clone.git("branch", "-q", "-D", default)
    clone.commit("ours")
    assert gitinfo.read_branch_history(clone.top, PATIENT).subjects == ("ours",)


def test_a_repository_without_commits_has_no_history(repository):
    assert gitinfo.read_branch_history(repository.top, PATIENT) == BranchHistory()


# Faults.


def test_no_git_no_answer(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    ask_everything(repository, nothing=True)


def test_no_repository_no_answer(tmp_path):
    tmp_path.joinpath("plain").mkdir()
    assert gitinfo.read_work_tree(tmp_path / "plain", PATIENT) is None
    assert gitinfo.read_work_tree(tmp_path / "gone", PATIENT) is None
    assert gitinfo.count_changed_lines(tmp_path / "plain", "", PATIENT) is None


def test_an_unknown_commit_is_no_answer(repository):
    repository.commit()
    for base in ("0" * 40, "no-such-branch", "--output=made"):
        assert lines_since(repository, base) is None
    assert not list(repository.top.glob("made*"))


def test_a_git_that_hangs_is_left(repository, tmp_path, monkeypatch):
    program(tmp_path / "bin" / "git", "exec sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert gitinfo.read_work_tree(repository.top, 0.1) is None


def test_a_hook_of_another_repository_does_not_mislead(repository, tmp_path, monkeypatch):
    """While git runs a hook, its variables name the repository of that hook."""
    other = Repository(tmp_path / "other")
    other.write("theirs")
    other.commit("theirs")
    repository.write("ours")
    for name, value in {
        "GIT_DIR": other.top / ".git",
        "GIT_WORK_TREE": other.top,
        "GIT_INDEX_FILE": other.top / ".git" / "index",
        "GIT_PREFIX": "x/",
    }.items():
        monkeypatch.setenv(name, str(value))
    assert tree_of(repository) == WorkTree(head="", branch="main", changed=(), untracked=("ours",))


def test_nothing_is_written_into_the_repository(repository):
    for name in "ab":
        repository.write(name)
    repository.commit()
    repository.commit()
    repository.write("a", "one\nchanged\n")
    os.utime(repository.top / "b", (1, 1))
    before = snapshot(repository.top)
    ask_everything(repository)
    assert snapshot(repository.top) == before


def snapshot(top):
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in top.rglob("*")
        if path.is_file()
    }


def ask_everything(repository, *, nothing=False):
    tree = gitinfo.read_work_tree(repository.top, PATIENT)
    history = gitinfo.read_branch_history(repository.top, PATIENT)
    lines = gitinfo.count_changed_lines(repository.top, "HEAD~1", PATIENT)
    if nothing:
        assert (tree, history, lines) == (None, BranchHistory(), None)
    return tree, history, lines


# Hostile settings.


def program(path: Path, body):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


SETTINGS = {
    "core.fsmonitor": ["status"],
    "diff.external": ["diff"],
    "diff.evil.command": ["diff"],
    "diff.evil.textconv": ["diff"],
    "gpg.program": ["log"],
    "core.hooksPath": ["status"],
    "remote.origin.uploadpack": ["fetch"],
}


@pytest.fixture
def hostile(tmp_path):
    """A repository whose own settings name a program wherever git may run one."""
    repository = Repository(tmp_path / "work")
    repository.write(".gitattributes", "*.txt diff=evil\n")
    repository.write("a.txt", "1\n")
    repository.commit("base")
    repository.git("checkout", "-q", "-b", "topic")
    repository.write("a.txt", "1\n2\n")
    signed = repository.commit("signed")
    text = repository.git("cat-file", "commit", signed)
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----"
    forged = text.replace("\n\n", f"\n{signature}\n\n", 1) + "\n"
    made = repository.git("hash-object", "-t", "commit", "-w", "--stdin", input=forged.encode())
    repository.git("reset", "-q", "--soft", made)
    repository.write("a.txt", "1\n2\n3\n")
    return repository


def arm(repository, setting, marker):
    evil = program(repository.top / ".git" / "evil", f"echo x >> {marker}; exit 1")
    if setting == "core.hooksPath":
        program(repository.top / ".git" / "evil.d" / "post-index-change", f"echo x >> {marker}")
        repository.git("config", setting, repository.top / ".git" / "evil.d")
        os.utime(repository.top / ".gitattributes", (1, 1))
    elif setting == "remote.origin.uploadpack":
        repository.git("config", "remote.origin.url", str(repository.top))
        repository.git("config", setting, str(evil))
    else:
        repository.git("config", setting, str(evil))
    if setting == "gpg.program":
        repository.git("config", "log.showSignature", "true")


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_of_a_repository_run_no_program(hostile, tmp_path, setting):
    marker = tmp_path / "ran"
    arm(hostile, setting, marker)
    tree, history, lines = ask_everything(hostile)
    assert not marker.exists()
    assert tree.changed == ("a.txt",)
    assert history.subjects == ("signed",)
    assert lines == {"a.txt": 2}


@pytest.mark.parametrize(("setting", "commands"), SETTINGS.items())
def test_the_same_settings_would_run_it_otherwise(hostile, tmp_path, setting, commands):
    """So that the test above can fail."""
    marker = tmp_path / "ran"
    arm(hostile, setting, marker)
    hostile.git(*commands, check=False)
    assert marker.exists()


def test_a_partial_clone_fetches_nothing(tmp_path):
    origin = Repository(tmp_path / "origin")
    origin.git("config", "uploadpack.allowFilter", "true")
    origin.write("a", "1\n")
    origin.commit("one")
    origin.write("a", "2\n")
    origin.commit("two")
    subprocess.run(
        [
            "git",
            "clone",
            "-q",
            "--no-checkout",
            "--filter=blob:none",
            f"file://{origin.top}",
            "clone",
        ],
        cwd=tmp_path,
        check=True,
    )
    clone = Repository(tmp_path / "clone")
    marker = tmp_path / "ran"
    evil = program(tmp_path / "evil", f"echo x >> {marker}; exit 1")
    clone.git("config", "remote.origin.uploadpack", str(evil))
    clone.git("read-tree", "HEAD")
    clone.write("a", "3\n")
    gitinfo.read_work_tree(clone.top, PATIENT)
    assert gitinfo.count_changed_lines(clone.top, "HEAD~1", PATIENT) is None
    assert not marker.exists()
