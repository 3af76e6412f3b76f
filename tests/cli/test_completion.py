"""Completion in real shells: what a person gets for a Tab."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GROVE = Path(sys.executable).with_name("grove")
ONE = "cl_20300102_aaaaaa"
TWO = "cl_20300102_bbbbbb"
# Each reads the words from its arguments and prints what it would offer for the last one.
SCRIPTS = {
    "bash": """\
        eval "$(grove completion bash)"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        _grove_completion grove
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """\
        compdef() { :; }
        _describe() { local -a all; all=("${(@P)3}"); print -rl -- "${all[@]%%:*}"; }
        compadd() { print -rl -- "${(@P)5}"; }
        eval "$(grove completion zsh)"
        words=("$@") CURRENT=$#
        _grove_completion
    """,
    "fish": """\
        grove completion fish | source
        complete --do-complete (string join ' ' -- $argv) | string replace -r '\\t.*' ''
    """,
}


@pytest.fixture(params=SCRIPTS)
def tab(request, world):
    """Completes a command line in a shell; gives what is offered, and asserts that it is silent."""
    program = shutil.which(request.param)
    if program is None:
        pytest.skip(f"{request.param} is not installed here")
    script = world.folder / "complete"
    script.write_text(SCRIPTS[request.param])
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[request.param]
    environment = {
        **world.environment,
        "PATH": f"{GROVE.parent}{os.pathsep}{world.environment['PATH']}",
        "XDG_CONFIG_HOME": str(world.others),
        "XDG_DATA_HOME": str(world.others),
    }

    def complete(*words):
        done = subprocess.run(
            [program, *options, script, "grove", *words],
            cwd=world.project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stderr == ""
        return [line for line in done.stdout.split("\n") if line]

    return complete


@pytest.fixture
def busy(world):
    """A project with two learnings and two sessions."""
    world.initialise()
    world.learning(ONE, "OrderReport.rows() runs one query per order")
    world.learning(TWO, "LoginForm.clean() must not log the token")
    world.agent("monday-1").starts()
    world.agent("tuesday-1").starts()
    return world


def test_commands(tab):
    offered = tab("")
    for name in ("init", "status", "reflect", "tickets", "completion"):
        assert name in offered
    assert sorted(tab("ref")) == ["ref", "reflect"]


def test_commands_of_commands_and_options(tab):
    assert tab("tickets", "m") == ["match"]
    assert tab("init", "--un") == ["--uninstall"]
    assert "--session-id" in tab("skip", "--")
    assert tab("init", "--hooks", "") == ["claude-code"]
    assert sorted(tab("completion", "")) == ["bash", "fish", "zsh"]
    assert tab("list", "--category", "pit") == ["pitfall"]
    assert sorted(tab("hook", "p")) == ["post-tool-use", "post-tool-use-failure", "pre-tool-use"]
    assert tab("hook", "stop", "") == []


def test_ids(tab, busy):
    assert sorted(tab("skip", "--session-id", "")) == ["monday-1", "tuesday-1"]
    assert tab("observe", "--session-id", "mon") == ["monday-1"]
    assert sorted(tab("show", "")) == [ONE, TWO]
    assert tab("show", "cl_20300102_b") == [TWO]
    assert tab("ref", ONE, "cl_20300102_b") == [TWO]


def test_keys_of_the_configuration(tab):
    assert "gate.session" in tab("config", "get", "gate.")
    assert tab("config", "get", "circuit_breaker.max") == ["circuit_breaker.max_blocks"]


# --- the machinery alone ------------------------------------------------------------------------


def ask(world, *words, **variables):
    """What the script of bash asks the program, with the last word incomplete."""
    line = " ".join(["grove", *map(str, words)])
    return world.grove(
        _GROVE_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=len(words), **variables
    )


def test_help_lines_come_without_importing_a_command(world):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "grove_core._entry"],
        env={
            **world.environment,
            "_GROVE_COMPLETE": "zsh_complete",
            "COMP_WORDS": "grove ",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=True,
        cwd=world.project,
    )
    assert "plain\nstatus\nShow the project, the gate, the backends and what waits." in done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    for name in ("status", "init", "reflect", "search", "completion"):
        assert f"grove_core.cli.{name}" not in imported


@pytest.mark.parametrize(
    "words",
    [
        ("show", "x"),
        ("skip", "--session-id", "x"),
        ("nonsense", "x"),
        ("-C", "/nonexistent", "show", "x"),
    ],
)
def test_there_is_nothing_to_offer_and_nothing_is_said(world, words):
    done = ask(world, *words)
    assert (done.code, done.stdout.strip(), done.stderr) == (0, "", "")


def test_what_goes_wrong_is_not_said_in_the_middle_of_a_command_line(busy):
    (busy.grove_home / "config.toml").write_text("nonsense = [")
    busy.learnings_file.write_bytes(b"### [cl_broken] \xff\n\0")
    for words in (("show", "c"), ("skip", "--session-id", "m"), ("config", "get", "gate.s")):
        done = ask(busy, *words)
        assert (done.code, done.stderr) == (0, "")


def test_another_project_is_asked_for_its_ids(busy):
    other = busy.folder / "others"
    other.mkdir()
    assert ask(busy, "-C", other, "show", "cl").stdout.strip() == ""
    inside = busy.grove(
        cwd=other,
        _GROVE_COMPLETE="bash_complete",
        COMP_WORDS=f"grove -C {busy.project} show cl",
        COMP_CWORD=4,
    )
    assert sorted(inside.stdout.split()) == [f"plain,{ONE}", f"plain,{TWO}"]


# --- the script ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_of_a_shell(world, shell):
    script = world.grove("completion", shell).stdout
    assert f"_GROVE_COMPLETE={shell}_complete" in script
    assert world.grove("completion", SHELL=f"/usr/bin/{shell}").stdout == script
    done = world.grove("completion", shell, "--json")
    assert (done.json["shell"], done.json["script"].strip()) == (shell, script.strip())
    assert world.grove("completion", shell, "-q").stdout.strip() == script.strip()


@pytest.mark.parametrize("shell", ["", "/bin/tcsh"])
def test_an_unknown_shell_is_a_usage_error_that_names_the_known_ones(world, shell):
    done = world.grove("completion", SHELL=shell)
    assert done.code == 2
    assert "bash, zsh, fish" in done.stderr


def test_bash_reads_the_script(world):
    script = world.grove("completion", "bash").stdout
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
