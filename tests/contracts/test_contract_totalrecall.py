"""The Total Recall backend keeps the contract of memory backends, among notes of others."""

import pytest

from grove_backend_totalrecall.backend import TotalRecallBackend
from grove_core import BackendContext, Filters, Query
from grove_core.testing import BackendContract

DAY = """# 2026-02-05

## Decisions

[09:12] We stay with the printed catalogue until autumn.

## Corrections

## Commitments

## Open Loops

## Notes

[17:40] [superseded] "the cellar floods each spring" - marked as no longer current
"""
REGISTER = """# Tech stack

## Pumps

- **claim**: The pump house has two engines
- **confidence**: high
- **last_verified**: 2026-02-01
"""


class TestTotalRecall(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        root = tmp_path / "project"
        memory = root / "memory"
        for folder in (memory / "daily", memory / "registers", root / ".claude" / "rules"):
            folder.mkdir(parents=True)
        (root / ".claude" / "rules" / "total-recall.md").write_text("# Total Recall\n")
        (memory / "daily" / "2026-02-05.md").write_text(DAY)
        (memory / "registers" / "tech-stack.md").write_text(REGISTER)
        context = BackendContext(root=root, home=tmp_path / "home")
        return lambda: TotalRecallBackend(context)

    @pytest.fixture
    def broken_backend(self, open_backend, tmp_path):
        """The record, which holds what the logs cannot."""
        (tmp_path / "project" / ".grove" / "total-recall.jsonl").mkdir(parents=True)
        return open_backend

    def test_notes_of_others_are_among_what_is_found(self, open_backend):
        for words in ("printed catalogue", "pump engines"):
            (hit,) = open_backend().search(Query(text=words), Filters())
            assert not hit.complete
