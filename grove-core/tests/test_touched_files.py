"""Where a touched file stands in its project: through links, and in other work trees."""

import pytest
from core_worlds import git, own_git_only

from grove_core.services.file_notes import paths_inside


@pytest.fixture
def folder(tmp_path, monkeypatch):
    own_git_only(monkeypatch, tmp_path)
    return tmp_path.resolve()


@pytest.fixture
def shop(folder):
    """A repository with a project in it, and one file."""
    root = folder / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("")
    git("init", "-q", "-b", "main", "--template=", cwd=root)
    git("add", "-A", cwd=root)
    git("commit", "-q", "-m", "Start", cwd=root)
    return root


def test_a_file_and_its_links(folder, shop):
    (folder / "way").symlink_to(folder)
    (shop / "link.py").symlink_to("src/a.py")
    (shop / "lib").symlink_to("src")
    (folder / "outside.py").write_text("")
    (shop / "out.py").symlink_to("../outside.py")
    seen = f"{folder}/way/shop"

    def inside(path):
        return paths_inside(shop, str(path))

    assert inside(shop / "src" / "a.py") == ("src/a.py",)
    assert inside(f"{seen}/src/a.py") == ("src/a.py",)
    assert inside(shop / "link.py") == ("link.py", "src/a.py")
    assert inside(shop / "lib" / "a.py") == ("lib/a.py", "src/a.py")
    assert inside(shop / "src" / ".." / "gone.py") == ("gone.py",)
    assert inside(shop / "out.py") == ("out.py",)
    assert inside(folder / "outside.py") == ()
    assert inside(folder / "shop2" / "a.py") == ()
    assert inside(shop) == ()


def test_a_file_in_another_work_tree_of_the_repository(folder, shop):
    git("worktree", "add", "-q", str(folder / "beside"), cwd=shop)
    git("worktree", "add", "-q", str(shop / ".trees" / "within"), cwd=shop)
    assert paths_inside(shop, f"{folder}/beside/src/a.py") == ("src/a.py",)
    assert paths_inside(folder / "beside", f"{shop}/src/a.py") == ("src/a.py",)
    within = paths_inside(shop, f"{shop}/.trees/within/src/a.py")
    assert within == ("src/a.py", ".trees/within/src/a.py")
    # A project may be a folder of its repository.
    assert paths_inside(shop / "src", f"{folder}/beside/src/a.py") == ("a.py",)
    assert paths_inside(shop / "src", f"{folder}/beside/b.py") == ()
