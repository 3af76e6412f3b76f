"""How many of 204 planted secrets are found, and how many innocent lessons are taken for one."""

from collections import Counter

from planted import FORMS, innocent, planted

from grove_core.reflection.secrets import find_secrets


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


def test_of_planted_secrets_97_in_100_are_found_and_tokens_all():
    for seed in range(2):
        total, found, passed = measure(seed)
        assert total.total() == 204
        assert found.total() / total.total() >= 0.97, passed
        assert found["token"] == total["token"] == FORMS["self_identifying"], passed


def test_innocent_lessons_raise_few_false_alarms():
    texts = innocent()
    alarms = [one for one in texts if find_secrets(one)]
    assert len(alarms) <= 0.01 * len(texts), alarms
