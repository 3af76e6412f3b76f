"""Everything that `make attack` tries, and none of it gets through."""

from attacks import attack
from scale import turned_up


def test_no_attack_gets_through():
    figures = list(attack(turned_up(1, 20)))
    assert [one for one in figures if one.failed] == []
    assert len(figures) >= 8
