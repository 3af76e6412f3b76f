"""What the plugin offers, and that offering it is cheap."""

import pytest

from grove_backend_markdown import plugin
from grove_backend_markdown.format import format_entry
from grove_core import ProjectContext


@pytest.fixture
def spec():
    (found,) = plugin.grove_memory_backends()
    return found


def test_backend_is_always_available(spec, context, personal_context, tmp_path):
    assert spec.name == "markdown"
    assert spec.paths == (".grove",)
    detection = spec.detect(context)
    assert detection.marker == ".grove/learnings.md"
    assert detection.usable
    assert spec.detect(personal_context).marker.endswith("personal-learnings.md")
    assert list(context.root.iterdir()) == []


def check(root):
    (found,) = plugin.grove_health_checks()
    return found.run(ProjectContext(root=root, cwd=root))


def test_health_check_names_file_and_line(tmp_path, make_learning):
    folder = tmp_path / ".grove" / "learnings"
    folder.mkdir(parents=True)
    entry = format_entry(make_learning())
    (tmp_path / ".grove" / "learnings.md").write_text(f"{entry}<<<<<<< HEAD\n=======\n>>>>>>> b\n")
    (folder / "copy.md").write_text(f"\n{entry}")
    health = check(tmp_path)
    assert not health.ok
    count = entry.count("\n")
    for line in (count + 1, count + 2, count + 3):
        assert f"learnings.md line {line}: a conflict marker" in health.detail
    assert "copy.md line 2: cl_20260206_000001 is in learnings.md already" in health.detail
