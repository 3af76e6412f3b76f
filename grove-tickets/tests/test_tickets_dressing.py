"""A close stays a close, and text stays text, in whatever shell syntax they are dressed.

Each command is also run by a real bash with recording programs in place of the tools: what ran is
the truth that the reader of shell text is compared with.
"""

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_core import ProjectContext, ToolCall
from grove_tickets import beads, tissue

SIMPLE_DRESSES = [
    "BD_ACTOR=me {}",
    "env -i PATH=$PATH LOG=$LOG X=1 {}",
    "command {}",
    "exec {}",
    "nohup {}",
    "nice -n 5 {}",
    "timeout -k 1 60 {}",
    "time -p {}",
    "\\{}",
    "x=$((1+2)) {}",
    ">/dev/null {}",
    "{} 2>/dev/null",
    "! {}",
]
# A close may end in a here-document, so whatever follows stands on a line of its own.
COMPOUND_DRESSES = [
    "true && {}",
    "false || {}",
    "cd . && {}",
    "( {}\n)",
    "{{ {}\n}} 2>&1 | tail -3",
    "{{ {}\n}} && true || false",
    "if true; then {}\nfi",
    "if false; then :; else {}\nfi",
    "for x in 1; do {}\ndone",
    "while true; do {}\nbreak; done",
    "case x in y) ;; x) {}\n;; esac",
    'echo "$( {}\n)"',
    "x=$( {}\n)",
    "cat <( {}\n)",
    "f() {{ echo f; }}\n{}",
    "# bd close zz-1\n{}",
    "echo 'bd close zz-2'; {}",
    "git_message='tissue status zz-3 closed'; {}",
    "cat > /dev/null <<'TEXT'\nbd close zz-4\nit's \"one\nTEXT\n{}",
    "cat <<TEXT 2>&1 >/dev/null\nbd close zz-5 $HOME\nTEXT\n{}",
    "[[ a == a && 1 -lt 2 ]] && {}",
    "set -e\n{}",
    "{}\nexit 0",
]
CLOSES = [
    ("bd", "close", "bd-1"),
    ("bd", "close", "bd-1", "bd-2", "--reason", 'it\'s "done"; $(no) `no` # no'),
    ("bd", "--json", "close", "-r", "bd-9", "bd-1"),
    ("bd", "update", "bd-1", "--status", "closed", "--notes", "a\nb"),
    ("tissue", "status", "acme-1", "closed"),
    ("tissue", "edit", "acme-1", "--title", "bd close bd-1", "--status", "closed"),
]
NO_CLOSES = [
    ("bd", "update", "bd-1", "--status", "in_progress"),
    ("bd", "show", "bd-1", "--json"),
    ("bd", "create", "bd close bd-1; tissue status acme-1 closed"),
    ("bd", "close", "bd-1", "--help"),
    ("tissue", "status", "acme-1", "open"),
    ("tissue", "new", "x", "-b", "$(bd close bd-1)"),
    ("echo", "bd close bd-1 && tissue status acme-1 closed"),
    ("printf", "%s\n", "bd", "close", "bd-1"),
    ("grep", "-c", "bd close bd-1", "/dev/null"),
    ("true", "\n", "bd close bd-1"),
]


def quoted(word: str, style: int) -> str:
    """Write a word in one of the shell's ways."""
    if style == 0 or not word:
        return shlex.quote(word)
    if style == 1:
        for sign in '\\"$`':
            word = word.replace(sign, "\\" + sign)
        return f'"{word}"'
    if style == 2:
        return shlex.quote(word[:1]) + shlex.quote(word[1:])
    escaped = word.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"$'{escaped}'"


@st.composite
def dressed(draw, plain):
    """Dress one of several plain commands; give it and its dressed text."""
    words = draw(st.sampled_from(plain))
    text = " ".join(quoted(word, draw(st.integers(0, 3))) for word in words)
    for dress in draw(st.lists(st.sampled_from(SIMPLE_DRESSES), max_size=1)):
        text = dress.format(text) if dress != "\\{}" or text[:1].isalpha() else text
    for level, kind in enumerate(draw(st.lists(st.integers(0, 5), max_size=4))):
        if kind == 0:
            text = f"bash -c {shlex.quote(text)}"
        elif kind == 1:
            text = f"bash <<'END{level}'\n{text}\nEND{level}"
        elif kind == 2:
            text = f"eval {shlex.quote(text)}"
        else:
            text = draw(st.sampled_from(COMPOUND_DRESSES)).format(text)
    return words, text


@pytest.fixture(scope="module")
def recorders(tmp_path_factory) -> Path:
    """A directory of programs that only write down how they were called."""
    directory = tmp_path_factory.mktemp("recorders")
    for name in ("bd", "tissue"):
        program = directory / name
        program.write_text(
            '#!/bin/sh\nfor w in "${0##*/}" "$@"; do printf "%s\\0" "$w"; done >> "$LOG"\n'
        )
        program.chmod(0o755)
    return directory


def really_run(text: str, recorders: Path) -> list[str]:
    """Run a text in bash and give the words of all calls that were recorded."""
    log = recorders / f"log-{os.getpid()}"
    log.unlink(missing_ok=True)
    path = os.pathsep.join([str(recorders), os.environ["PATH"]])
    subprocess.run(
        ["bash", "-c", text],
        env={"PATH": path, "LOG": str(log), "HOME": str(recorders)},
        cwd=recorders,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    return log.read_text().split("\0")[:-1] if log.exists() else []


def closed_ids(text: str) -> set[str | None]:
    context = ProjectContext(root=Path("/p"), cwd=Path("/p"))
    call = ToolCall(name="Bash", input={"command": text}, cwd="/p")
    return {
        close.ticket_id
        for module in (beads, tissue)
        for close in module.closes(call, context)
        if not close.reopens
    }


slow = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@slow
@given(dressed(CLOSES))
def test_a_dressed_close_is_found(recorders, case):
    words, text = case
    assert really_run(text, recorders) == list(words), "the dress is no valid shell"
    expected = {word for word in words if word in {"bd-1", "bd-2", "acme-1"}}
    assert closed_ids(text) == expected


@slow
@given(dressed(NO_CLOSES))
def test_no_close_is_invented(recorders, case):
    words, text = case
    ran = really_run(text, recorders)
    assert ran == (list(words) if words[0] in {"bd", "tissue"} else [])
    assert closed_ids(text) == set()


@slow
@given(dressed(CLOSES), st.integers(min_value=1, max_value=40))
def test_text_that_ends_too_early_invents_nothing(recorders, case, missing):
    cut = case[1][:-missing]
    bash = subprocess.run(["bash", "-n", "-c", cut], capture_output=True, text=True, check=False)
    if "unexpected E" in bash.stderr.replace("end of file", "EOF") and not really_run(
        cut, recorders
    ):
        assert closed_ids(cut) == set()
