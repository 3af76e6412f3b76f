"""Where a touched file stands in its project: through links, and in other work trees."""

import os
import subprocess

import pytest

from grove_core.flow.touched_files import paths_inside, spellings


@pytest.fixture
def folder(tmp_path):
    return tmp_path.resolve()


def git(*words, cwd):
    identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
    subprocess.run(["git", *identity, *words], cwd=cwd, check=True, capture_output=True)


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


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        ("real/shop", ["real/shop"]),
        ("real/shop/", ["real/shop"]),
        ("link/shop", ["real/shop", "link/shop"]),
        ("link/shop/src", ["real/shop", "link/shop"]),
        ("link/shop/src/", ["real/shop", "link/shop"]),
        ("direct", ["real/shop", "direct"]),
        ("direct/src", ["real/shop", "direct"]),
        ("inner", ["real/shop"]),  # leads into the middle of it
        ("real", ["real/shop"]),
        ("gone", ["real/shop"]),
    ],
)
def test_how_a_root_is_written(folder, cwd, expected):
    (folder / "real" / "shop" / "src").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "real")
    (folder / "direct").symlink_to(folder / "real" / "shop")
    (folder / "inner").symlink_to(folder / "real" / "shop" / "src")
    found = spellings(folder / "real" / "shop", f"{folder}/{cwd}")
    assert found == tuple(str(folder / one) for one in expected)


def test_a_root_without_a_directory(folder):
    assert spellings(folder, "") == (str(folder),)


def test_a_file_and_its_links(folder, shop):
    (folder / "way").symlink_to(folder)
    (shop / "link.py").symlink_to("src/a.py")
    (shop / "lib").symlink_to("src")
    (folder / "outside.py").write_text("")
    (shop / "out.py").symlink_to("../outside.py")
    seen = f"{folder}/way/shop"

    def inside(path, cwd=seen):
        return paths_inside(shop, cwd, str(path))

    assert inside(shop / "src" / "a.py") == ("src/a.py",)
    assert inside(f"{seen}/src/a.py") == ("src/a.py",)
    assert inside(f"{seen}/src/a.py", cwd=str(shop)) == ("src/a.py",)
    assert inside(shop / "link.py") == ("link.py", "src/a.py")
    assert inside(f"{seen}/lib/a.py") == ("lib/a.py", "src/a.py")
    assert inside(shop / "src" / ".." / "gone.py") == ("gone.py",)
    assert inside(shop / "out.py") == ("out.py",)
    assert inside(folder / "outside.py") == ()
    assert inside(folder / "shop2" / "a.py") == ()
    assert inside(shop) == ()


def test_a_file_in_another_work_tree_of_the_repository(folder, shop):
    git("worktree", "add", "-q", str(folder / "beside"), cwd=shop)
    git("worktree", "add", "-q", str(shop / ".trees" / "within"), cwd=shop)
    assert paths_inside(shop, str(shop), f"{folder}/beside/src/a.py") == ("src/a.py",)
    assert paths_inside(folder / "beside", "", f"{shop}/src/a.py") == ("src/a.py",)
    within = paths_inside(shop, str(shop), f"{shop}/.trees/within/src/a.py")
    assert within == ("src/a.py", ".trees/within/src/a.py")
    # A project may be a folder of its repository.
    assert paths_inside(shop / "src", "", f"{folder}/beside/src/a.py") == ("a.py",)
    assert paths_inside(shop / "src", "", f"{folder}/beside/b.py") == ()


def test_a_file_in_another_repository(folder, shop):
    other = folder / "other"
    other.mkdir()
    git("init", "-q", "--template=", cwd=other)
    (other / "src").mkdir()
    assert paths_inside(shop, str(shop), f"{other}/src/a.py") == ()
    nested = shop / "vendor" / "lib"
    nested.mkdir(parents=True)
    git("init", "-q", "--template=", cwd=nested)
    assert paths_inside(shop, str(shop), f"{nested}/src/a.py") == ("vendor/lib/src/a.py",)
    (nested / ".git" / "HEAD").unlink()
    os.replace(nested / ".git", folder / "moved")
    (nested / ".git").write_text("nonsense\n")
    assert paths_inside(shop, str(shop), f"{nested}/a.py") == ("vendor/lib/a.py",)
