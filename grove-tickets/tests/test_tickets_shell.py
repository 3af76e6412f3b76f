"""What a shell text would run."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_tickets.arguments import UNKNOWN
from grove_tickets.shell import Command, commands


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
        ("x=$(t a); (( 1 + ($(t b) - 2) / 3 )) && t c", ["t a", "t c"]),
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
        ("bash scripts/close.sh 16", ["scripts/close.sh 16"]),
        ("sh ./x.sh", ["./x.sh"]),
        ("bash -x -e -o pipefail ./x.sh -c 16", ["./x.sh -c 16"]),
        ("sudo bash -e x.sh $X", ["x.sh ?"]),
        ("bash $X 16", []),
        ("bash -n x.sh", []),
        (". ./x.sh 16", ["./x.sh 16"]),
        ("t=1; source x.sh 16; t $t", ["x.sh 16", "t ?"]),
        ("source $X 16", []),
    ],
)
def test_a_file_that_a_shell_runs_is_the_program(text, expected):
    assert words(text) == expected


FUNCTION = 'f() { t "$@" "$2"; }; '


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FUNCTION, []),
        (FUNCTION + "f a b", ["t a b b"]),
        (FUNCTION + "f 'a b'", ["t a b "]),
        (FUNCTION + "f $X b", ["t ? b ?"]),
        (FUNCTION + "f() { t z; }; f", ["t z"]),
        (FUNCTION + "f a; shift; t $1", ["t a ", "t ?"]),
        ("function f { t a; }; f", ["t a"]),
        ("f() ( t $1 ); f a > /dev/null", ["t a"]),
        ("(f() { t a; }); f", ["f"]),
        ("f() { f; t a; }; f", ["t a"] * 5),
        ("f() { local X=2; t $X; }; X=1; f; t $X", ["t 2", "t ?"]),
        ("f() { X=2; }; X=1; f; t $X", ["t ?"]),
        ("f() { x=$1; shift; t $x $@; }; f a b", ["t a b"]),
        ("f() { t a; }; if x; then f() { t b; }; fi; f", ["x", "t b"]),
        ('t() { command t "$@" c; }; t a', ["t a c"]),
        ("f() { t a; }; sudo f", ["f"]),
        ("f() { t a; }; export -f f; bash -c f", ["t a"]),
        ("bash -c 't $1 $2' x a", ["t a"]),
    ],
)
def test_functions_and_positional_parameters(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for x in a b; do t $x; done", ["t a", "t b"]),
        ("for x in a-{1..2}; do t $x; done; t $x", ["t ?", "t ?"]),
        ("X='a b'; for x in $X c; do t $x; done", ["t a", "t b", "t c"]),
        ("f() { for x; do t $x; done; }; f a b", ["t a", "t b"]),
        ("for x in a $Y; do t $x; done", ["t ?"]),
        ("for x in *; do t $x; done", ["t ?"]),
        ("for x in {1..101}; do t $x; done", ["t ?"]),
        ("for x in; do t $x; done", []),
        ("X=1; for x in a b; do X=$x; y && break; done; t $X", ["y", "y", "t ?"]),
        ("X=1; for x in a b; do t $X; X=$x; done", ["t 1", "t ?"]),
        ("X=1; while y; do t $X; X=2; done; t $X", ["y", "t ?", "t ?"]),
        ("for ((i=0; i<3; i++)); do t $i; done", ["t ?"]),
        ("while read x; do t $x; done <<< a", ["t ?"]),
    ],
)
def test_loops(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exit; t a", []),
        ("exit 0\nt a", []),
        ("(exit); t a", ["t a"]),
        ("x || exit; t a", ["x", "t a"]),
        ("if x; then exit; else exit; fi; t a", ["x", "t a"]),
        ("return; t a", ["t a"]),
        ("exec t a; t b", ["t a"]),
        ("exec > f; t b", ["t b"]),
        ("true && t a || t b", ["t a", "t b"]),
        ("set -euo pipefail; t a", ["t a"]),
        ("trap 't $X' EXIT; X=1; exit; t b", ["t ?"]),
        ("trap - EXIT", []),
        ("trap 't a' INT", []),
        ("x && X=1; t $X", ["x", "t ?"]),
        ("X=1; x && { X=2; exit; }; t $X", ["x", "t 1"]),
        ("X=1; if x; then X=2; else t $X; fi", ["x", "t ?"]),
        ("x && X=1 && t $X", ["x", "t 1"]),
        ("case a in a) X=1 ;; esac; t $X", ["t ?"]),
        ("X=1 | x; t $X", ["x", "t ?"]),
    ],
)
def test_what_may_run(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("false && t a; t b", ["t b"]),
        ("true || t a; : && t b", ["t b"]),
        ("X=1 || t a", []),
        ("X=$(x) || t a", ["x", "t a"]),
        ("! true && t a; ! ! true && t b", ["t b"]),
        ("if false; then t a; elif true; then t b; else t c; fi", ["t b"]),
        ("while false; do t a; done; until false; do t b; done; until true; do t c; done", ["t b"]),
        ("x && false && t a; x || true || t b; x && false || t c", ["x", "x", "x", "t c"]),
        ("x | true && t a || t b", ["x", "t a", "t b"]),
        ("true && X=1; t $X", ["t 1"]),
        ("[ x ] || t a", ["[ x ]", "t a"]),
        ("x || { t a; exit; }; false || t b && t c", ["x", "t a", "t b", "t c"]),
        ("x && exit || t a", ["x", "t a"]),
        ("for x in a b; do t $x; break; t c; done; break; t d", ["t a", "t d"]),
        ("for x in a b; do y && continue; t $x; continue; t c; done", ["y", "t a", "y", "t b"]),
        ("for x in a; do (break; t a); done", ["t a"]),
        ("f() { t a; return; t b; }; f; t c", ["t a", "t c"]),
        ("f() { x && return 1; true; }; f || t a", ["x", "t a"]),
        ("f() { exit; t a; }; f", []),
        ("sudo exit; command cd a; sudo cd b; t a", ["t a"]),
        ("command exit; t a", []),
        ("sudo false && t a", []),
        ("true() { x; }; true || t a", ["x", "t a"]),
        ("false & t a", ["t a"]),
        ("if { false & }; then t a; fi", ["t a"]),
    ],
)
def test_what_cannot_run(text, expected):
    assert words(text) == expected


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
