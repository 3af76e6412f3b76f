"""Texts that are hard to read, and how much work the reader may do with one: calls of functions."""

import sys

from grove_tickets.shell import commands

MEBIBYTE = 1 << 20
MOST_CALLS = 400_000
"""Many times what any command of an agent needs; some tens of milliseconds."""

REPEATED = [
    "t a;", "a ", "t\n", "a|", "a&&", "a||", "a&", "(", ")", "(a)", "$(", '"$(', "`", "`a`", '"',
    "'", "$'", "{", "}", "{a,b}", "{a,", "{1..99}", "<<A ", "cat <<A\n", "a<<A;\nA\n", "<<<a ",
    "if a;then ", "case a in a) ", "while a;do ", "for a in ", "for a in b c;do ", "${a", "${a:-",
    "a=(", "a[", "[[ a ", "[[ ( ", "((", "$((", ">", "<", "#", "\n", "\\", "! ", "a=b ",
    "a=$a$a;", "f(){ ", "f()", "<(", "*", "[", "@(", "done ", ";", "\0", "é", "\ud800", "\r\n",
    "eval ", "sudo ", "bash -c ", "$", "\ufffc", "${a//b/", "\\\n", "cd a;", "trap a EXIT;", "$a",
    "echo a|", "a=b;t;", "if x;then a=b;fi;", "x&&a=b;", "xargs ", "-u a ",
]  # fmt: skip
NESTED = [
    ("(", ")"), ("{ ", ";}"), ("$(", ")"), ('"$(', ')"'), ("if a;then ", ";fi"), ("while a;do ", ";done"), ("a <(", ")"),
    ("for a in b c d;do ", ";done"), ("for a in $X;do b=$a;", ";done"), ("case a in a) ", ";;esac"), ("f(){ ", ";};f"),
    ("{a,", "}"), ("${a:-", "}"), ("((", "))"), ("$((", "))"), ("$((a) ", ")"), ("a=($(", "))"), ("[[ $(", ") ]]"), ("! { ", ";}"),
    ("eval '", "'"), ("if a;then b=$b$c;c=d;", ";fi"), ("a && { ", ";} > f"), ("cat <<E\n$(", ")\nE\n"),
]  # fmt: skip
SPECIAL = [
    'X=\'eval "$Y"; eval "$Y"\'; Y=\'eval "$X"; eval "$X"\'; eval "$X"; t a',
    "f() { f; f; }; g() { f; g; f; }; g; f",
    "for a in {1..100};do for b in {1..100};do for c in {1..100};do t;done;done;done",
    "for a in $X;do " * 20 + "b=$c;c=$d;d=$e;e=$a;t;" + "done;" * 20,
    "X='" + "a b " * 10_000 + '\'; t $X; for y in $X; do t; done; eval "$X"',
    "".join(f"a{n}=b;t;" for n in range(5000)),
    "".join(f"f{n}() {{ f{n + 1}; f{n + 1}; }};" for n in range(1000)) + "f0",
    "cat <<-E\n" + "\t" * MEBIBYTE + "\nE\n",
    "printf '" + "%s" * 100_000 + "' " + "a " * 100_000 + "| bash",
    "echo -e '" + "\\n" * (MEBIBYTE // 2) + "' | bash",
    "t $'" + "\\x41" * (MEBIBYTE // 4) + "'",
    "set -- " + "a " * 100_000 + "; " + 't "$1";' * 500,
    "find . " + "-exec t {} ';' " * 10_000,
    "((" + "(" * 100_000 + ")" * 100_000,
]


def calls_of(text):
    """Count the calls of functions, of Python's own ones too, that reading a text takes."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        commands.__wrapped__(text)
    finally:
        sys.setprofile(before)
    return count


def check(text):
    """Check that a text is read with little work."""
    assert calls_of(text) < MOST_CALLS


def repeated(unit, size):
    return unit * (size // len(unit)) + "\nt a"


def nested(opener, closer, depth):
    one = opener * depth + "a" + closer * depth + "\n"
    return one * (30_000 // len(one) + 1)
