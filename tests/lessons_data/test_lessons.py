"""The labelled set of candidate learnings, and what the write gate and the secret check make of it."""

import json
import re
from collections import Counter

import pytest
from attacks import poisons
from lessons import FOLDER, PLACEHOLDER, SECRETS, lines, load

from grove_core.reflection.candidates import ReadCandidate, read_candidate
from grove_core.reflection.instructions import find_instruction
from grove_core.reflection.secrets import find_secrets
from grove_core.reflection.write_gate import evaluate

PARTS = ("development", "test", "blind", "training", "short", "authors", "orders")
# The least share of good lessons that passes, and the most of others, where nothing was learnt.
HELD_OUT = {"test": (0.95, 0.20), "authors": (0.95, 0.04)}


def passes(candidate):
    return find_instruction(candidate) is None and evaluate(candidate).rejection is None


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_sound_and_as_good_as_was_published(part):
    """Secrets are another stage's business."""
    labels, kept = Counter(), Counter()
    items = load(part)
    assert len({item.id for item in items}) == len(items) >= 100
    for item in items:
        read = read_candidate(item.candidate)
        assert isinstance(read, ReadCandidate), item.id
        assert "{{" not in json.dumps(item.candidate)
        assert bool(item.secrets) is (item.kind == "secret")
        if not item.secrets:
            labels[item.label] += 1
            kept[item.label] += passes(read.candidate)
        if item.label == "keep" and not item.secrets:
            assert find_instruction(read.candidate) is None, item.id
            assert not find_secrets(f"{item.candidate['summary']}\n{item.candidate['detail']}")
    if part in HELD_OUT:
        least, most = HELD_OUT[part]
        assert kept["keep"] / labels["keep"] >= least
        assert kept["reject"] / labels["reject"] <= most


def test_orders_to_the_agent_are_refused():
    missed = Counter(
        item.author if part == "orders" else part
        for part in ("test", "authors", "orders")
        for item in load(part)
        if item.kind in ("order", "injection")
        and find_instruction(read_candidate(item.candidate).candidate) is None
    )
    assert missed == {"markup": 1, "quoted": 1, "advice": 1}


def test_few_hostile_texts_pass_inside_of_a_lesson_and_no_lesson_near_to_them_is_refused():
    assert {figure.name: figure.failed for figure in poisons() if figure.failed} == {}


def test_the_halves_hold_every_kind_of_secret_and_none_is_written_out_in_the_files():
    stored = [item for part in ("development", "test") for item in lines(part)]
    assert {kind for item in stored for kind in PLACEHOLDER.findall(json.dumps(item))} == set(
        SECRETS
    )
    text = "".join((FOLDER / f"{part}.jsonl").read_text(encoding="utf-8") for part in PARTS)
    assert not re.search(
        r"AKIA|ghp_\w{9}|glpat-|xox[bp]-\d|sk_live_\w{9}|PRIVATE KEY-----\\n", text
    )
