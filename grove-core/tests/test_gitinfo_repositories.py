"""What is asked of real repositories, ordinary, odd and hostile ones."""

import os
import subprocess

import pytest
from core_worlds import own_git_only, write_program

from grove_core import git
from grove_core.git import BranchHistory, WorkTree

PATIENT = 30.0


class Repository:
    """A real repository."""

    def __init__(self, top, *options):
        self.top = top
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", *options)

    def git(self, *arguments, check=True, **options):
        done = subprocess.run(
            ["git", "-C", self.top, *arguments], capture_output=True, check=check, **options
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
    own_git_only(monkeypatch, tmp_path / "home")


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "work")


def tree_of(repository):
    tree = git.read_work_tree(repository.top, PATIENT)
    assert isinstance(tree, WorkTree)
    return tree


def lines_since(repository, base):
    return git.count_changed_lines(repository.top, base, PATIENT)


@pytest.mark.parametrize("variable", ["USER", "GIT_LITERAL_PATHSPECS", "GIT_ICASE_PATHSPECS"])
def test_only_a_folder_is_looked_at_and_not_what_is_left_out(repository, monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    for path in ("app/a", "app/own/b", "app/*/c", "elsewhere/d"):
        repository.write(path, "1\n")
    base = repository.commit()
    for path in ("app/a", "app/own/b", "app/*/c", "elsewhere/d"):
        repository.write(path, "2\n")
        repository.write(f"{path}-new")
    repository.git("config", "diff.relative", "true")
    app, own = repository.top / "app", ("own/", "../elsewhere", "/", "own-gone")
    tree = git.read_work_tree(app, PATIENT, own)
    assert tree.top == repository.top
    assert sorted(tree.changed + tree.untracked) == ["app/*/c", "app/*/c-new", "app/a", "app/a-new"]
    assert set(git.count_changed_lines(app, base, PATIENT, own)) == {"app/a", "app/*/c"}
    repository.commit()
    assert set(git.count_own_lines(app, base, PATIENT, [*own, "*"])) == {"app/a", "app/a-new"}


def test_a_repository_before_and_after_its_first_commit(repository, tmp_path):
    (repository.top / "deep").mkdir()
    assert git.find_top(repository.top / "deep") == repository.top
    assert git.find_top(tmp_path / "gone" / "away") is None
    repository.write("a")
    repository.write("b")
    repository.git("add", "b")
    assert tree_of(repository) == WorkTree(
        repository.top, head="", branch="main", changed=("b",), untracked=("a",), deleted={}
    )
    assert lines_since(repository, "") == {"b": 2}
    assert git.read_branch_history(repository.top, PATIENT) == BranchHistory()
    head = repository.commit()
    assert tree_of(repository) == WorkTree(
        repository.top, head=head, branch="main", changed=(), untracked=(), deleted={}
    )
    assert lines_since(repository, head) == {}
    repository.git("checkout", "-q", "--detach")
    assert tree_of(repository) == WorkTree(
        repository.top, head=head, branch="", changed=(), untracked=(), deleted={}
    )
    for base in ("0" * 40, "no-such-branch", "--output=made"):
        assert lines_since(repository, base) is None
    assert not list(repository.top.glob("made*"))


def test_every_kind_of_change(repository):
    for name in ("edited", "staged", "deleted", "renamed", "made executable", "to link"):
        repository.write(name, f"{name}\n2\n")
    repository.write("picture", b"\0\1\2" * 100)
    repository.write(".gitignore", "*.log\n")
    head = repository.commit()
    repository.write("edited", "other\n2\n")
    repository.write("picture", b"\0\2\1" * 100)
    repository.write("staged", "staged\n2\n3\n")
    repository.git("add", "staged")
    repository.git("rm", "-q", "deleted")
    repository.git("mv", "renamed", "new name")
    (repository.top / "made executable").chmod(0o755)
    (repository.top / "to link").unlink()
    (repository.top / "to link").symlink_to("edited")
    repository.write("ignored.log")
    repository.write("deep/er/untracked")
    os.utime(repository.top / ".gitignore", (1, 1))
    files = [path for path in repository.top.rglob("*") if path.is_file()]
    before = [(path, path.stat().st_mtime_ns, path.read_bytes()) for path in files]
    tree, lines = tree_of(repository), lines_since(repository, head)
    assert tree.untracked == ("deep/er/untracked",)
    assert set(tree.changed) == {*lines, "picture", "renamed"}  # of which only the name has changed
    assert lines == {
        "edited": 2,
        "staged": 1,
        "deleted": 2,
        "new name": 0,
        "made executable": 0,
        "to link": 3,
    }
    # Nothing is written into the repository.
    assert [(path, path.stat().st_mtime_ns, path.read_bytes()) for path in files] == before


def test_nothing_of_the_repository_runs(repository, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    for name in ("evil", "git"):
        write_program(repository.top / "bin" / name, f"echo $0 >> {ran}\ncat")
    repository.write("a")
    head = repository.commit()
    monkeypatch.setenv("PATH", f"{repository.top / 'bin'}:bin:.:{os.environ['PATH']}")
    monkeypatch.chdir(repository.top)
    evil = f'[filter "e=v.il"]\n\tclean = {repository.top}/bin/evil\n\trequired = true\n'
    config = repository.top / ".git" / "config"
    (repository.top / ".git" / "more").write_text(evil + evil.replace("clean", "process"))
    own = config.read_text()
    # Set while git runs a hook of another repository.
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another"))
    for text in (evil, "[include]\n\tpath = more\n"):
        config.write_text(own + text)
        repository.write(".gitattributes", "* filter=e=v.il\n")
        repository.write("a", "other\n")
        assert ".gitattributes" in tree_of(repository).untracked
        assert lines_since(repository, head)["a"] > 0
    assert not ran.exists()


def test_no_git_or_no_repository_no_answer(repository, tmp_path, monkeypatch):
    (tmp_path / "plain").mkdir()
    for folder in (tmp_path / "plain", tmp_path / "gone"):
        assert git.read_work_tree(folder, PATIENT) is None
    assert git.count_changed_lines(tmp_path / "plain", "", PATIENT) is None
    write_program(tmp_path / "bin" / "git", "exec sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert git.read_work_tree(repository.top, 0.1) is None
    monkeypatch.setenv("PATH", "")
    assert ask_everything(repository) == (None, BranchHistory(), None)


def ask_everything(repository):
    top = repository.top
    git.count_own_lines(top, "", PATIENT)
    tree, history = git.read_work_tree(top, PATIENT), git.read_branch_history(top, PATIENT)
    return tree, history, git.count_changed_lines(top, "HEAD~1", PATIENT)


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


# What each setting of a repository would run, and a call of git that runs it.
SETTINGS = {
    "core.fsmonitor": "status",
    "core.hooksPath": "status",
    "diff.external": "diff",
    "diff.evil.command": "diff",
    "diff.evil.textconv": "diff",
    "gpg.program": "log",
}


def arm(repository, setting, marker):
    folder = repository.top / ".git" / "evil"
    evil = write_program(folder / "post-index-change", f"echo x >> {marker}; exit 1")
    repository.git("config", setting, folder if setting == "core.hooksPath" else evil)
    repository.git("config", "log.showSignature", "true")
    os.utime(repository.top / ".gitattributes", (1, 1))


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_of_a_repository_run_no_program(hostile, tmp_path, setting):
    marker = tmp_path / "ran"
    arm(hostile, setting, marker)
    tree, history, lines = ask_everything(hostile)
    assert not marker.exists()
    assert tree.changed == ("a.txt",)
    assert history.subjects == ("signed",)
    assert lines == {"a.txt": 2}
    # Another call of git would have run it.
    hostile.git(SETTINGS[setting], check=False)
    assert marker.exists()


def test_a_partial_clone_fetches_nothing(repository, tmp_path):
    """Fetching what is missing would run the program that the clone's configuration names."""
    repository.git("config", "uploadpack.allowFilter", "true")
    for text in ("1\n", "2\n"):
        repository.write("a", text)
        repository.commit(text)
    origin, clone = f"file://{repository.top}", tmp_path / "clone"
    words = ("clone", "-q", "--no-checkout", "--filter=blob:none", origin, str(clone))
    subprocess.run(["git", *words], check=True)
    partial, marker = Repository(clone), tmp_path / "ran"
    evil = write_program(tmp_path / "evil", f"echo x >> {marker}; exit 1")
    partial.git("config", "remote.origin.uploadpack", str(evil))
    partial.git("read-tree", "HEAD")
    partial.write("a", "3\n")
    assert git.count_changed_lines(partial.top, "HEAD~1", PATIENT) is None
    assert not marker.exists()
