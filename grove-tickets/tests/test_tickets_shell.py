"""What a shell text would run."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import rows

from grove_tickets.arguments import UNKNOWN
from grove_tickets.shell import Command, commands


def words(text: str) -> list[str]:
    """Give each command as one line, ``?`` for what is unknown."""
    return [" ".join(command.words).replace(UNKNOWN, "?") for command in commands(text)]


def only(text: str, program: str = "t") -> Command:
    (command,) = [command for command in commands(text) if command.program == program]
    return command


@pytest.mark.parametrize(("about", "text", "commands"), rows("shell-words"))
def test_the_commands_of_a_text(about, text, commands):
    assert " ;; ".join(words(text)) == commands, about


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t $(echo a b) \"$(printf '%s-%s' c d)\"", ["t", "a", "b", "c-d"]),
        ("t \"$(cat <<'E'\nit's\n\n$X (\nE\n)\"", ["t", "it's\n\n$X ("]),
        ('X=$(echo a; true; echo b); t "$X"', ["t", "a\nb"]),
        ("f() { echo $1; }; t $(f a)", ["t", "a"]),
        ("t $(echo a | cat) `echo b`", ["t", "a", "b"]),
        ("${T:-t} ${X:-'a b'} ${Y:-c d}", ["t", "a b", "c", "d"]),
        ('t ${X+a} "${X%b}"', ["t", UNKNOWN, UNKNOWN]),
        ("X=${X:-a}; t ${X:-b}", ["t", "a"]),
        ("IFS=,; X=a,b; t $X", ["t", UNKNOWN]),
        ("X='*'; t $X \"$X\"", ["t", UNKNOWN, "*"]),
        ("X=' a  b '; t x$X\"y\"", ["t", "x", "a", "b", "y"]),
        ("t {a,b}x{,y} {3..1} '{a,b}' {a} {}/{b}",
         ["t", UNKNOWN, UNKNOWN, "{a,b}", "{a}", "{}/{b}"]),
    ],
)  # fmt: skip
def test_expansions(text, expected):
    assert list(only(text).words) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"""t a'b'"c"\d$'e\n' $'\x66'""", ["t", "abcde\n", UNKNOWN]),
        (r't "a\"b\$c\`d\\e\f"', ["t", 'a"b$c`d\\e\\f']),
        ("t '' \"\" ' a  b '", ["t", "", "", " a  b "]),
        ('t "a" - = == %', ["t", "a", "-", "=", "==", "%"]),
        ('t --x=y -s="a b" ~/z 12', ["t", "--x=y", "-s=a b", "~/z", "12"]),
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
        ("X=1; for X in 2; do :; done; t $X", "t ?"),
        ("X=1; unset X; t $X", "t ?"),
        ("X=1; read X; t $X", "t ?"),
        ("X=1; . ./f; t $X", "t ?"),
        ("X=1; X+=2; t $X", "t 12"),
        ("X=$(a); t $X", "t ?"),
        ("X=1; ((X++)); t $X", "t ?"),
        ("X=1; : $((X += 2)); t $X", "t ?"),
        ("X=1; (( X == 2 )); t $X", "t ?"),
        ("for ((X=1; X<3; X++)); do t $X; done", "t ?"),
        ("X=(1 2); t ${X[@]}", "t ?"),
        ("X=1; t ${X:-2} ${#X}", "t 1 ?"),
    ],
)
def test_variables(text, expected):
    assert words(text)[-1] == expected


WRAPPED = [
    "sudo -u x -E t a", "sudo A=b t a", "env -i -u X A=b t a", "command t a",
    "builtin t a", "nohup t a", "time -p t a", "timeout -k 3 --signal=9 5m t a", "nice -5 t a",
    "stdbuf -oL -e 0 t a", "setsid -w t a", "npx -y @scope/t@1.2 a", "npx --package @scope/x t a",
    "uvx --from x t a", "mise exec node@20 -- t a", "bash -c 't a'",
    "bash -euo pipefail -c 't a' name arg", "/bin/zsh -c 't a'", "eval 't a'", "trap 't a' EXIT",
    "coproc t a", "sudo env A=b timeout 3 bash -c \"nice bash -c 't a'\"", "bash <<< 't a'",
    "bash -s <<'E'\nt a\nE", "cat <<'E' | bash\nt a\nE", "{ echo 't a'; } | bash",
    "source /dev/stdin <<< 't a'", "flock -n f t a",
    "busybox sh -c 't a'", "uv run --with x t a",
    "uv --directory x run t a", "npm exec @scope/t -- a", "pnpm dlx @scope/t@2 a", "bun x t a",
    "bundle exec t a", "direnv exec . t a", "nix develop -c t a",
    "op run --env-file=x -- t a", "conda run -n x t a",
    "time { t a; }", "command eval t a",
]  # fmt: skip


@pytest.mark.parametrize("text", WRAPPED)
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
        "cat > f <<'E'\nt a\n$(t a)\nE",
        "cat <<E\nt a\n\\$(t a)\nE",
        "cat <<-'E'\n\tt a\n\tE",
        "git commit -m \"$(cat <<'E'\nit's\nt a \"\nE\n)\"",
        "f() { t a; }",
        "function f { t a; }",
        "command -v t",
        "bash -n -c 't a'",
        "$X a",
        "x=(t a)",
        "[[ t == a || t -nt a ]]",
        "docker exec x t a",
        "nix-shell -p t",
        "a;; t a",
        "a | | t a",
        "; t a",
        "if x; t a; fi",
        "(a) t a",
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
        ("printf 'a %s %s\\n' b c | t", "a b c\n"),
        ("printf 'a %s\\n' b c | t", None),
        ("echo a > f | t", None),
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
        "t a &&",
        "while x; do t a\n",
        "t a $(b",
        "x && t a --reason \"it's",
        "if x; then t a",
        "for x in y; do t a",
        "echo 'x\n' && t a \"b",
    ],
)
def test_a_line_that_is_never_finished_runs_nothing(text):
    assert "t" not in [command.program for command in commands(text)]


def test_lines_before_an_unfinished_one_run():
    assert words("t a\nt b && t c 'x\nt d") == ["t a"]


@pytest.mark.parametrize(
    "text",
    ["t a >&3", "t a \\\n", "echo $; t a"],
)
def test_odd_but_legal_text(text):
    assert "t a" in words(text)


def test_growing_values_are_given_up():
    assert words("t a; A=xx\n" + "A=$A$A\n" * 60 + "t $A") == ["t a"]


FRAGMENTS = [
    "t", "a", " ", "\n", ";", "&&", "|", "(", ")", "{", "}", "'", '"', "`", "$(", "${X", "<<E", "E",
    "\\", "#", "if", "then", "fi", "for x in", "do", "done", "case x in", "esac", "bash -c", "eval",
    "xargs", "trap", "EXIT", "[[", "]]", "((", "))", "=", "<", ">", "&", "\0", "\ud800", "é", "\t",
]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25))
def test_no_text_breaks_it(parts):
    for separator in ("", " "):
        for command in commands(separator.join(parts)):
            assert command.words
