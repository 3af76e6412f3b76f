"""Manual pages: those that are committed are what the commands say, and roff reads them gladly."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "grove-core" / "share" / "man" / "man1").glob("*.1"))
# Each is given a page on standard input and prints it; what they complain of goes to stderr.
READERS = {
    "man": ("--warnings", "--local-file", "-"),
    "groff": ("-k", "-man", "-ww", "-Tutf8", "-"),
    "mandoc": ("-Tlint", "-Wwarning"),
}
# Without a date a page changes only when its command does.
MEANT = "missing date"


def test_the_pages_are_what_the_commands_say():
    script = ROOT / "scripts" / "generate_manpages.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_command_has_a_page_and_the_first_one_names_it():
    from grove_core.cli.main import COMMANDS

    assert {page.stem for page in PAGES} == {"grove", *(f"grove-{name}" for name in COMMANDS)}
    (first,) = (page.read_text().replace("\\-", "-") for page in PAGES if page.stem == "grove")
    for name in COMMANDS:
        assert f"\n.B grove-{name}(1)\n" in first


def read(reader, page):
    """What a program prints of a page, and what it complains of."""
    with page.open("rb") as file:
        done = subprocess.run(
            [shutil.which(reader), *READERS[reader]],
            stdin=file,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "MANWIDTH": "80", "MANROFFOPT": "-ww"},
            check=False,
        )
    return done.stdout, done.stderr


@pytest.mark.parametrize("reader", READERS)
def test_programs_read_every_page_without_a_complaint(reader):
    if shutil.which(reader) is None:
        pytest.skip(f"{reader} is not installed here")
    for page in PAGES:
        printed, said = read(reader, page)
        # mandoc is asked for complaints only, and prints them.
        lines = (said + (printed if reader == "mandoc" else "")).splitlines()
        assert [line for line in lines if MEANT not in line] == [], page.name


def test_a_reader_sees_options_examples_and_characters_as_they_are_typed():
    if shutil.which("man") is None:
        pytest.skip("man is not installed here")
    shown, _ = read("man", next(page for page in PAGES if page.name == "grove-reflect.1"))
    assert "--session-id ID" in shown
    assert '{"candidates": [{"category": "pitfall", "summary": "…", "detail": "…",\n' in shown
    assert "('-': stdin)" in shown
    assert "-h, --help" in shown
