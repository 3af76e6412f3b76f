"""What is wrong with YAML that cannot be read: the line, and what to change there."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from yaml import Mark

_QUOTE: Final = "put the value in quotation marks"
# By words of the parser, the most telling first; and whether it began in an earlier line.
_WORDS: Final = (
    ("flow sequence", "a list that begins with [ has no end; close it with ], or {quote}", True),
    ("flow mapping", "what begins with {{ has no end; close it with }}, or {quote}", True),
    ("end of stream", "a quotation mark is never closed; close it", True),
    ("escape character", "a backslash in double quotation marks; use single ones", False),
    ("could not find expected ':'", "a name without a colon; write `name: value`", True),
    ("mapping values", "a colon where none may stand, as in a title; {quote}", False),
    ("sequence entries", "a list begins behind a colon; begin it in a line of its own", False),
    (r"character '\t'", "a tab; use blanks", False),
    (
        "cannot start any token",
        "a value begins with a sign that means something else; {quote}",
        False,
    ),
    ("alias", "a value begins with *, which means something else; {quote}", False),
    ("anchor", "a value begins with &, which means something else; {quote}", False),
    ("tag", "a value begins with !, which means something else; {quote}", False),
    ("block scalar", "words follow a | or > that begins a text; begin it in the next line", False),
    (
        "<block end>",
        "a line is indented as none beside it, or words follow a quotation; {quote}",
        False,
    ),
    ("node content", "a value begins with a sign that means something else; {quote}", False),
)
_OTHERWISE: Final = "it is no YAML; write `name: value`, one a line"


def problem_in(error: Exception, first_line: int) -> str:
    """Say where YAML cannot be read, why, and how to mend it."""
    if isinstance(error, RecursionError):
        return f"line {first_line}: it is nested too deeply; write `name: value`, one a line"
    if "special characters are not allowed" in str(error):
        return "it holds a control character; take it out"
    said = f"{getattr(error, 'context', None)}; {getattr(error, 'problem', None)}"
    begun: Mark | None = getattr(error, "context_mark", None)
    met: Mark | None = getattr(error, "problem_mark", None)
    for words, wrong, is_earlier in _WORDS:
        if words in said:
            mark = (begun or met) if is_earlier else (met or begun)
            return f"line {first_line + (mark.line if mark else 0)}: {wrong.format(quote=_QUOTE)}"
    return f"line {first_line + (met.line if met else 0)}: {_OTHERWISE}"
