"""The README's first screen: what the demo prints, and how to begin."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CI = ROOT / ".ci" / "run"
SCRIPT = ROOT / "scripts" / "readme_transcript.py"
MEND = "run .venv/bin/python scripts/readme_transcript.py"
TRUE, SPOILT = "(exit code 0, nothing printed)", "(exit code 1, something printed)"


def transcript(*words):
    return subprocess.run(
        [sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False
    )


def lasting(text):
    return re.sub(r"cl_\d{8}_[a-z0-9]{6}", "cl_ID", text)


def test_the_readme_shows_what_the_demo_prints():
    done = transcript("--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_transcript_that_is_not_true_is_told_line_by_line_and_mended(tmp_path):
    page = tmp_path / "README.md"
    text = README.read_text()
    spoilt = text.replace(TRUE, SPOILT)
    assert spoilt != text
    page.write_text(spoilt)

    told = transcript("--check", page)
    assert told.returncode == 1
    assert MEND in told.stderr
    changed = [line for line in told.stdout.splitlines()[2:] if line.startswith(("-", "+"))]
    assert [line[0] for line in changed] == ["-", "+"]
    assert SPOILT in changed[0]
    assert TRUE in changed[1]
    assert page.read_text() == spoilt

    assert transcript(page).returncode == 0
    assert lasting(page.read_text()) == lasting(text)


def test_a_page_without_a_transcript_is_named(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("# grove\n")
    done = transcript("--check", page)
    assert done.returncode == 1
    assert f"{page} has 0 blocks of ```console" in done.stderr


def test_the_first_commands_come_first_and_installing_is_near():
    text = README.read_text()
    first = re.search(r"^```sh no-run\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert [line.split("#")[0].strip() for line in first[1].splitlines()] == [
        "make demo",
        "make test",
    ]
    assert text[: first.start()].count("\n") < 12
    assert text[: text.index("\n## Install\n")].count("\n") < 60


def test_what_ci_runs_is_said():
    sections = re.findall(r"^ *section [\w-]+ make ([\w-]+)$", CI.read_text(), re.MULTILINE)
    _, _, working = README.read_text().partition("\n## Working on grove\n")
    named = set(re.findall(r"`(?:make )?([a-z][a-z0-9-]*)`", working))
    assert len(sections) > 5
    assert set(sections) <= named
