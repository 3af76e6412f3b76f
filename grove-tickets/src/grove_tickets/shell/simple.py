"""Follows simple commands: assignments, builtins, functions, wrappers, programs."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_tickets.shell.braces import expand_braces
from grove_tickets.shell.builtins import DECLARATIONS, declare, hide, run_builtin
from grove_tickets.shell.expansion import Expander
from grove_tickets.shell.limits import Budget
from grove_tickets.shell.model import Command
from grove_tickets.shell.output import SILENT, UNCERTAIN, Outcome, printed
from grove_tickets.shell.scope import Function, Scope
from grove_tickets.shell.syntax import (
    Assignment,
    Heredoc,
    Item,
    ProcessSubstitution,
    Redirection,
    Simple,
    Unit,
    Word,
)
from grove_tickets.shell.words import UNKNOWN
from grove_tickets.shell.wrappers import SHELLS, Inner, program_of, unwrap

if TYPE_CHECKING:
    from tree_sitter import Node

_WRITES: Final = frozenset({">", ">>", ">|", ">&", "&>", "&>>"})
_STANDARD_OUTPUT: Final = frozenset({"/dev/stdout", "/dev/fd/1", "1"})
_STANDARD_INPUT: Final = frozenset({"/dev/stdin", "/dev/fd/0", "0"})
_READ_SCRIPTS: Final = SHELLS | {".", "source"}
_STEPS_OF_A_COMMAND: Final = 4
_MAX_RECURSION: Final = 3


class Runs(Enum):
    """What a first word may name."""

    ANYTHING = "functions, builtins and programs"
    BUILTINS = "builtins and programs"
    PROGRAMS = "programs"


class CommandRunner(Expander):
    """Follows simple commands and collects those that would run."""

    def __init__(self, budget: Budget, found: list[Command]) -> None:
        super().__init__(budget)
        self.found = found
        self._active: list[Function] = []

    @abstractmethod
    def visit(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow what is below a node of an outline."""

    @abstractmethod
    def run_text(self, text: str, scope: Scope, stdin: str | None) -> Outcome:
        """Follow shell text in the shell that the scope belongs to."""

    @abstractmethod
    def run_shell(self, text: str, scope: Scope, stdin: str | None) -> Outcome:
        """Follow shell text in a shell of its own, up to its end."""

    def simple(self, command: Simple, scope: Scope, stdin: str | None) -> Outcome:
        """Follow a simple command."""
        count = 0
        while count < len(command.items) and isinstance(command.items[count], Assignment):
            count += 1
        assignments = [item for item in command.items[:count] if isinstance(item, Assignment)]
        items = command.items[count:]
        words, script = self._words(items, scope)
        stdin, discards = self.redirect(command.redirections, scope, stdin)
        stdin = stdin if script is None else script
        if words and words[0] in DECLARATIONS and words[0] not in scope.functions:
            outcome = self._declare(items, scope)
        elif words:
            environment = {item.name: self._value(item, scope) for item in assignments}
            outcome = self._run(tuple(words), environment, scope, stdin, Runs.ANYTHING)
        else:
            for item in assignments:
                scope.assign(item.name, self._value(item, scope))
            outcome = SILENT
        return Outcome("", outcome.status) if discards else outcome

    def redirect(
        self, redirections: Sequence[Redirection], scope: Scope, stdin: str | None
    ) -> tuple[str | None, bool]:
        """Follow redirections."""
        discards = False
        for redirection in redirections:
            descriptor = redirection.descriptor
            if redirection.operator in _WRITES:
                assert isinstance(redirection.target, Word)
                target = self.text(redirection.target, scope)
                elsewhere = descriptor in {"", "1"} and target not in _STANDARD_OUTPUT
                discards = discards or elsewhere
            else:
                read = self._read(redirection, scope, stdin)
                stdin = read if descriptor in {"", "0"} else stdin
        return stdin, discards

    def _read(self, redirection: Redirection, scope: Scope, stdin: str | None) -> str | None:
        match redirection.target:
            case Heredoc(body=body):
                return self.text(body, scope)
            case Word(parts=(ProcessSubstitution(script=script, reads=False),)):
                return self.substitute(script, scope)
            case Word() as word:
                text = self.text(word, scope)
                if redirection.operator == "<<<":
                    return text + "\n"
                return stdin if text in _STANDARD_INPUT else None

    def _words(self, items: Sequence[Item], scope: Scope) -> tuple[list[str], str | None]:
        """Expand words; give the script too that a shell gets by ``bash <(…)``."""
        match items:
            case (head, Word(parts=(ProcessSubstitution(script=script, reads=False),)), *rest):
                words = self.fields([head], scope)
                output = self.substitute(script, scope)
                is_script = len(words) == 1 and program_of(words[0]) in _READ_SCRIPTS
                words += ["/dev/stdin" if is_script else UNKNOWN, *self.fields(rest, scope)]
                return words, output if is_script else None
            case _:
                return self.fields(items, scope), None

    def _value(self, item: Assignment, scope: Scope) -> str:
        """Return the value of an assignment; those of arrays and their elements are not kept."""
        text = self.text(item.word, scope)
        if item.elements is not None:
            self.fields(item.elements, scope)
            return UNKNOWN
        if item.operator == "+=":
            return scope.variables.get(item.name, UNKNOWN) + text
        return text if item.operator == "=" else UNKNOWN

    def _declare(self, items: Sequence[Item], scope: Scope) -> Outcome:
        assignments = [item for item in items if isinstance(item, Assignment)]
        others = [item for item in items if not isinstance(item, Assignment)]
        words = tuple(self.fields(others, scope))
        names = [item.name for item in assignments]
        plain = [word.partition("=")[0] for word in words[1:] if word[:1] not in {"-", "+"}]
        if words[0] == "local" and scope.locals is None:
            return SILENT  # an error outside functions
        if words[0] in {"local", "declare", "typeset"} and "-g" not in words:
            hide([*names, *plain], scope)
        for item in assignments:
            for parts in expand_braces(item.word.parts):
                value = self._value(evolve(item, word=Word(tuple(parts))), scope)
                scope.assign(item.name, value)
        declare(words, names, scope)
        return SILENT

    def _run(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        scope: Scope,
        stdin: str | None,
        runs: Runs,
    ) -> Outcome:
        """Follow a command whose words are known as far as they can be."""
        with self.budget:
            if runs is Runs.ANYTHING and words[0] in scope.functions:
                return self._call(words, environment, scope, stdin)
            if runs is not Runs.PROGRAMS:
                outcome = run_builtin(words, scope)
                if outcome is not None:
                    return outcome
            inner_commands = unwrap(words, builtins=runs is not Runs.PROGRAMS)
            if inner_commands is None:
                return self._record(words, environment, scope, stdin)
            outcome = UNCERTAIN
            for inner in inner_commands:
                outcome = self._follow(inner, environment, scope, stdin)
            return outcome if len(inner_commands) == 1 else UNCERTAIN

    def _record(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        scope: Scope,
        stdin: str | None,
    ) -> Outcome:
        self.budget.spend(_STEPS_OF_A_COMMAND + len(scope.variables) // 4)
        self.found.append(
            Command(
                words=words,
                environment=scope.environment(environment),
                directory=scope.directory,
                stdin=stdin,
            )
        )
        if words[:2] == ("printf", "-v"):
            scope.forget(words[2:3])
            return SILENT
        return Outcome(printed(words, stdin))

    def _call(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        scope: Scope,
        stdin: str | None,
    ) -> Outcome:
        """Follow the bodies that a function may have."""
        outer = scope.positionals, scope.loops, scope.locals
        hidden: dict[str, str | None] = {}
        scope.positionals, scope.loops, scope.locals = words[1:], 0, hidden
        hide(list(environment), scope)
        scope.variables |= environment
        ends = [scope.copy() for _ in scope.functions[words[0]]]
        outcomes = [
            self._body(function, end, stdin)
            for function, end in zip(scope.functions[words[0]], ends, strict=True)
        ]
        scope.join(ends)
        scope.positionals, scope.loops, scope.locals = outer
        scope.restore(hidden)
        return outcomes[0] if len(outcomes) == 1 else UNCERTAIN

    def _body(self, function: Function, scope: Scope, stdin: str | None) -> Outcome:
        """Follow the body of a function; of one that calls itself only the first rounds."""
        if self._active.count(function) >= _MAX_RECURSION:
            return UNCERTAIN
        waiting = len(scope.departed)
        self._active.append(function)
        outcome = self.visit(function.unit, function.body, scope, stdin)
        self._active.pop()
        if scope.stopped == "return":
            scope.stop("")
        elsewhere = scope.departures(waiting, "return")
        if elsewhere:
            scope.join([scope.copy(), *elsewhere])
            return UNCERTAIN
        return outcome

    def _follow(
        self, inner: Inner, environment: Mapping[str, str], scope: Scope, stdin: str | None
    ) -> Outcome:
        """Follow what a wrapper runs."""
        if inner.same_shell:
            return self._evaluate(inner, environment, scope, stdin)
        environment = {**({} if inner.is_clean else environment), **inner.environment}
        target = scope
        if inner.directory or inner.is_clean or inner.unset:
            target = scope.copy()
            if inner.directory:
                target.enter(inner.directory)
            for name in list(target.variables) if inner.is_clean else inner.unset:
                target.variables.pop(name, None)
        if inner.words:
            runs = Runs.BUILTINS if inner.builtins else Runs.PROGRAMS
            outcome = self._run(inner.words, environment, target, stdin, runs)
            if inner.replaces_shell:
                scope.exit_trap = ""
                scope.stop("exit")
            return outcome
        script = stdin if inner.reads_script else inner.script
        if script is None:
            return UNCERTAIN
        shell = target.program(environment)
        shell.positionals = inner.arguments
        return self.run_shell(script, shell, None if inner.reads_script else stdin)

    def _evaluate(
        self, inner: Inner, environment: Mapping[str, str], scope: Scope, stdin: str | None
    ) -> Outcome:
        """Follow ``eval`` and ``source``."""
        script = stdin if inner.reads_script else inner.script
        if script is None:
            scope.forget(list(scope.variables))
            return UNCERTAIN
        hidden = {name: scope.variables.get(name) for name in environment}
        scope.variables |= environment
        outcome = self.run_text(script, scope, None if inner.reads_script else stdin)
        scope.restore(hidden)
        return outcome
