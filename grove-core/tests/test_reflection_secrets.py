"""What is refused as a secret, and what good lessons hold that is none."""

import base64
import subprocess
import sys
from collections import Counter

import pytest
from planted import FORMS, innocent, made, planted

from grove_core.reflection.secrets import (
    FoundSecret,
    find_leak,
    find_secrets,
)


def test_of_planted_secrets_97_in_100_are_found_and_tokens_all():
    for seed in range(2):
        found = [(kind, bool(find_secrets(text))) for kind, _, text in planted(seed)]
        passed = Counter(kind for kind, is_found in found if not is_found)
        assert len(found) == 204
        assert passed.total() <= 0.03 * len(found), passed
        assert passed["token"] == 0


def test_innocent_lessons_raise_few_false_alarms():
    texts = innocent()
    alarms = [one for one in texts if find_secrets(one)]
    assert len(alarms) <= 0.01 * len(texts), alarms


def coded(form):
    return base64.b64encode(made(form).encode()).decode()


CODED = [f"'Authorization: Basic {coded('svc:{m14}')}' /v1/me", f"_auth={coded('bob:{m12}')}"]


@pytest.mark.parametrize("form", [*FORMS["token"], *FORMS["key"], *FORMS["also"], *CODED])
def test_a_secret_is_found_and_masked(form):
    for written in (made(form), f"word {made(form)}"):
        found = find_secrets(written)
        assert found
        for one in found:
            assert one.value in written
            assert one.value not in one.masked
            assert str(len(one.value)) in one.masked
            assert len(one.masked.split("*")[0]) <= 4


@pytest.mark.parametrize("form", FORMS["harmless"])
def test_a_lesson_about_secrets_passes(form):
    assert list(find_secrets(made(form))) == []


KEY_LINES = made(FORMS["labelled"]["private-key-rsa"]).split("\n")[:-1]
GITHUB = made("ghp_{m36}")


@pytest.mark.parametrize(
    "form", ["> {}", "// {}", "12\t{}", "  7: {}", "12 | {}", '"{}\\n"', "{}\\\\n"]
)
def test_a_private_key_is_found_whatever_quotes_its_lines(form):
    assert find_secrets("\n".join(form.replace("{}", line) for line in KEY_LINES))


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(GITHUB.encode()).decode(),
        base64.urlsafe_b64encode(f"token={GITHUB}".encode()).decode(),
        base64.encodebytes("\n".join(KEY_LINES).encode()).decode(),
        GITHUB.replace("_", "\\_"),
        GITHUB.replace("_", "%5F"),
        GITHUB.replace("_", "&#95;"),
        "".join(chr(ord(character) + 0xFEE0) for character in GITHUB),
    ],
)
def test_an_encoding_hides_nothing(text):
    written = f"the job uses {text} since May"
    (found,) = find_secrets(written)
    assert found.value in {text.strip(), GITHUB}


TOKEN = "glpat-" + "x7Kq2mN9pR4tV8wZ1bC3"
KEY_ID = "AKIA" + "Q3EGR7Z2XK4T5V6W"


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"detail": f"it is {TOKEN}."}, "detail"),
        ({"extra": {"deep": [{"x": TOKEN}]}}, "an unknown field"),
        ({"db_password": "kX9fQ2mL8v"}, "an unknown field"),
        ({TOKEN: 1}, "the name of a field"),
        ([TOKEN], "the candidate"),
        (TOKEN, "the candidate"),
    ],
)
def test_every_text_of_a_candidate_is_looked_at(raw, field):
    objection = find_leak(raw, ())
    assert objection.field == field
    assert TOKEN not in objection.reason
    assert "kX9f" not in objection.reason
    assert "secrets.allow" in objection.reason


def test_what_is_allowed_passes_and_nothing_else():
    leak = find_leak(f"{TOKEN} and {KEY_ID}", (), "detail")
    assert FoundSecret("", TOKEN).digest in leak.reason
    assert find_leak(TOKEN, (FoundSecret("", TOKEN).digest,)) is None
    other = find_leak(f"{TOKEN} and {KEY_ID}", (FoundSecret("", TOKEN).digest,))
    assert FoundSecret("", KEY_ID).digest in other.reason


def test_without_the_detector_nothing_is_stored():
    script = (
        "import sys; sys.modules['detect_secrets'] = None\n"
        "from grove_core.errors import ReflectionError\n"
        "from grove_core.reflection.secrets import find_secrets\n"
        "try:\n    find_secrets('long enough')\n"
        "except ReflectionError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert "cannot be checked for secrets" in done.stdout
