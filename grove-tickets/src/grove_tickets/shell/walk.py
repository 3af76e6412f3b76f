"""Follows what a shell would run of a text, from its outline."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from grove_tickets.shell.branches import BranchRunner, leaf_of
from grove_tickets.shell.limits import Budget, ShellSyntaxError
from grove_tickets.shell.model import Command
from grove_tickets.shell.output import SILENT, UNCERTAIN, Outcome, together
from grove_tickets.shell.reading import ScriptReader
from grove_tickets.shell.scope import Function, Scope
from grove_tickets.shell.syntax import Name, Negation, Redirected, Script, Simple, Unit

if TYPE_CHECKING:
    from tree_sitter import Node

_VARIABLES_OF_A_STEP: Final = 8
_STEPS_OF_A_SUBSHELL: Final = 3


class Walk(BranchRunner):
    """Follows shell texts and collects the commands that would run."""

    def __init__(self, budget: Budget, found: list[Command]) -> None:
        super().__init__(budget, found)
        self._handlers = {
            "command": self._command,
            "pipeline": self._pipeline,
            "list": self._list,
            "subshell": self._subshell,
            "if_statement": self.if_statement,
            "while_statement": self.while_statement,
            "for_statement": self.for_statement,
            "case_statement": self.case_statement,
            "function_definition": self._define,
        }

    def run_shell(self, text: str, scope: Scope, stdin: str | None) -> Outcome:
        """Follow shell text in a shell of its own, up to its end."""
        outcome = self.run_text(text, scope, stdin)
        return self._finish(scope, outcome)

    def run_text(self, text: str, scope: Scope, stdin: str | None) -> Outcome:
        """Follow shell text in the shell that the scope belongs to."""
        reader = ScriptReader(text.replace("\0", "").replace("\r\n", "\n"), self.budget)
        outcomes: list[Outcome] = []
        with self.budget, suppress(ShellSyntaxError):
            for unit in reader.units():
                outcomes.append(self._unit(unit, scope, stdin))
                if scope.stopped:
                    break
        return together(outcomes)

    def substitute(self, script: Script, scope: Scope) -> str | None:
        """Run a script in a subshell, and give its output where the text tells it."""
        self.budget.spend(_STEPS_OF_A_SUBSHELL)
        shell = scope.subshell()
        outcomes: list[Outcome] = []
        for unit in script.units:
            outcomes.append(self._unit(unit, shell, None))
            if shell.stopped:
                break
        return self._finish(shell, together(outcomes)).output

    def _unit(self, unit: Unit, scope: Scope, stdin: str | None) -> Outcome:
        return self.sequence(unit, unit.root.children, scope, stdin)

    def _finish(self, scope: Scope, outcome: Outcome) -> Outcome:
        """End a shell: run what it has been told to run then."""
        ends = scope.departures(0, "exit")
        scope.stopped = ""
        if ends:
            scope.join([scope.copy(), *ends])
        if not scope.exit_trap:
            return outcome if not ends else Outcome(None, outcome.status)
        text, scope.exit_trap = scope.exit_trap, ""
        return Outcome(together([outcome, self.run_text(text, scope, None)]).output)

    def sequence(
        self, unit: Unit, nodes: "Sequence[Node]", scope: Scope, stdin: str | None
    ) -> Outcome:
        """Follow commands that run one after another, with the signs between them."""
        outcomes = []
        for node, after in zip(nodes, (*nodes[1:], None), strict=True):
            if not node.is_named:
                continue
            if scope.stopped:
                break
            if after is not None and after.type == "&":
                shell = scope.subshell()
                self._finish(shell, self.visit(unit, node, shell, None))
                outcomes.append(UNCERTAIN)
            else:
                outcomes.append(self.visit(unit, node, scope, stdin))
        return together(outcomes)

    def visit(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow what is below a node of an outline."""
        self.budget.spend(len(scope.variables) // _VARIABLES_OF_A_STEP)
        with self.budget:
            handler = self._handlers.get(node.type, self._group)
            return handler(unit, node, scope, stdin)

    def _group(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        return self.sequence(unit, node.children, scope, stdin)

    def _subshell(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        shell = scope.subshell()
        return self._finish(shell, self.sequence(unit, node.children, shell, stdin))

    def _command(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        leaf = leaf_of(unit, node)
        if isinstance(leaf, Simple):
            return self.simple(leaf, scope, stdin)
        self.expand_all(unit, node, scope)
        return SILENT

    def _define(self, unit: Unit, node: "Node", scope: Scope, _stdin: str | None) -> Outcome:
        name, *_, body = node.named_children
        leaf = leaf_of(unit, name)
        assert isinstance(leaf, Name)
        scope.functions[leaf.name] = (Function(unit, body),)
        return SILENT

    def _pipeline(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a pipeline; of several commands each runs in a subshell."""
        negated = False
        redirected: Redirected | None = None
        elements: list[tuple[Node, Redirected | None]] = []
        for child in node.named_children:
            leaf = leaf_of(unit, child) if child.type == "command" else None
            if isinstance(leaf, Negation):
                negated = not negated
            elif isinstance(leaf, Redirected):
                redirected = leaf
            else:
                elements.append((child, redirected))
                redirected = None
        outcome = Outcome(stdin)
        for child, mark in elements:
            shell = scope.subshell() if len(elements) > 1 else scope
            outcome = self._element(unit, child, mark, shell, outcome.output)
            if shell is not scope:
                outcome = self._finish(shell, outcome)
        inverse = None if outcome.status is None else not outcome.status
        return Outcome(outcome.output, inverse) if negated else outcome

    def _element(
        self,
        unit: Unit,
        node: "Node",
        redirected: Redirected | None,
        scope: Scope,
        stdin: str | None,
    ) -> Outcome:
        if redirected is None:
            return self.visit(unit, node, scope, stdin)
        stdin, discards = self.redirect(redirected.redirections, scope, stdin)
        outcome = self.visit(unit, node, scope, stdin)
        return Outcome("", outcome.status) if discards else outcome

    def _list(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a chain of ``&&`` and ``||``."""
        first, *others = _parts(node)
        outcome = self.visit(unit, first[1], scope, stdin)
        good = None if outcome.status is False else scope.copy()
        bad = None if outcome.status is True else scope.copy()
        outputs = [outcome]
        for operator, part in others:
            start = good if operator == "&&" else bad
            if start is None or start.stopped:
                continue
            end = start.copy()
            outcome = self.visit(unit, part, end, stdin)
            outputs.append(outcome if (good is None or bad is None) else UNCERTAIN)
            failed = None if outcome.status is True else end
            succeeded = None if outcome.status is False else end
            if operator == "&&":
                good, bad = succeeded, _met(bad, failed)
            else:
                good, bad = _met(good, succeeded), failed
        return self._end_list(scope, good, bad, outputs)

    def _end_list(
        self, scope: Scope, good: Scope | None, bad: Scope | None, outcomes: list[Outcome]
    ) -> Outcome:
        scope.join([end for end in (good, bad) if end is not None])
        if good is not None and bad is not None:
            if not good.stopped:
                # Whoever writes `cd a && make` counts on being in `a` afterwards.
                scope.directory = good.directory
            return Outcome(together(outcomes).output)
        return Outcome(together(outcomes).output, good is not None)


def _met(one: Scope | None, other: Scope | None) -> Scope | None:
    """Return what is known where two ways meet."""
    if one is None or other is None:
        return one or other
    met = one.copy()
    met.join([one, other])
    return met


def _parts(node: "Node") -> "list[tuple[str, Node]]":
    """Return the parts of a chain, each with the operator before it; the tree nests to the left."""
    parts: list[tuple[str, Node]] = []
    while node.type == "list":
        first, operator, last = node.children
        parts.append((operator.type, last))
        node = first
    return [("", node), *reversed(parts)]
