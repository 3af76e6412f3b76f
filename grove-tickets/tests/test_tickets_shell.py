"""What a shell text would run."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_tickets.shell import Command, commands
from grove_tickets.shell.words import UNKNOWN


def words(text: str) -> list[str]:
    """Give each command as one line, ``?`` for what is unknown."""
    return [" ".join(command.words).replace(UNKNOWN, "?") for command in commands(text)]


def only(text: str, program: str = "t") -> Command:
    (command,) = [command for command in commands(text) if command.program == program]
    return command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("t a; t b\nt c & t d", ["t a", "t b", "t c", "t d"]),
        ("t a && t b || t c | t d |& t e", ["t a", "t b", "t c", "t d", "t e"]),
        ("(t a; { t b; })", ["t a", "t b"]),
        ("! t a", ["t a"]),
        ("! { t a; }", ["t a"]),
        ("if t a; then t b; elif t c; then t d; else t e; fi", [f"t {x}" for x in "abcde"]),
        ("while t a; do t b; done; until t c; do t d; done", [f"t {x}" for x in "abcd"]),
        ("case x in (x) t a;; y|z) t b;; esac", ["t a", "t b"]),
        ("for x in $(t a); do t b; done", ["t a", "t b"]),
        ("t $(t a) `t b` <(t c) >(t d)", ["t a", "t b", "t c", "t d", "t ? ? ? ?"]),
        ("[[ $(t a) == 1 ]] && t b", ["t a", "t b"]),
        ("x=$(t a); (( $(t b) ))", ["t a", "t b"]),
        ("t \\\n  a", ["t a"]),
        ("t a # t b", ["t a"]),
        ("t a\r\nt b", ["t a", "t b"]),
        ("t a\n\\t b", ["t a", "t b"]),
        ("t a > f\n\n  \\t b c\n\\t d", ["t a", "t b c", "t d"]),
    ],
)
def test_structure(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"""t a'b'"c"\d$'e\x66\n'""", ["t", "abcdef\n"]),
        (r't "a\"b\$c\`d\\e\f"', ["t", 'a"b$c`d\\e\\f']),
        ("t '' \"\" ' a  b '", ["t", "", "", " a  b "]),
        ('t $"a" - = == %', ["t", "a", "-", "=", "==", "%"]),
        ('t --x=y -s="a b" ~/z 12', ["t", "--x=y", "-s=a b", "~/z", "12"]),
        ("t {a,b}-{1..3} {x} {2..1}", ["t", *[f"{x}-{n}" for x in "ab" for n in "123"], "{x}", "2", "1"]),
        ("t {a,{b,c}}", ["t", "a", "b", "c"]),
        ('t "a $X  b" c$(d)e', ["t", f"a {UNKNOWN}  b", f"c{UNKNOWN}e"]),
        ("t *.py a?b '*'", ["t", f"{UNKNOWN}.py", f"a{UNKNOWN}b", "*"]),
        ("t a 2>&1 b >f c", ["t", "a", "b", "c"]),
        ("t <f a", ["t", "a"]),
        ("/usr/bin/t a", ["/usr/bin/t", "a"]),
        (r"\t a", ["t", "a"]),
    ],
)  # fmt: skip
def test_words(text, expected):
    assert list(only(text).words) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X=1; t $X \"${X}2\" '$X'", "t 1 12 $X"),
        ("X='a b'; t $X \"$X\"", "t a b a b"),
        ("export X=1; t $X", "t 1"),
        ("X=1 t $X", "t ?"),
        ("(X=1); t $X", "t ?"),
        ("X=1; if a; then X=2; fi; t $X", "t ?"),
        ("X=1; for X in 2; do :; done; t $X", "t 2"),
        ("X=1; unset X; t $X", "t ?"),
        ("X=1; read X; t $X", "t ?"),
        ("X=1; . ./f; t $X", "t ?"),
        ("X=1; X+=2; t $X", "t 12"),
        ("X=$(a); t $X", "t ?"),
        ("X=(1 2); t ${X[@]}", "t ?"),
        ("X=1; t ${X:-2} ${#X}", "t 1 1"),
    ],
)
def test_variables(text, expected):
    assert words(text)[-1] == expected


@pytest.mark.parametrize(
    "text",
    [
        "sudo -u x -E t a",
        "sudo A=b t a",
        "doas -u x t a",
        "env -i -u X A=b t a",
        "env -S 't a'",
        "command t a",
        "builtin t a",
        "exec -a name t a",
        "nohup t a",
        "time -p t a",
        "timeout -k 3 --signal=9 5m t a",
        "nice -n 5 t a",
        "nice -5 t a",
        "stdbuf -oL -e 0 t a",
        "setsid -w t a",
        "npx -y @scope/t@1.2 a",
        "npx --package @scope/x t a",
        "npx -c 't a'",
        "bunx t a",
        "uvx --from x t a",
        "mise exec node@20 -- t a",
        "mise x -c 't a'",
        "bash -c 't a'",
        "bash -lc 't a'",
        "bash -euo pipefail -c 't a' name arg",
        "sh -c -- 't a'",
        "/bin/zsh -c 't a'",
        "eval t a",
        "eval 't a'",
        "trap 't a' EXIT",
        "coproc t a",
        "sudo env A=b timeout 3 bash -c \"nice bash -c 't a'\"",
        "bash <<< 't a'",
        "bash -s <<'E'\nt a\nE",
        "echo 't a' | sh",
        "cat <<'E' | bash\nt a\nE",
    ],
)
def test_wrappers_are_taken_off(text):
    assert only(text).words == ("t", "a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | xargs t b", "t b ?"),
        ("a | xargs -0 -n 1 -P4 t b", "t b ?"),
        ("a | xargs -I{} t {} b", "t ? b"),
        ("a | xargs -I X t -X b", "t -? b"),
        ("find . -name x -exec t {} b ';'", "t ? b"),
        ("find . -execdir t b {} +", "t b ?"),
        ('bash -c "t $X"', "t ?"),
    ],
)
def test_words_that_only_the_run_tells(text, expected):
    assert expected in words(text)


@pytest.mark.parametrize(
    "text",
    [
        "# t a",
        "echo 't a'",
        "echo '$(t a)' \"\\$(t a)\"",
        "cat > f <<'E'\nt a\n$(t a)\nE",
        "cat <<E\nt a\n\\$(t a)\nE",
        "cat <<-'E'\n\tt a\n\tE",
        "git commit -m \"$(cat <<'E'\nit's\nt a \"\nE\n)\"",
        "f() { t a; }",
        "function f { t a; }",
        "alias x='t a'",
        "ssh host 't a'",
        "command -v t",
        "bash -n -c 't a'",
        "bash script.sh -c 't a'",
        "trap 't a' INT",
        "trap - EXIT",
        "python3 -c 't a'",
        "$X a",
    ],
)
def test_text_that_does_not_run(text):
    assert "t" not in [command.program for command in commands(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat <<E\n$(t a)\nE", "t a"),
        ('cat <<E\n"$(t "a b")" `t c`\nE', "t a b"),
        ("cat <<A - <<B\nx\nA\nt no\nB\nt a", "t a"),
        ("<<E cat\nt no\nE\nt a", "t a"),
        ("cat <<'E' 2>&1 | tail -3\nt no\nE\nt a", "t a"),
        ("cat <<E; t a\nt no\nE", "t a"),
        ("cat <<E && t a\nt no\nE", "t a"),
        ("git commit -m \"$(cat <<'E'\nt no\nE)\" && t a", "t a"),
        ("cat <<\\E\n$(t no)\nE\nt a", "t a"),
        ("cat 3<<E\nt no\nE\nt a", "t a"),
    ],
)
def test_heredocs(text, expected):
    assert expected in words(text)
    assert not [line for line in words(text) if line.startswith("t no")]


@pytest.mark.parametrize(
    ("text", "stdin"),
    [
        ("t <<'E'\na $X\nE", "a $X\n"),
        ('t <<E\n  a "$X" \\$Y\nE', f'  a "{UNKNOWN}" $Y\n'),
        ("t <<-E\n\ta\n\t\tb\n\tE", "a\nb\n"),
        ("t <<E --flag 2>&1 | tail\na\nE", "a\n"),
        ("cat <<E | t\na\nE", "a\n"),
        ("(t) <<E\na\nE", "a\n"),
        ("t <<< 'a b'", "a b\n"),
        ("echo a b | t", "a b\n"),
        ("echo -e 'a\\nb' | t", "a\nb\n"),
        ("printf 'a %s\\n' b c | t", "a b\na c\n"),
        ("echo a > f | t", ""),
        ("make | t", None),
        ("t < f", None),
        ("t 3<<E\na\nE", None),
    ],
)
def test_standard_input(text, stdin):
    assert only(text).stdin == stdin


@pytest.mark.parametrize(
    ("text", "directory"),
    [
        ("t", ""),
        ("cd a && t", "a"),
        ("cd a; cd b/; t", "a/b"),
        ("cd a; cd /x; t", "/x"),
        ("cd; t", "~"),
        ("cd -P -- a; t", "a"),
        ("(cd a); t", ""),
        ("cd a | b; t", ""),
        ("(cd a; t)", "a"),
        ("bash -c 'cd a'; t", ""),
        ("bash -c 'cd a; t'", "a"),
        ("eval 'cd a'; t", "a"),
        ("env -C a t", "a"),
        ("pushd a; t", "a"),
        ("cd -; t", UNKNOWN),
        ("popd; t", UNKNOWN),
        ("cd $X; t", UNKNOWN),
        ("cd $X; cd /a; t", "/a"),
        ("if x; then cd a; fi; t", UNKNOWN),
    ],
)
def test_directory(text, directory):
    assert only(text).directory == directory


def test_environment():
    command = only("A=1; export B=2; C=3 env D=4 t $E; F=6")
    assert command.environment == {"A": "1", "B": "2", "C": "3", "D": "4"}


@pytest.mark.parametrize(
    "text",
    [
        't a "b',
        "t a 'b",
        "t a $'b\\'",
        "t a &&",
        "while x; do t a\n",
        "t a `b",
        "t a $(b",
        "x && t a --reason \"it's",
        "if x; then t a",
        "for x in y; do t a",
        "{ t a",
        "(t a",
        "case x in x) t a",
        "echo 'x\n' && t a \"b",
    ],
)
def test_a_line_that_is_never_finished_runs_nothing(text):
    assert "t" not in [command.program for command in commands(text)]


def test_lines_before_an_unfinished_one_run():
    assert words("t a\nt b && t c 'x\nt d") == ["t a"]


@pytest.mark.parametrize(
    "text",
    ["t a >&3", "ls !(x|y); t a", "rm @(x|y)*.c && t a", "t a \\\n", "echo $; t a"],
)
def test_odd_but_legal_text(text):
    assert "t a" in words(text)


@pytest.mark.parametrize(
    "text",
    [
        "t a;" * 20_000,
        "sudo " * 200 + "t a",
        "(" * 200 + "t a" + ")" * 200,
        "$(" * 20_000,
        "<<A " * 10_000,
        'X=\'eval "$Y"; eval "$Y"\'; Y=\'eval "$X"; eval "$X"\'; eval "$X"; t a',
    ],
)
def test_monstrous_text_gives_nothing(text):
    assert words(text) == []


def test_growing_values_are_given_up():
    assert words("A=xx;" + "A=$A$A;" * 60 + "t $A") == ["t ?"]


FRAGMENTS = [
    "t", "a", " ", "\n", ";", "&&", "|", "(", ")", "{", "}", "'", '"', "`", "$(", "${X", "<<E", "E",
    "\\", "#", "if", "then", "fi", "for x in", "do", "done", "case x in", "esac", "bash -c", "eval",
    "xargs", "trap", "EXIT", "[[", "]]", "((", "))", "=", "<", ">", "&", "\0", "\ud800", "é", "\t",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25))
def test_no_text_breaks_it(parts):
    for separator in ("", " "):
        for command in commands(separator.join(parts)):
            assert command.words
