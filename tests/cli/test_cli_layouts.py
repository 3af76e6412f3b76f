"""``grove maintain migrate`` and ``repair``, as a person runs them."""

import json

import pytest

IDS = [f"cl_20260206_{letter * 6}" for letter in "abc"]
PROSE = "\nA word between entries.\n\n"


@pytest.fixture
def project(world):
    world.make_git()
    world.grove("init")
    for number, one in enumerate(IDS):
        world.learning(one, f"Number {number} of the learnings here")
        if one == IDS[0]:
            with world.learnings_file.open("a") as file:
                file.write(PROSE)
    return world


def shown(project):
    done = project.grove("list", "--json")
    return sorted(
        ({key: one[key] for key in ("id", "summary", "status")} for one in done.json["learnings"]),
        key=lambda one: one["id"],
    )


def test_moving_there_and_back_loses_nothing(project):
    before = shown(project)
    config = project.project / ".grove" / "config.toml"
    text = config.read_text()
    dry = project.grove("maintain", "migrate", "--layout", "spread", "--dry-run", "--json")
    assert [line.partition(":")[0] for line in dry.json["learnings"]] == IDS
    assert config.read_text() == text
    assert shown(project) == before
    done = project.grove("maintain", "migrate", "--layout", "spread", "--json")
    assert done.json["learnings"] == dry.json["learnings"]
    folder = project.project / ".grove" / "learnings"
    assert sorted(path.name for path in folder.iterdir()) == [f"{one}.md" for one in IDS]
    assert PROSE.strip() in project.learnings_file.read_text()
    assert config.read_text() == text.replace(
        '# storage.layout = "auto"', 'storage.layout = "spread"'
    )
    assert shown(project) == before
    again = project.grove("maintain", "migrate", "--layout", "spread", "--json").json
    assert (again["learnings"], again["setting_changed"]) == ([], False)

    project.grove("maintain", "migrate", "--layout", "single")
    assert not folder.exists()
    assert PROSE.strip() in project.learnings_file.read_text()
    assert shown(project) == before


def entry(branch):
    lines = f"### [cl_20260206_{branch[0] * 6}] A learning of {branch}", "- **Category:** pattern"
    return "\n".join(["", *lines, "- **Status:** active", "", f"> Detail of {branch}", ""])


def test_repair_fixes_what_git_has_made_of_two_appends(project):
    ours, theirs = (entry(branch) for branch in ("ours", "theirs"))
    text = project.learnings_file.read_text()
    spoilt = f"{text}<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> ours\n"
    project.learnings_file.write_text(spoilt)
    assert shown(project) != []
    dry = project.grove("maintain", "repair", "--dry-run", "--json")
    assert dry.json["files"][0]["repaired"]
    assert project.learnings_file.read_text() == spoilt
    done = project.grove("maintain", "repair", "--json")
    assert done.json["files"] == dry.json["files"]
    assert done.code == 0
    (kept,) = [path for path in (project.grove_home / "backups").rglob("*") if path.is_file()]
    assert kept.read_text() == spoilt
    text = project.learnings_file.read_text()
    assert "<<<<<<<" not in text
    assert PROSE in text
    for branch in ("ours", "theirs"):
        learning = project.grove("show", f"cl_20260206_{branch[0] * 6}", "--json").json
        assert f"Detail of {branch}" in json.dumps(learning)
    assert project.grove("maintain", "repair", "--json").json["files"] == []


def test_a_byte_order_mark_does_not_hide_an_entry_that_is_moved(project):
    project.grove("maintain", "migrate", "--layout", "spread")
    for path in (project.project / ".grove" / "learnings").iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    before = shown(project)
    project.grove("maintain", "migrate", "--layout", "single")
    assert shown(project) == before
