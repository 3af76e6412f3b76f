"""Total Recall is told from other people's memory folders, and never pretended to work."""

import pytest

from grove_backend_totalrecall.plugin import detect, grove_memory_backends
from grove_core import BackendContext, BackendError


@pytest.fixture
def context(tmp_path):
    return BackendContext(root=tmp_path, home=tmp_path / "home")


def make_memory(root):
    (root / "memory" / "daily").mkdir(parents=True)
    (root / "memory" / "registers").mkdir()


@pytest.mark.parametrize(
    "marker",
    [
        ".claude/rules/total-recall.md",
        "rules/total-recall.md",
        ".claude/commands/recall-log.md",
        "memory/registers/_index.md",
    ],
)
def test_each_marker_beside_a_memory_is_found_and_said_to_be_unusable(context, marker):
    make_memory(context.root)
    path = context.root / marker
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    found = detect(context)
    assert found is not None
    assert found.marker == str(path)
    assert not found.usable
    assert "not available yet" in found.note


def test_a_bare_memory_folder_is_not_taken(context):
    make_memory(context.root)
    assert detect(context) is None


def test_markers_without_a_memory_are_not_taken(context):
    (context.root / "rules").mkdir()
    (context.root / "rules" / "total-recall.md").touch()
    assert detect(context) is None


def test_opening_says_that_it_is_not_available(context):
    (spec,) = grove_memory_backends()
    with pytest.raises(BackendError, match="not available yet"):
        spec.open(context)
