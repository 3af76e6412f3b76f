"""Scripts at random, and what a real bash runs of them.

The programs in them write down how they are called, print something that no text tells, or succeed
and fail as they like. All that bash runs must be found, with the right words wherever the reader
claims to know them. What may run counts for the reader; where a script leaves nothing to chance or
to the exit code of a command, it may claim no words that did not run.
"""

import os
import re
import shlex
import signal
import subprocess
from contextlib import suppress
from uuid import uuid4

from attrs import frozen
from core_worlds import write_program
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from grove_tickets.arguments import UNKNOWN
from grove_tickets.shell import commands

PROGRAMS = {
    "t": 'n=$(mktemp "$LOG/XXXXXX"); for w in "$@"; do printf "%s\\0" "$w"; done > "$n.call"\n',
    "unknown": "echo u1 u2\n",
    "maybe": 'n=$(($(cat "$LOG/count" 2>/dev/null || echo "$SEED") + 1)); echo "$n" > "$LOG/count"\n'
    "exit $(( (n * n / 7 + n) % 2 ))\n",
}


NAMES = [
    "X", "Y", "Z",
]  # fmt: skip
PLAIN = [
    "a", "b", "c-1", "d=e", "-f", "bd-2", "é", "a,b", "x:y", "1",
]  # fmt: skip
ODD = [
    "it's", 'say "x"', "a b", "$X", "`t no`", "$(t no)", "# no", "a;b", "{a,b}", "", "x\ny", "\\",
    "!", "&&",
]  # fmt: skip
BRACES = [
    "{a,b}", "x{1..3}y", "a{,b}", "{a}", "a''b", "c\"d\"$'\\t'", "{3..1}", "a\\\nb",
]  # fmt: skip
CERTAIN_EXPANSIONS = [
    "${N:-W}", "${N-}", "${N:+W}", "${N:=W}", "$(echo W V)", "`echo bq`", "$(printf '%s-' W y)",
    "$(cat <<'E'\nin 'it\nE\n)", "$(true; echo z)", '$(cat <<E\n$(echo q) "w\nE\n)',
    "${N:-$(echo W)}", "${N:-'a b'}",
]  # fmt: skip
EXPANSIONS = [
    "$(case a in a) echo W;; esac)", "$(unknown)", "$((1 + 2))", "$?", "${X%b}", "${#N}", "$1",
    "$2", "$@", "$#", "$*", "$N", "${A[@]}", "${A[1]}", "${A[*]}", "$A", "${A}", "${#A[@]}",
    "$(t sub; echo z)", "$(f W)", "$(( $(echo 1) + 1 ))", "$(( (1) ))", "$( (echo W) )",
    "${N/a/b}",
]  # fmt: skip
CERTAIN_CHANGES = [
    "N=W", "export N=W", "N=W M=V", "unset N", "eval N=W", "declare N=W", "X=5 eval 't ev $X'",
    "set -- W V", "readonly R=W",
]  # fmt: skip
CHANGES = [
    "N=${M}x", "A+=(W)", "N+=W", "shift", "local N=W", 'A=("$@")', "N=$(t in; echo W)",
    "N=$(f W)", "A[1]=W", "X=7 f W V", "set W", "A=(W V)", "declare -i X=1", "export N",
    "printf -v N W", "local A", "mapfile A <<< W", 'read N M <<< "W V"',
]  # fmt: skip
CERTAIN_STEPS = [
    "true", ":", "! true", "! false", "false",
]  # fmt: skip
STEPS = [
    "exit", "return", "break", "continue", "break 2", "continue 2", "unset -f f",
    "maybe", "! maybe", "f W V", "g", 'f "$@"', "[[ a == a && (b < c) ]]", "(( 1 < 2 ))",
    "trap 't trap $X' EXIT", "exec t ex W", "test -n x", "unknown", "trap - EXIT", "[ -n W ]",
    "return 1", 'bash -c \'t "$0" "$1" "$@" $N\' W V', "export -f f; bash -c 'f W'",
    "bash <<< 't W $N'", "echo 't W' | bash", "eval 't W' \"'a b'\" '$N'",
    "source /dev/stdin <<< 't src \"$N\"; N=W'",
    "cat <<E | bash\nt W $N \\$N\nE\n", "t W | cat", "command eval t W",
    "printf '%s\\n' W V | xargs -n1 t x", "echo W | xargs -I{} t {} y", "time t W", "! t W",
    "coproc t W", "$(command -v t) W", "${T:-t} W", "env -u N t W", "nohup t W", "timeout 5 t W",
    "find . -maxdepth 0 -exec t {} W ';'", "break 1", "g && f", "f() t W $1",
    "f() (t W; exit)", "env -i PATH=$PATH LOG=$LOG bash -c 't \"$N\" W'",
]  # fmt: skip
PREFIXES = [
    "V=1 ", "X=9 ", "command ", "env V=2 ", "\\", "nice -n 1 ", "</dev/null ", ">&2 ",
]  # fmt: skip
REDIRECTIONS = [
    " >/dev/null", " 2>&1", " <<< w", " </dev/null", " >&2", " <<E\nt no\nE\n", " 3<<E\nx\nE\n",
    " &>/dev/null",
]  # fmt: skip
CERTAIN_COMPOUNDS = [
    "P; Q", "P\nQ", "{ P\nQ\n}", "( P\nQ\n)", "for X in a b; do P\nQ\ndone",
    "for Y in; do P\ndone; Q", "f() { P\nQ\n}", "{ P\n}; Q", "true && P\nQ", "false || P\nQ",
    "bash -c 'P' n arg; Q", "eval 'P'\nQ",
    "for X in W V\ndo P\ndone", "f() { P\n}\nf W\nQ", "if ! false; then P\nfi; Q",
    "bash <<'E'\nP\nE\nQ", "if true; then P\nfi 2>/dev/null\nQ",
    "if true; then P\nelse Q\nfi", "if false; then P\nelse Q\nfi",
    "while false; do P\ndone; Q", "until true; do P\ndone\nQ", "true || { P\n}; Q",
    "false && { P\n}; Q", "! false || { P\n}; Q", "{ P\n} && false && Q",
]  # fmt: skip
COMPOUNDS = [
    "P && Q", "P || Q", "! { P\n} && Q", "for X in 1 2; do P && Q\ndone", "P | Q", "P &\nwait; Q",
    "function g { P\n}; Q", "if maybe; then P\nelse Q\nfi", "if P; then Q\nfi", "maybe && P; Q",
    "maybe || P\nQ", "while maybe; do P\nQ\ndone", "for X in $(unknown); do P\ndone; Q",
    "case a in a) P ;; *) Q ;; esac", "case $X in b) P ;& a|c) Q ;;& *) t d ;; esac",
    "for ((i=0; i<2; i++)); do P\ndone; Q", "for X; do P\nQ\ndone",
    "cat <( P\n) <( Q\n) >/dev/null", "until maybe; do P\ndone; Q",
    "if maybe; then P\nelif maybe; then Q\nfi", "{ P\n} <<< x | { Q\n}",
    "for X in a $(unknown) b; do P\nQ\ndone", "{ P\n} > >(cat); Q", "f() { P\n}; f W | cat; Q",
    "P && Q || t y", "P || Q && t z", "x=$( P\n); Q", "maybe && { P\n} || { Q\n}",
    "if maybe; then P\nfi\nQ", "maybe && exit\nP", "while true; do P\nmaybe && break; Q\ndone",
    "g() { P\n}\nmaybe && g V\nQ",
    "for X in a b c; do P\nmaybe && continue; Q\ndone", "f() { maybe && return; P\n}; Q",
]  # fmt: skip


