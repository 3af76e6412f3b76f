"""The reader of shell text against a real bash, and with texts that are hard to read."""

import sys
from pathlib import Path

import pytest
from scale import turned_up

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "grove-tickets" / "tests" / "shell_texts"))
from hard_texts import MEBIBYTE, NESTED, REPEATED, check, nested, repeated  # noqa: E402 - found by what stands above
from random_scripts import try_scripts  # noqa: E402 - found by what stands above


def test_what_bash_runs_is_found(tmp_path):
    try_scripts(turned_up(200, 10_000), tmp_path, at_random=turned_up(False, True))


@pytest.mark.parametrize("size", [4000, MEBIBYTE])
def test_one_thing_very_often(size):
    for unit in REPEATED:
        check(repeated(unit, size))


@pytest.mark.parametrize("depth", turned_up([20], [3, 20, 200]))
def test_deep_syntax(depth):
    for opener, closer in NESTED:
        check(nested(opener, closer, depth))
