"""What waits for a server: nothing is forgotten, however often grove ends between two lines."""

from grove_backend_mcp.sync.journal import Journal
from grove_core import LearningStatus
from grove_core.testing.samples import example_learning, learning_id

ACTIVE, ARCHIVED = LearningStatus.ACTIVE, LearningStatus.ARCHIVED
ONE = learning_id(1)


def test_what_version_0_1_has_written_still_counts(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text(
        f'{{"id": "{ONE}", "at": "2026-02-06T12:00:00Z", "state": "wanted", "is_new": true}}\n'
    )
    assert Journal(path, "a").waits(example_learning(), can_update=False)
