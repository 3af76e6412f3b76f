"""Follows what a shell would run of a text.

What may run counts as running: both ways of a condition, the body of a loop. Behind it, the
variables that it has changed are not known any more.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Final

from attrs import evolve, frozen

from grove_tickets.arguments import UNKNOWN, is_known
from grove_tickets.shell import syntax
from grove_tickets.shell.builtins import BUILTINS, CONSTANT_STATUS, DECLARATIONS, declare, printed
from grove_tickets.shell.expansion import Expander
from grove_tickets.shell.limits import Budget, ShellSyntaxError
from grove_tickets.shell.reading import ScriptReader
from grove_tickets.shell.scope import Scope
from grove_tickets.shell.syntax import Node, Redirection, Script, Text, Word
from grove_tickets.shell.wrappers import Inner, program_of, unwrap

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*+)((?:\[[^]]*\])?\+?)=(.*)", re.DOTALL)
_WRITES: Final = frozenset({">", ">>", ">|", ">&", "&>", "&>>"})
_STANDARD_INPUT: Final = frozenset({"/dev/stdin", "/dev/fd/0", "0"})
_IN_THIS_SHELL: Final = frozenset({"command", "builtin"})
_STEPS_OF_A_COMMAND: Final = 4
_STEPS_OF_A_COPY: Final = 3
_VARIABLES_OF_A_STEP: Final = 8
_MAX_ROUNDS: Final = 100
_MAX_RECURSION: Final = 3


@frozen(kw_only=True)
class Command:
    """A simple command that would run."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    directory: str = ""
    stdin: str | None = None

    @property
    def program(self) -> str:
        """The program's name without its directory."""
        return program_of(self.words[0])


