"""What counts as a marker of git's."""

import pytest

from grove_core.conflict_markers import is_conflict_marker

LINES = [
    (b"<<<<<<< HEAD\r\n", True),
    (b"||||||| 1a2b3c\n", True),
    (b"=======\r", True),
    (b">>>>>>> \xff branch\n", True),
    (b"========", False),
    (b"<<<<<<<HEAD", False),
    (b" =======", False),
    (b"", False),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_markers(line, expected):
    assert is_conflict_marker(line) is expected
