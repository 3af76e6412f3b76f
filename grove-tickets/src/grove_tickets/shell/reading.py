"""Reads shell text into commands, line by line, by the grammar of bash."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from grove_tickets.arguments import UNKNOWN
from grove_tickets.shell import syntax
from grove_tickets.shell.lexing import PLAIN_IN_HEREDOC, WordReader, required
from grove_tickets.shell.limits import Budget, ShellSyntaxError
from grove_tickets.shell.syntax import Node, Opaque, Part, Redirection, Script, Text, Word

_END: Final = r"(?=[ \t\n;&|<>()]|\Z)"  # of a keyword
_BLANKS: Final = re.compile(r"(?:[ \t]|\\\n|#[^\n]*+)++")
_AND_OR: Final = re.compile(r"&&|\|\|")
_PIPE: Final = re.compile(r"\|(?!\|)&?")
_BACKGROUND: Final = re.compile(r"&(?!&)")
_SEMICOLON: Final = re.compile(r";(?![;&])")
_PREFIX: Final = re.compile(rf"(?:!|time(?:[ \t]++-p)?(?![ \t]++-)){_END}")
_OPENING: Final = re.compile(rf"(?:if|while|until|for|select|case|\{{|\[\[){_END}")
_CLOSING: Final = re.compile(rf"(?:then|elif|else|fi|do|done|esac|\}}){_END}")
_LIST_END: Final = re.compile(rf"\)|;[;&]|{_CLOSING.pattern}|\Z")
_LINE_END: Final = re.compile(r"\n|\Z")
_CASE_END: Final = re.compile(r";;&?|;&")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_FUNCTION_NAME: Final = r"([^ \t\n;&|<>()'\"\\$`=]++)"
_FUNCTION_SIGN: Final = r"[ \t]*+\([ \t]*+\)"
_FUNCTION: Final = re.compile(
    rf"function[ \t]++{_FUNCTION_NAME}(?:{_FUNCTION_SIGN})?|{_FUNCTION_NAME}{_FUNCTION_SIGN}"
)
_IN: Final = re.compile(rf"in{_END}")
_TEST_END: Final = re.compile(rf"\]\]{_END}")
_REDIRECTION: Final = re.compile(
    r"([0-9]+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)"
)
_WHO_KNOWS: Final[tuple[Word, ...]] = ((Text(UNKNOWN),),)
_ALL_POSITIONALS: Final[Word] = (syntax.Quoted((syntax.Parameter("@"),)),)


class ScriptReader(WordReader):
    """Reads the commands of a text."""

    def __init__(self, text: str, budget: Budget) -> None:
        super().__init__(text, budget)
        self._heredocs: list[tuple[Redirection, str]] = []

    def nodes(self) -> Iterator[Node]:
        """Read command after command; a shell reads a line before it runs anything of it."""
        with suppress(ShellSyntaxError):
            self._skip_lines()
            while not self.at_end:
                line = self._list(lambda: self.take(_BLANKS), _LINE_END)
                self._skip_lines()  # its here-documents stand there
                yield from line

    def commands(self) -> Script:
        """Read commands up to the first sign or word that ends a list of them."""
        return self._list(self._skip_lines, _LIST_END)

    def _list(self, skip: Callable[[], object], end: re.Pattern[str]) -> Script:
        nodes: list[Node] = []
        is_separated = True
        skip()
        while not end.match(self.text, self.position):
            required(is_separated)
            node = self._chain()
            in_background = self.take(_BACKGROUND)
            nodes.append(syntax.Group((node,), is_subshell=True) if in_background else node)
            is_separated = bool(in_background or self.take(_SEMICOLON) or self.starts("\n"))
            skip()
        return tuple(nodes)

    def _chain(self) -> Node:
        chain = self._pipeline()
        operator = self.take(_AND_OR)
        while operator:
            last, rest = operator, []
            while operator == last:
                self._skip_lines()
                rest.append(self._pipeline())
                operator = self.take(_AND_OR)
            chain = syntax.Chain(chain, last == "&&", tuple(rest))
        return chain

    def _pipeline(self) -> Node:
        self.take(_BLANKS)
        is_negated = False
        while prefix := self.take(_PREFIX):
            self.budget.spend()
            self.take(_BLANKS)
            is_negated ^= prefix == "!"
        stages = [self._command()]
        while self.take(_PIPE):
            self._skip_lines()
            stages.append(self._command())
        node = syntax.Pipeline(tuple(stages)) if len(stages) > 1 else stages[0]
        return syntax.Group((node,), is_negated=True) if is_negated else node

    def _command(self) -> Node:
        self.budget.spend(4)
        words: list[Word] = []
        redirections: list[Redirection] = []
        with self.budget:
            node = self._compound()
            while True:
                redirection = self._redirection()
                if redirection is not None:
                    redirections.append(redirection)
                elif node is None and (word := self.word()):
                    words.append(word)
                else:
                    break
        if node is None:
            required(words or redirections)
            return syntax.Simple(tuple(words), tuple(redirections))
        return syntax.Group((node,), tuple(redirections)) if redirections else node

    def _redirection(self) -> Redirection | None:
        self.take(_BLANKS)
        match = _REDIRECTION.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        self.take(_BLANKS)
        start = self.position
        redirection = Redirection(match[2], match[1] or "", required(self.word()))
        if match[2] in {"<<", "<<-"}:
            self.budget.spend(20)
            self._heredocs.append((redirection, self.text[start : self.position]))
        return redirection

    def _compound(self) -> Node | None:
        if expression := self.arithmetic():
            return expression
        if self.starts("("):
            return syntax.Group(required(self.substitution().script), is_subshell=True)
        if function := _FUNCTION.match(self.text, self.position):
            self.position = function.end()
            self._skip_lines()
            return syntax.Function(function[1] or function[2], self._command())
        required(not _CLOSING.match(self.text, self.position))
        node: Node | None = None
        keyword = self.take(_OPENING)
        self.take(_BLANKS)
        match keyword:
            case "{":
                node = syntax.Group(self._block("}"))
            case "if":
                node = self._if()
            case "while" | "until":
                condition, body = self._block("do"), self._block("done")
                ways = (body, ()) if keyword == "while" else ((), body)
                node = syntax.Loop((syntax.Branches(condition, ways),), "", _WHO_KNOWS)
            case "for" | "select":
                node = self._for()
            case "case":
                node = self._case()
            case "[[":
                node = self._test()
        return node

    def _block(self, end: str) -> Script:
        script = required(self.commands())
        required(self.take(_CLOSING) == end)
        return script

    def _if(self) -> Node:
        with self.budget:
            condition = self._block("then")
            body = required(self.commands())
            end = self.take(_CLOSING)
            if end == "elif":
                return syntax.Branches(condition, (body, (self._if(),)))
            required(end in {"else", "fi"})
            return syntax.Branches(condition, (body, self._block("fi") if end == "else" else ()))

    def _for(self) -> Node:
        name, words = "", _WHO_KNOWS
        expression = self.arithmetic()
        if expression is None:
            name = required(self.take(_NAME))
            self._skip_lines()
            words = self._words() if self.take(_IN) else (_ALL_POSITIONALS,)
        self.take(_BLANKS)
        self.take(_SEMICOLON)
        self._skip_lines()
        required(self.take(_CLOSING) == "do")
        body = self._block("done")
        return syntax.Loop((expression, *body) if expression else body, name, words)

    def _words(self) -> tuple[Word, ...]:
        words = []
        self.take(_BLANKS)
        while word := self.word():
            words.append(word)
            self.take(_BLANKS)
        return tuple(words)

    def _case(self) -> Node:
        subject = required(self.word())
        self._skip_lines()
        required(self.take(_IN))
        ways = []
        self._skip_lines()
        while self.take(_CLOSING) != "esac":
            self.position += self.starts("(")
            while not self.starts(")"):
                required(self._words())
                self.take(_PIPE)
            self.position += 1
            ways.append(self.commands())
            self.take(_CASE_END)
            self._skip_lines()
        return syntax.Branches((Opaque(subject),), tuple(ways))

    def _test(self) -> Node:
        parts: list[Part] = []
        self._skip_lines()
        while not self.take(_TEST_END):
            required(not self.at_end)
            word = self.word()
            parts += word
            self.position += not word
            self._skip_lines()
        return Opaque(tuple(parts))

    def _skip_lines(self) -> None:
        """Go past blanks, comments and line breaks, and read the here-documents behind those."""
        self.take(_BLANKS)
        while self.starts("\n"):
            self.budget.spend()
            self.position += 1
            while self._heredocs:
                self._read_heredoc(*self._heredocs.pop(0))
            self.take(_BLANKS)

    def _read_heredoc(self, redirection: Redirection, raw: str) -> None:
        delimiter = re.sub(r"""['"\\]""", "", raw)
        tabs = r"\t*" if redirection.operator == "<<-" else ""
        # `$(cat <<E`: the parenthesis may follow the last line's delimiter.
        last_line = re.compile(rf"\n{tabs}{re.escape(delimiter)}(?:\n|\Z|(?=\)))")
        match = last_line.search(self.text, self.position - 1)
        end = len(self.text) if match is None else match.start() + 1
        body = self.text[self.position : end]
        self.position = end if match is None else match.end()
        if tabs:
            body = re.sub(r"(?m)^\t+", "", body)
        redirection.target = (Text(body),)
        if delimiter == raw:
            try:
                reader = ScriptReader(body, self.budget)
                redirection.target = (reader.quoted("", PLAIN_IN_HEREDOC),)
            except ShellSyntaxError:  # a shell finds it only when it gets there
                redirection.target = (Opaque(()),)