@frozen
class Piece:
    """A piece of a script, and whether its text tells exactly what runs."""

    text: str
    certain: bool = True


class Maker:
    """Makes scripts at random."""

    def __init__(self, random):
        self.choice = random.choice
        self.chance = lambda of: random.randrange(of) == 0

    def filled(self, template, certain, size=0):
        """Fill a template: N and M are names, W and V words, P and Q scripts."""
        makers = {"N": self.name, "M": self.name, "W": self.word, "V": self.word}
        scripts = {"P": size // 2, "Q": size - size // 2 - 1}
        pieces = []
        for part in re.split(r"\b([NMWVPQ])(?![A-Za-z0-9])", template):
            piece = Piece(part)
            if part in makers:
                piece = makers[part]()
            elif part in scripts:
                piece = self.script(scripts[part])
            pieces.append(piece)
        texts = [piece.text for piece in pieces]
        if template.startswith(("bash -c 'P'", "eval 'P'")):
            texts[0], texts[2] = texts[0][:-1], texts[2][1:]
            texts[1] = shlex.quote(texts[1])
        return Piece("".join(texts), certain and all(piece.certain for piece in pieces))

    def name(self):
        return Piece(self.choice(NAMES))

    def quoted(self):
        word = self.choice(ODD)
        double = word
        for sign in '\\"$`':
            double = double.replace(sign, "\\" + sign)
        ansi = word.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return Piece(self.choice([shlex.quote(word), f'"{double}"', f"$'{ansi}'", "\\a\\ b\\;c"]))

    def word(self):
        if self.chance(2):
            return Piece(self.choice(PLAIN))
        if self.chance(4):
            return self.quoted()
        if self.chance(6):
            return Piece(self.choice(BRACES))
        certain = self.chance(2)
        piece = self.filled(self.choice(CERTAIN_EXPANSIONS if certain else EXPANSIONS), certain)
        if "$'" in piece.text:  # between the quotes of `"${N:-…}"` bash does odd things with it
            return self.quoted()
        template = self.choice(['"{}"', '"{}"', "{}", 'p{}"q r"', '"x {}"{{1,2}}'])
        return Piece(template.format(piece.text), piece.certain and template != "{}")

    def call(self):
        pieces = [self.word() for _ in range(self.choice([0, 1, 1, 2, 3]))]
        text = " ".join(["t", self.choice("123456789"), *(piece.text for piece in pieces)])
        prefix = self.choice(PREFIXES) if self.chance(4) else ""
        redirection = self.choice(REDIRECTIONS) if self.chance(4) else ""
        return Piece(prefix + text + redirection, all(piece.certain for piece in pieces))

    def script(self, size):
        certain = not self.chance(3)
        if size > 0:
            return self.filled(
                self.choice(CERTAIN_COMPOUNDS if certain else COMPOUNDS), certain, size - 1
            )
        if self.chance(2):
            return self.call()
        if self.chance(2):
            return self.filled(self.choice(CERTAIN_CHANGES if certain else CHANGES), certain)
        return self.filled(self.choice(CERTAIN_STEPS if certain else STEPS), certain)


def make_programs(directory):
    for name, text in PROGRAMS.items():
        write_program(directory / name, text)
    return directory


def really_run(text, programs, seed, where):
    """Give the words of all calls that bash made, or ``None`` when it refuses or never ends."""
    log = where / uuid4().hex
    log.mkdir()
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "LOG": str(log),
        "SEED": str(seed),
        "FUNCNEST": "4",
    }
    with subprocess.Popen(
        ["bash", "-c", text],
        env=environment,
        cwd=where,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as bash:
        try:
            output = bash.communicate(timeout=20)[0]
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(bash.pid, signal.SIGKILL)
    if b"syntax error" in output:
        return None
    calls = sorted(log.glob("*.call"), key=lambda path: path.stat().st_mtime_ns)
    return [tuple(path.read_text().split("\0")[:-1]) for path in calls]


def matches(claimed, ran):
    """Tell whether words that ours claims may be those that ran.

    What is unknown may be empty or hold several words, and then takes its blanks along.
    """
    pieces = re.split(f"[ \0]?{UNKNOWN}[ \0]?", "".join(f"{word}\0" for word in claimed))
    pattern = "(?s:.*)".join(map(re.escape, pieces))
    return re.fullmatch(pattern, "".join(f"{word}\0" for word in ran)) is not None


def check(text, certain, ran):
    claimed = [command.words[1:] for command in commands(text) if command.program == "t"]
    for call in ran:
        assert any(matches(words, call) for words in claimed), (call, claimed)
    if certain:
        known = [words for words in claimed if UNKNOWN not in "".join(words)]
        assert not [words for words in known if words not in ran], (known, ran)


def try_scripts(examples, directory, *, at_random=False):
    """Hold what the reader finds in scripts against what bash runs of them."""
    programs = make_programs(directory)

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=not at_random,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(st.randoms(use_true_random=False), st.integers(0, 12), st.integers(0, 9))
    def try_one(random, size, seed):
        script = Maker(random).script(size)
        ran = really_run(script.text, programs, seed, directory)
        # Text that no one knows may itself be run as a script.
        assume(ran is not None and ("no",) not in ran)
        note(script.text)
        check(script.text, script.certain, ran)

    try_one()