class Walk:
    """Follows shell texts and collects the commands that would run.

    What follows commands returns what they print, or ``None`` where the text does not tell it.
    """

    def __init__(self) -> None:
        self.found: list[Command] = []
        self._budget = Budget()
        self._expander = Expander(self._budget, self._substitute)
        self._active: list[Node] = []

    def run_text(self, text: str, scope: Scope, stdin: str | None) -> str | None:
        """Follow shell text in the shell that the scope belongs to."""
        reader = ScriptReader(text.replace("\0", "").replace("\r\n", "\n"), self._budget)
        outputs: list[str | None] = []
        with self._budget, suppress(ShellSyntaxError):
            for line in reader.lines():
                outputs.append(self._sequence(line, scope, stdin))
                if scope.ended_by:
                    break
        return _together(outputs)

    def _sequence(self, script: Sequence[Node], scope: Scope, stdin: str | None) -> str | None:
        outputs: list[str | None] = []
        for node in script:
            if scope.ended_by:
                break
            with self._budget:
                outputs.append(self._visit(node, scope, stdin))
        return _together(outputs)

    def _visit(self, node: Node, scope: Scope, stdin: str | None) -> str | None:
        match node:
            case syntax.Simple():
                return self._simple(node, scope, stdin)
            case syntax.Group():
                return self._group(node, scope, stdin)
            case syntax.Pipeline(stages):
                for stage in stages:
                    inner = self._subshell(scope)
                    stdin = self._sequence((stage,), inner, stdin)
                scope.status = inner.status
                return stdin
            case syntax.Negated(inner):
                output = self._visit(inner, scope, stdin)
                scope.status = None if scope.status is None else not scope.status
                return output
            case syntax.Expanded() | syntax.Function():
                self._silent(node, scope)
                return ""
            case _:
                self._uncertain(node, scope, stdin)
                return None

    def _silent(self, node: syntax.Expanded | syntax.Function, scope: Scope) -> None:
        match node:
            case syntax.Expanded(words):
                for word in words:
                    self._expander.text(word, scope)
                scope.status = None
            case syntax.Function(name, body):
                scope.functions[name] = (body,)
                scope.status = True

    def _uncertain(
        self, node: syntax.Chain | syntax.Branches | syntax.Loop, scope: Scope, stdin: str | None
    ) -> None:
        """Follow a compound command of which only the run tells what prints something."""
        match node:
            case syntax.Chain():
                self._chain(node, scope, stdin)
            case syntax.Branches(first, ways):
                self._sequence(first, scope, stdin)
                if scope.status is None:
                    for way in ways:
                        self._maybe(way, scope, stdin)
                    scope.status = None
                else:
                    way = ways[not scope.status]
                    scope.status = True
                    self._sequence(way, scope, stdin)
            case syntax.Loop():
                self._loop(node, scope, stdin)

    def _copy(self, scope: Scope) -> Scope:
        self._budget.spend(_STEPS_OF_A_COPY + len(scope.variables) // _VARIABLES_OF_A_STEP)
        return scope.copy()

    def _subshell(self, scope: Scope) -> Scope:
        inner = self._copy(scope)
        inner.endings -= {"break", "continue"}
        return inner

    def _substitute(self, script: Script, scope: Scope) -> str | None:
        return self._sequence(script, self._subshell(scope), None)

    def _maybe(self, script: Sequence[Node], scope: Scope, stdin: str | None) -> None:
        """Follow commands that may run or not."""
        end = self._copy(scope)
        self._sequence(script, end, stdin)
        scope.meet(end)

    def _chain(self, chain: syntax.Chain, scope: Scope, stdin: str | None) -> None:
        """Follow a chain of ``&&`` or ``||``: as far as it runs, then what may run of it."""
        self._sequence((chain.first,), scope, stdin)
        skips = not chain.on_success
        end = scope
        for node in chain.rest:
            if end.ended_by or end.status is skips:
                break
            if end.status is None and end is scope:
                end = self._copy(scope)
            self._sequence((node,), end, stdin)
        if end is scope:
            return
        scope.meet(end)
        if chain.on_success and not end.ended_by:
            # Whoever writes `mkdir a && cd a` counts on being in `a` afterwards.
            scope.directory = end.directory
        scope.status = skips if end.ended_by or end.status is skips else None

    def _loop(self, loop: syntax.Loop, scope: Scope, stdin: str | None) -> None:
        """Follow a loop: round by round where the text tells all of its words."""
        values = self._expander.fields(loop.words, scope)
        if len(values) > _MAX_ROUNDS or not all(map(is_known, values)):
            values = [UNKNOWN]
        for value in values:
            count = len(self.found)
            end = self._round(loop, value, scope, stdin)
            if value == UNKNOWN and end.changed:
                # Further rounds meet what the first one has changed.
                del self.found[count:]
                end = self._round(loop, value, scope, stdin)
            if end.ended_by not in {"", "continue"}:
                break
        scope.status = None
        if loop.name:
            scope.forget({loop.name})

    def _round(self, loop: syntax.Loop, value: str, scope: Scope, stdin: str | None) -> Scope:
        end = self._copy(scope)
        end.variables[loop.name] = value
        end.endings |= {"break", "continue"}
        self._sequence(loop.body, end, stdin)
        scope.meet(end)
        return end

    def _group(self, group: syntax.Group, scope: Scope, stdin: str | None) -> str | None:
        stdin, writes = self._redirect(group.redirections, scope, stdin)
        inner = self._subshell(scope) if group.is_subshell else scope
        output = self._sequence(group.script, inner, stdin)
        if group.is_subshell:
            scope.status = None
        return None if writes else output

    def _simple(self, command: syntax.Simple, scope: Scope, stdin: str | None) -> str | None:
        """Follow a simple command."""
        stdin, writes = self._redirect(command.redirections, scope, stdin)
        assigned = [*takewhile(bool, map(_assignment, command.words))]
        words = command.words[len(assigned) :]
        environment: dict[str, str] = {}
        for name, operator, value in filter(None, assigned):
            text = self._expander.text(value, scope)
            if operator:
                text = scope.variables.get(name, UNKNOWN) + text if operator == "+" else UNKNOWN
            environment[name] = text
            if not words:
                scope.assign(name, text)
        is_constant = not words and all(
            isinstance(part, Text) for word in command.words for part in word
        )
        scope.status = True if is_constant and not command.redirections else None
        match words:
            case ((Text(name),), *_) if name in DECLARATIONS:
                declare(name, [self._expander.text(one, scope) for one in words[1:]], scope)
                return ""
        expanded = tuple(self._expander.fields(words, scope))
        output: str | None = ""
        if expanded:
            called = Command(words=expanded, environment=environment, stdin=stdin)
            output = self._run(called, scope)
        return None if writes else output

    def _run(self, command: Command, scope: Scope, *, is_wrapped: bool = False) -> str | None:
        """Follow a command whose words are known as far as they can be."""
        with self._budget:
            name, *arguments = command.words
            if name in scope.functions and not is_wrapped:
                return self._call(command, scope)
            scope.status = CONSTANT_STATUS.get(name)
            if name in scope.endings:
                scope.ended_by = name
            builtin = BUILTINS.get(name)
            if builtin is not None:
                builtin(tuple(arguments), scope)
                return ""
            inner = unwrap(command.words)
            if inner is None:
                return self._record(command, scope)
            outputs = [self._follow(one, command, scope) for one in inner]
            return outputs[0] if len(outputs) == 1 else None

    def _record(self, command: Command, scope: Scope) -> str | None:
        self._budget.spend(_STEPS_OF_A_COMMAND + len(scope.variables) // 4)
        environment = scope.environment(command.environment)
        self.found.append(evolve(command, environment=environment, directory=scope.directory))
        if command.words[:2] == ("printf", "-v"):
            scope.forget(command.words[2:3])
        return printed(command.words, command.stdin)

    def _call(self, command: Command, scope: Scope) -> str | None:
        """Follow the bodies that a function may have; of one that calls itself a few rounds."""
        outputs = []
        for body in scope.functions[command.words[0]]:
            if self._active.count(body) >= _MAX_RECURSION:
                continue
            end = self._copy(scope)
            end.positionals = command.words[1:]
            end.endings = frozenset({"exit", "return"})
            end.variables |= command.environment
            self._active.append(body)
            outputs.append(self._sequence((body,), end, command.stdin))
            self._active.pop()
            end.positionals = scope.positionals
            scope.meet(end)
        scope.status = None
        return outputs[0] if len(outputs) == 1 else None

    def _follow(self, inner: Inner, command: Command, scope: Scope) -> str | None:
        """Follow what a wrapper runs."""
        environment = {**command.environment, **inner.environment}
        output = None
        script = command.stdin if inner.reads_script else inner.script
        if inner.words:
            wrapped = evolve(command, words=inner.words, environment=environment)
            # `sudo cd x` changes nothing here.
            inside = scope if command.words[0] in _IN_THIS_SHELL else self._copy(scope)
            output = self._run(wrapped, inside, is_wrapped=True)
            scope.status = inside.status
        elif script is not None:
            shell = scope if inner.same_shell else scope.program(inner.arguments)
            shell.variables |= environment
            output = self.run_text(script, shell, None if inner.reads_script else command.stdin)
            scope.status = None
        if inner.same_shell:
            # What a file does is not known.
            scope.forget(environment if inner.script else scope.variables)
        if inner.ends_shell:
            scope.ended_by = "exit"
        return output

    def _redirect(
        self, redirections: Sequence[Redirection], scope: Scope, stdin: str | None
    ) -> tuple[str | None, bool]:
        """Follow redirections: what is read then, and whether what is printed goes elsewhere."""
        writes = False
        for redirection in redirections:
            text = self._expander.text(redirection.target, scope)
            if redirection.operator in _WRITES:
                writes = writes or redirection.descriptor in {"", "1"}
            elif redirection.descriptor in {"", "0"}:
                match redirection.operator:
                    case "<<" | "<<-":
                        stdin = text
                    case "<<<":
                        stdin = text + "\n"
                    case _:
                        stdin = stdin if text in _STANDARD_INPUT else None
        return stdin, writes


def _assignment(word: Word) -> tuple[str, str, Word] | None:
    """Take an assignment apart: the variable, what stands before the sign, the value."""
    match word:
        case (Text(text, quoted=False), *rest):
            found = _ASSIGNMENT.fullmatch(text)
            return None if found is None else (found[1], found[2], (Text(found[3]), *rest))
        case _:
            return None


def _together(outputs: list[str | None]) -> str | None:
    """Return the output of commands that run one after another."""
    known = [output for output in outputs if output is not None]
    return "".join(known) if len(known) == len(outputs) else None
