"""The reader of shell text against a real bash, and with texts that are hard to read."""

import sys
from pathlib import Path

import pytest
from scale import turned_up

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "grove-tickets" / "tests" / "shell_texts"))
from hard_texts import MEBIBYTE, REPEATED, check, repeated  # noqa: E402 - found by what stands above
from random_scripts import try_scripts  # noqa: E402 - found by what stands above


@pytest.mark.parametrize("part", range(2))
def test_what_bash_runs_is_found(part, tmp_path):
    count = turned_up(100, 5_000)
    try_scripts(range(part * count, (part + 1) * count), tmp_path)


@pytest.mark.parametrize("size", turned_up([MEBIBYTE], [4000, MEBIBYTE]))
def test_one_thing_very_often(size):
    for unit in REPEATED:
        check(repeated(unit, size))
