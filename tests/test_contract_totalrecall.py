"""The Total Recall backend keeps the contract of memory backends, among notes of others."""

from datetime import UTC, datetime

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


NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)


def opener(tmp_path, **arguments):
    root = tmp_path / "project"
    for folder in ("memory/daily", "memory/registers", ".claude/rules"):
        (root / folder).mkdir(parents=True)
    (root / ".claude" / "rules" / "total-recall.md").write_text("# Total Recall\n")
    context = BackendContext(root=root, home=tmp_path / "home")
    return lambda: TotalRecallBackend(context, **arguments)


class TestFresh(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return opener(tmp_path)

    @pytest.fixture
    def broken_backend(self, tmp_path):
        opened = opener(tmp_path, clock=lambda: NOON)
        (tmp_path / "project" / "memory" / "daily" / "2026-02-06.md").mkdir()
        return opened


class TestAmongOthers(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        opened = opener(tmp_path)
        memory = tmp_path / "project" / "memory"
        (memory / "daily" / "2026-02-05.md").write_text(DAY)
        (memory / "registers" / "tech-stack.md").write_text(REGISTER)
        return opened

    @pytest.fixture
    def broken_backend(self, tmp_path):
        """The record, which holds what the logs cannot."""
        opened = opener(tmp_path)
        (tmp_path / "project" / ".grove" / "total-recall.jsonl").mkdir(parents=True)
        return opened

    def test_notes_of_others_are_among_what_is_found(self, open_backend):
        for words in ("printed catalogue", "pump engines"):
            (hit,) = open_backend().search(Query(text=words), Filters())
            assert not hit.complete
