"""Follows simple commands: assignments, builtins, functions, wrappers, programs."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final

from grove_tickets.shell.builtins import DECLARATIONS, declare, hide, printed, run_builtin
from grove_tickets.shell.expansion import Expander, source_of
from grove_tickets.shell.scope import SILENT, UNCERTAIN, Command, Outcome, Scope, program_of
from grove_tickets.shell.syntax import HERE_STRING, TAKEN_OUT, Budget
from grove_tickets.shell.words import UNKNOWN
from grove_tickets.shell.wrappers import SHELLS, Inner, unwrap

if TYPE_CHECKING:
    from tree_sitter import Node

_READS: Final = frozenset({"<", "<&", "<>"})
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
        self._active: list[Node] = []

    @abstractmethod
    def visit(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a statement."""

    @abstractmethod
    def run_text(self, text: str, scope: Scope, stdin: str | None) -> Outcome:
        """Follow shell text in the shell that the scope belongs to."""

    @abstractmethod
    def run_shell(self, text: str, scope: Scope, stdin: str | None) -> Outcome:
        """Follow shell text in a shell of its own, up to its end."""

    def simple(
        self, node: "Node", scope: Scope, stdin: str | None, more: "Sequence[Node]" = ()
    ) -> Outcome:
        """Follow a simple command, or assignments alone."""
        alone = node.type == "variable_assignment"
        children = [node] if alone else [one for one in node.children if one.type != "comment"]
        redirects = [*(one for one in children if one.type == "file_redirect"), *more]
        assignments = [one for one in children if one.type == "variable_assignment"]
        items = [one for one in children if one not in redirects and one not in assignments]
        # The grammar counts words behind a redirection to it.
        items += [one for redirect in redirects for one in _targets(redirect)[1:]]
        if node.type in {"declaration_command", "unset_command"}:
            return self._declare(items, assignments, scope)
        words, script = self._words(items, scope)
        stdin, discards = self.redirect(redirects, scope, stdin)
        stdin = stdin if script is None else script
        values = {}
        for item in assignments:
            name, value = self._assignment(item, scope)
            values[name] = value
            if not words:
                scope.assign(name, value)
        outcome = SILENT
        if words:
            outcome = self._run(tuple(words), values, scope, stdin, Runs.ANYTHING)
        return Outcome("", outcome.status) if discards else outcome

    def redirect(
        self, redirects: "Sequence[Node]", scope: Scope, stdin: str | None
    ) -> tuple[str | None, bool]:
        """Follow redirections: return the standard input, and whether the output goes elsewhere."""
        discards = False
        for redirect in redirects:
            target = _targets(redirect)[0]
            signs = [one for one in redirect.children if one.start_byte < target.start_byte]
            descriptor = next((source_of(one) for one in signs if one.is_named), "")
            operator = next((one.type for one in signs if not one.is_named), "")
            if operator in _READS:
                read = self._read(target, scope, stdin)
                stdin = read if descriptor in {"", "0"} else stdin
            else:
                elsewhere = self.text(target, scope) not in _STANDARD_OUTPUT
                discards = discards or (elsewhere and descriptor in {"", "1"})
        return stdin, discards

    def _read(self, target: "Node", scope: Scope, stdin: str | None) -> str | None:
        heredoc = TAKEN_OUT.fullmatch(source_of(target))
        if heredoc is not None:
            return self.heredoc(int(heredoc[1]), scope)
        if target.type == "process_substitution":
            return self.substitute(target, scope)
        text = self.text(target, scope)
        if text.startswith(HERE_STRING):
            return text[1:] + "\n"
        return stdin if text in _STANDARD_INPUT else None

    def _words(self, items: "Sequence[Node]", scope: Scope) -> tuple[list[str], str | None]:
        """Expand words; return the script too that a shell gets by ``bash <(…)``."""
        if len(items) > 1 and items[1].type == "process_substitution":
            words = self.fields(items[:1], scope)
            output = self.substitute(items[1], scope)
            is_script = len(words) == 1 and program_of(words[0]) in _READ_SCRIPTS
            words += ["/dev/stdin" if is_script else UNKNOWN, *self.fields(items[2:], scope)]
            return words, output if is_script else None
        return self.fields(items, scope), None

    def _assignment(self, node: "Node", scope: Scope) -> tuple[str, str]:
        """Return name and value; those of arrays and their elements are not kept."""
        target, operator, *value = node.children
        name = source_of(target).partition("[")[0]
        if value and value[0].type == "array":
            self.fields(value[0].named_children, scope)
            return name, UNKNOWN
        text = self.text(value[0], scope) if value else ""
        if target.type == "subscript":
            return name, UNKNOWN
        return name, scope.variables.get(name, UNKNOWN) + text if operator.type == "+=" else text

    def _declare(
        self, items: "Sequence[Node]", assignments: "Sequence[Node]", scope: Scope
    ) -> Outcome:
        words = tuple(self.fields(items, scope))
        if words[0] in {"unset", "unsetenv"}:
            return run_builtin(words, scope) or SILENT
        if words[0] == "local" and scope.locals is None:
            return SILENT  # an error outside functions
        names = [source_of(one.children[0]).partition("[")[0] for one in assignments]
        plain = [word.partition("=")[0] for word in words[1:] if word[:1] not in {"-", "+"}]
        if words[0] in {"local", "declare", "typeset"} and "-g" not in words:
            hide([*names, *plain], scope)
        for item in assignments:
            scope.assign(*self._assignment(item, scope))
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
            if words[0] == "{":  # behind words such as `time`, which the grammar takes for programs
                words = words[1:] or (":",)
            if runs is Runs.ANYTHING and words[0] in scope.functions:
                return self._call(words, environment, scope, stdin)
            if runs is not Runs.PROGRAMS:
                if words[0] in DECLARATIONS:
                    declare(words, (), scope)
                    return SILENT
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
        known = scope.environment(environment)
        self.found.append(
            Command(words=words, environment=known, directory=scope.directory, stdin=stdin)
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
        outer = scope.positionals, scope.loops, scope.locals, scope.changed
        hidden: dict[str, str | None] = {}
        scope.positionals, scope.loops, scope.locals = words[1:], 0, hidden
        scope.changed = set()
        hide(list(environment), scope)
        scope.variables |= environment
        ends = []
        outcome = UNCERTAIN
        for function in scope.functions[words[0]]:
            ends.append(scope.copy())
            outcome = self._body(function, ends[-1], stdin)
        scope.become(ends)
        scope.positionals, scope.loops, scope.locals, changed = outer
        scope.restore(hidden)
        if len(ends) > 1 or "" in scope.changed:
            outcome = UNCERTAIN
        scope.changed = scope.changed | changed
        return outcome

    def _body(self, function: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow the body of a function; of one that calls itself only the first rounds."""
        body = function.child_by_field_name("body")
        if body is None or self._active.count(function) >= _MAX_RECURSION:
            return UNCERTAIN
        self._active.append(function)
        redirects = function.children_by_field_name("redirect")
        stdin, discards = self.redirect(redirects, scope, stdin)
        outcome = self.visit(body, scope, stdin)
        self._active.pop()
        if scope.stopped == "return":
            scope.stop("")
        if "" in scope.changed:
            scope.forget(list(scope.changed))
        return Outcome("", outcome.status) if discards else outcome

    def _follow(
        self, inner: Inner, environment: Mapping[str, str], scope: Scope, stdin: str | None
    ) -> Outcome:
        """Follow what a wrapper runs."""
        script = stdin if inner.reads_script else inner.script
        if inner.same_shell:
            return self._evaluate(script, inner, environment, scope, stdin)
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
        if script is None:
            return UNCERTAIN
        shell = target.program(environment)
        shell.positionals = inner.arguments
        return self.run_shell(script, shell, None if inner.reads_script else stdin)

    def _evaluate(
        self,
        script: str | None,
        inner: Inner,
        environment: Mapping[str, str],
        scope: Scope,
        stdin: str | None,
    ) -> Outcome:
        """Follow ``eval`` and ``source``."""
        if script is None:
            scope.forget(list(scope.variables))
            return UNCERTAIN
        hidden = {name: scope.variables.get(name) for name in environment}
        scope.variables |= environment
        outcome = self.run_text(script, scope, None if inner.reads_script else stdin)
        scope.restore(hidden)
        return outcome


def _targets(redirect: "Node") -> "list[Node]":
    """Return the file of a redirection, and the words that follow it."""
    return redirect.children_by_field_name("destination") or redirect.children[-1:]
