"""Follows what a shell would run of a text; behind what may run, what it changes is unknown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import Final

from attrs import evolve, frozen

from grove_tickets.arguments import UNKNOWN, is_known
from grove_tickets.shell import syntax
from grove_tickets.shell.expansion import Expander
from grove_tickets.shell.limits import Budget
from grove_tickets.shell.reading import ScriptReader
from grove_tickets.shell.scope import BUILTINS, CONSTANT_STATUS, DECLARATIONS, Scope, declare
from grove_tickets.shell.syntax import Node, Redirection, Script, Text, Word
from grove_tickets.shell.wrappers import Inner, printed, program_of, unwrap

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*+)((?:\[[^]]*\])?\+?)=(.*)", re.DOTALL)
_LOOP: Final = frozenset({"break", "continue"})
_MAX_ROUNDS: Final = 100
_MAX_CALLS: Final = 5  # of functions within functions


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
    """Collects the commands that would run; its methods return what is printed, if it is known."""

    def __init__(self) -> None:
        self.found: list[Command] = []
        self._budget = Budget()
        self._expander = Expander(self._budget, self._substitute)

    def run_text(self, text: str, scope: Scope) -> str | None:
        """Follow shell text in the shell that the scope belongs to."""
        reader = ScriptReader(text.replace("\0", "").replace("\r\n", "\n"), self._budget)
        with self._budget:
            return self._sequence(reader.nodes(), scope)

    def _sequence(self, script: Iterable[Node], scope: Scope) -> str | None:
        outputs = []
        for node in script:
            if scope.ended_by:
                break
            with self._budget:
                outputs.append(self._visit(node, scope))
        known = [output for output in outputs if output is not None]
        return "".join(known) if len(known) == len(outputs) else None

    def _visit(self, node: Node, scope: Scope) -> str | None:
        output: str | None = None
        match node:
            case syntax.Simple():
                output = self._simple(node, scope)
            case syntax.Group():
                output = self._group(node, scope)
            case syntax.Pipeline(stages):
                output = self._pipeline(stages, scope)
            case syntax.Chain():
                self._chain(node, scope)
            case syntax.Branches():
                self._branches(node, scope)
            case syntax.Loop():
                self._loop(node, scope)
            case syntax.Opaque():
                self._expander.text((node,), scope)
                scope.status = None
                output = ""
            case syntax.Function(name, body):
                scope.functions[name] = body
                scope.status = True
                output = ""
        return output

    def _copy(self, scope: Scope) -> Scope:
        self._budget.spend(3 + len(scope.variables) // 8)
        return scope.copy()

    def _subshell(self, scope: Scope, stdin: str | None) -> Scope:
        inner = self._copy(scope)
        inner.stdin = stdin
        inner.endings -= _LOOP
        return inner

    def _substitute(self, script: Script, scope: Scope) -> str | None:
        output = self._sequence(script, self._subshell(scope, None))
        scope.status = None
        return output

    def _group(self, group: syntax.Group, scope: Scope) -> str | None:
        stdin, writes = self._redirect(group.redirections, scope)
        if group.is_subshell:
            output = self._sequence(group.script, self._subshell(scope, stdin))
            scope.status = None
        else:
            outer, scope.stdin = scope.stdin, stdin
            output = self._sequence(group.script, scope)
            scope.stdin = outer
        if group.is_negated and scope.status is not None:
            scope.status = not scope.status
        return None if writes else output

    def _pipeline(self, stages: Script, scope: Scope) -> str | None:
        inner, output = scope, scope.stdin
        for stage in stages:
            inner = self._subshell(scope, output)
            output = self._sequence((stage,), inner)
        scope.status = inner.status
        return output

    def _chain(self, chain: syntax.Chain, scope: Scope) -> None:
        """Follow a chain of ``&&`` or ``||``: as far as it runs, then what may run of it."""
        self._sequence((chain.first,), scope)
        skips = not chain.on_success
        end = scope
        for node in chain.rest:
            if end.ended_by or end.status is skips:
                break
            if end.status is None and end is scope:
                end = self._copy(scope)
            self._sequence((node,), end)
        if end is scope:
            return
        scope.meet(end)
        if chain.on_success and not end.ended_by:
            # Anyone who writes `mkdir a && cd a` counts on being in `a` afterwards.
            scope.directory = end.directory
        if end.ended_by or end.status is skips:
            scope.status = skips

    def _branches(self, branches: syntax.Branches, scope: Scope) -> None:
        self._sequence(branches.first, scope)
        if scope.status is None:
            for way in branches.ways:
                end = self._copy(scope)
                self._sequence(way, end)
                scope.meet(end)
        else:
            way = branches.ways[not scope.status]
            scope.status = True
            self._sequence(way, scope)

    def _loop(self, loop: syntax.Loop, scope: Scope) -> None:
        """Follow a loop: round by round where the text tells all of its words."""
        values = self._expander.fields(loop.words, scope)
        if len(values) > _MAX_ROUNDS or not all(map(is_known, values)):
            values = [UNKNOWN, UNKNOWN]  # further rounds meet what the first one has changed
        count = len(self.found)
        for value in values:
            if value == UNKNOWN:
                del self.found[count:]
            end = self._copy(scope)
            end.variables[loop.name] = value
            end.endings |= _LOOP
            self._sequence(loop.body, end)
            scope.meet(end)
            if end.ended_by not in {"", "continue"}:
                break
        scope.status = None
        scope.forget({loop.name})

    def _simple(self, command: syntax.Simple, scope: Scope) -> str | None:
        scope.status = True  # of assignments, unless there is a substitution
        stdin, writes = self._redirect(command.redirections, scope)
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
        match words:
            case ((Text(name),), *_) if name in DECLARATIONS:
                declare(name, [self._expander.text(one, scope) for one in words[1:]], scope)
                scope.status = None
                return ""
        expanded = tuple(self._expander.fields(words, scope))
        output: str | None = ""
        if expanded:
            output = self._run(Command(words=expanded, environment=environment, stdin=stdin), scope)
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
            if name in BUILTINS:
                BUILTINS[name](tuple(arguments), scope)
                return ""
            inner = unwrap(command.words, command.stdin)
            if inner is None:
                return self._record(command, scope)
            output = self._follow(inner, command, scope)
            if name == "exec" and inner.words:
                scope.ended_by = "exit"
            return output

    def _record(self, command: Command, scope: Scope) -> str | None:
        self._budget.spend(4 + len(scope.variables) // 4)
        values = {**scope.variables, **command.environment}
        known = MappingProxyType({name: text for name, text in values.items() if is_known(text)})
        self.found.append(evolve(command, environment=known, directory=scope.directory))
        if command.words[:2] == ("printf", "-v"):
            scope.forget(command.words[2:3])
        return printed(command.words, command.stdin)

    def _call(self, command: Command, scope: Scope) -> str | None:
        end = self._copy(scope)
        end.calls += 1
        end.positionals, end.stdin = command.words[1:], command.stdin
        end.endings = frozenset({"exit", "return"})
        end.variables |= command.environment
        body = (scope.functions[command.words[0]],)
        output = None if end.calls > _MAX_CALLS else self._sequence(body, end)
        end.positionals = scope.positionals
        scope.meet(end)
        return output

    def _follow(self, inner: Inner, command: Command, scope: Scope) -> str | None:
        environment = {**command.environment, **inner.environment}
        output = None
        if inner.words:
            wrapped = evolve(command, words=inner.words, environment=environment)
            # `sudo cd x` changes nothing here.
            inside = scope if command.words[0] in {"command", "builtin"} else self._copy(scope)
            output = self._run(wrapped, inside, is_wrapped=True)
            scope.status = inside.status
        elif inner.script is not None:
            shell = scope
            if not inner.same_shell:  # which variables are exported is not followed
                shell = self._copy(scope)
                shell.forget(shell.variables)
                shell.positionals, shell.endings = inner.arguments, frozenset({"exit"})
            shell.variables |= environment
            outer, shell.stdin = scope.stdin, command.stdin
            output = self.run_text(inner.script, shell)
            scope.stdin = outer
            scope.status = None
        if inner.same_shell:
            # What a file does is not known.
            scope.forget(environment if inner.script else scope.variables)
        return output

    def _redirect(self, parts: Sequence[Redirection], scope: Scope) -> tuple[str | None, bool]:
        """Follow redirections: what is read then, and whether what is printed goes elsewhere."""
        stdin, writes = scope.stdin, False
        for redirection in parts:
            text = self._expander.text(redirection.target, scope)
            if ">" in redirection.operator:
                writes = writes or redirection.descriptor in {"", "1"}
            elif redirection.descriptor in {"", "0"}:
                texts = {"<<": text, "<<-": text, "<<<": text + "\n"}
                stdin = texts.get(redirection.operator)
        return stdin, writes


def _assignment(word: Word) -> tuple[str, str, Word] | None:
    """Take an assignment apart: the variable, what stands before the sign, the value."""
    first = word[0]
    found = _ASSIGNMENT.fullmatch(first.text) if isinstance(first, Text) else None
    return None if found is None else (found[1], found[2], (Text(found[3]), *word[1:]))
