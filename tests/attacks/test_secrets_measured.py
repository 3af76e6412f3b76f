"""How many of 204 planted secrets are found, and how many innocent lessons are taken for one."""

import json
from collections import Counter
from pathlib import Path

from planted import FORMS, KINDS, planted

from grove_core.reflection.secrets import find_secrets

LESSONS = Path(__file__).parents[1] / "data/lessons"


def measure(seed=0):
    """The planted and the found by kind, and the forms that pass."""
    total, found, passed = Counter(), Counter(), []
    for kind, form, text in planted(seed):
        total[kind] += 1
        if find_secrets(text):
            found[kind] += 1
        else:
            passed.append(form)
    return total, found, passed


def false_alarms():
    """The innocent lessons, and those of them in which a secret is found."""
    texts = []
    for file in ("test", "blind", "short", "authors"):
        for line in (LESSONS / f"{file}.jsonl").read_text("utf-8").splitlines():
            document = json.loads(line)
            candidate = document.get("candidate", document)
            texts.append("\n".join(one for one in candidate.values() if isinstance(one, str)))
    return texts, [one for one in texts if find_secrets(one)]


def table():
    """The figures as rows of a table: what, how many, found."""
    total, found, _ = measure()
    rows = [(f"secrets: {kind}", total[kind], f"{found[kind]} found") for kind in KINDS]
    texts, alarms = false_alarms()
    return [*rows, ("innocent lessons", len(texts), f"{len(alarms)} taken for a secret")]


def test_of_planted_secrets_97_in_100_are_found_and_tokens_all():
    for seed in range(2):
        total, found, passed = measure(seed)
        assert total.total() == 204
        assert found.total() / total.total() >= 0.97, passed
        assert found["token"] == total["token"] == FORMS["self_identifying"], passed


def test_innocent_lessons_raise_few_false_alarms():
    texts, alarms = false_alarms()
    assert len(alarms) <= 0.01 * len(texts), alarms
