"""Follows what a shell would run of a text: lists, pipes, conditions, loops and functions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from grove_tickets.shell.expansion import source_of
from grove_tickets.shell.scope import SILENT, UNCERTAIN, Command, Outcome, Scope
from grove_tickets.shell.simple import CommandRunner
from grove_tickets.shell.syntax import Budget, parse_units
from grove_tickets.shell.words import UNKNOWN, is_known

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_ROUNDS: Final = 100
_MAX_PASSES: Final = 3
_VARIABLES_OF_A_STEP: Final = 8
_STEPS_OF_A_SUBSHELL: Final = 3
_CASE_ENDS: Final = frozenset({";;", ";&", ";;&"})


class Walk(CommandRunner):
    """Follows shell texts and collects the commands that would run."""

    def __init__(self, budget: Budget, found: list[Command]) -> None:
        super().__init__(budget, found)
        self._handlers = {
            "pipeline": self._pipeline,
            "list": self._list,
            "negated_command": self._negated,
            "redirected_statement": self._redirected,
            "subshell": self._subshell,
            "compound_statement": self._compound,
            "if_statement": self._if,
            "while_statement": self._while,
            "for_statement": self._for,
            "c_style_for_statement": self._c_style_for,
            "case_statement": self._case,
            "function_definition": self._define,
            "test_command": self._test,
            "program": self._program,
        }

    def run_shell(self, text: str, scope: Scope, stdin: str | None) -> Outcome:
        """Follow shell text in a shell of its own, up to its end."""
        return self._finish(scope, self.run_text(text, scope, stdin))

    def run_text(self, text: str, scope: Scope, stdin: str | None) -> Outcome:
        """Follow shell text in the shell that the scope belongs to."""
        outcomes: list[Outcome] = []
        with self.budget:
            for root in parse_units(text, self.budget, self.taken):
                outcomes.append(self.visit(root, scope, stdin))
                if scope.stopped:
                    break
        return _together(outcomes)

    def substitute(self, node: "Node", scope: Scope) -> str | None:
        """Run commands in a subshell, and return their output where the text tells it."""
        with self.budget:
            return self._subshell(node, scope, None).output

    def visit(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a statement."""
        self.budget.spend(len(scope.variables) // _VARIABLES_OF_A_STEP)
        with self.budget:
            return self._handlers.get(node.type, self.simple)(node, scope, stdin)

    def _finish(self, shell: Scope, outcome: Outcome) -> Outcome:
        """End a shell: run what it has been told to run then."""
        if "" in shell.changed:  # it may have ended somewhere else
            shell.forget(list(shell.changed))
            outcome = Outcome(None, outcome.status)
        shell.stopped = ""
        if not shell.exit_trap:
            return outcome
        text, shell.exit_trap = shell.exit_trap, ""
        return Outcome(_together([outcome, self.run_text(text, shell, None)]).output)

    def _sequence(self, nodes: "Sequence[Node]", scope: Scope, stdin: str | None) -> Outcome:
        """Follow commands that run one after another, with the signs between them."""
        outcomes = []
        for position, node in enumerate(nodes):
            if node.type in _CASE_ENDS:
                scope.stop("exit")  # a mistake
            if scope.stopped:
                break
            if not node.is_named or node.type == "comment":
                continue
            if any(after.type == "&" for after in nodes[position + 1 : position + 2]):
                self.visit(node, scope.subshell(), None)
                outcomes.append(UNCERTAIN)
            else:
                outcomes.append(self.visit(node, scope, stdin))
        return _together(outcomes)

    def _program(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        return self._sequence(node.children, scope, stdin)

    def _subshell(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        self.budget.spend(_STEPS_OF_A_SUBSHELL)
        shell = scope.subshell()
        return self._finish(shell, self._sequence(node.children, shell, stdin))

    def _compound(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        if node.children[0].type == "((":
            self.calculate(node, scope)
            return SILENT
        return self._sequence(node.children, scope, stdin)

    def _test(self, node: "Node", scope: Scope, _stdin: str | None) -> Outcome:
        self.run_within(node, scope)
        return SILENT

    def _negated(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        outcome = self.visit(node.named_children[0], scope, stdin)
        return Outcome(outcome.output, None if outcome.status is None else not outcome.status)

    def _pipeline(
        self, node: "Node", scope: Scope, stdin: str | None, last: "Sequence[Node]" = ()
    ) -> Outcome:
        """Follow a pipeline, each command in a subshell; redirections behind it are the last's."""
        outcome = Outcome(stdin)
        nodes = node.named_children
        for child in nodes:
            shell = scope.subshell()
            discards = False
            stdin = outcome.output
            if child is nodes[-1] and last:
                stdin, discards = self.redirect(last, shell, stdin)
            outcome = self._finish(shell, self.visit(child, shell, stdin))
            if discards:
                outcome = Outcome("", outcome.status)
        negates = nodes[0].type == "negated_command" and outcome.status is not None
        return Outcome(outcome.output, not outcome.status) if negates else outcome

    def _redirected(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        body = node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        if body is not None and body.type == "pipeline":
            return self._pipeline(body, scope, stdin, redirects)
        if body is not None and body.type == "negated_command":
            inner = self._redirect_around(body.named_children[0], redirects, scope, stdin)
            return Outcome(inner.output, None if inner.status is None else not inner.status)
        if body is not None and body.type in {"command", "variable_assignment"}:
            return self.simple(body, scope, stdin, redirects)
        return self._redirect_around(body, redirects, scope, stdin)

    def _redirect_around(
        self, body: "Node | None", redirects: "Sequence[Node]", scope: Scope, stdin: str | None
    ) -> Outcome:
        stdin, discards = self.redirect(redirects, scope, stdin)
        outcome = SILENT if body is None else self.visit(body, scope, stdin)
        return Outcome("", outcome.status) if discards else outcome

    def _list(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a chain of ``&&`` and ``||``."""
        good, bad, outcome = self._ways(node, scope, stdin)
        ends = [end for end in (good, bad) if end is not None]
        scope.become(ends)
        if good is not None and bad is not None:
            if not good.stopped:
                # Whoever writes `cd a && make` counts on being in `a` afterwards.
                scope.directory = good.directory
            return Outcome(outcome.output)
        return Outcome(outcome.output, good is not None)

    def _ways(
        self, node: "Node", scope: Scope, stdin: str | None
    ) -> tuple[Scope | None, Scope | None, Outcome]:
        """Return what is known after a command that succeeds, and after one that fails."""
        if node.type != "list":
            end = scope.copy()
            outcome = self.visit(node, end, stdin)
            good = None if outcome.status is False else end
            bad = None if outcome.status is True else end.copy()
            return good, bad, outcome
        left, operator, right = node.children[0], node.children[1].type, node.children[-1]
        with self.budget:
            good, bad, outcome = self._ways(left, scope, stdin)
        start = good if operator == "&&" else bad
        if start is None or start.stopped:
            return good, bad, outcome
        other = bad if operator == "&&" else good
        good, bad, second = self._ways(right, start, stdin)
        both = _together([outcome, second if other is None else UNCERTAIN])
        if operator == "&&":
            return good, _met(other, bad), both
        return _met(other, good), bad, both

    def _if(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a condition, and each branch that may be taken."""
        ends: list[Scope] = []
        outcomes: list[Outcome] = []
        waiting: Scope | None = scope.copy()
        for condition, body in _clauses(node):
            if waiting is None or waiting.stopped:
                break
            good: Scope | None = waiting
            if condition:
                self._sequence(condition[:-1], waiting, stdin)
                good, waiting, _ = self._ways(condition[-1], waiting, stdin)
            else:
                waiting = None
            if good is not None:
                outcomes.append(self._sequence(body, good, stdin))
                ends.append(good)
        if waiting is not None:
            outcomes.append(SILENT)
            ends.append(waiting)
        scope.become(ends)
        return _either(outcomes)

    def _while(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a loop that runs while, or until, a condition holds."""
        keyword, *condition, body = node.children
        return self._rounds(condition, body, scope, stdin, stops_when=keyword.type == "until")

    def _c_style_for(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        *head, body = node.children
        for one in head:
            self.calculate(one, scope)
        return self._rounds((), body, scope, stdin)

    def _for(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a loop over words; round by round where the text tells all of them."""
        name = source_of(node.named_children[0])
        body = node.children[-1]
        values = self.fields(node.children_by_field_name("value"), scope)
        if not any(child.type == "in" for child in node.children):
            values = list((UNKNOWN,) if scope.positionals is None else scope.positionals)
        is_known_loop = node.children[0].type == "for" and all(map(is_known, values))
        if len(values) > _MAX_ROUNDS or not is_known_loop:
            scope.assign(name, UNKNOWN)
            return self._rounds((), body, scope, stdin)
        outcomes = []
        outer, scope.changed = scope.changed, set()
        scope.loops += 1
        for value in values:
            scope.assign(name, value)
            outcomes.append(self._sequence(body.children, scope, stdin))
            if "" in scope.changed:  # some way may go on
                scope.forget(list(scope.changed))
                scope.stop("")
            elif self._leaves(scope):
                break
        may_have_left = "" in scope.changed
        scope.loops -= 1
        scope.changed |= outer
        return UNCERTAIN if may_have_left else _together(outcomes)

    def _leaves(self, scope: Scope) -> bool:
        """End a round of a loop, and return whether it was the last."""
        how = scope.stopped
        if how in {"break", "continue"} and scope.levels > 1:
            scope.levels -= 1
            return True
        if how in {"break", "continue"}:
            scope.stop("")
        return how not in {"", "continue"}

    def _rounds(
        self,
        condition: "Sequence[Node]",
        body: "Node",
        scope: Scope,
        stdin: str | None,
        *,
        stops_when: bool = False,
    ) -> Outcome:
        """Follow a loop of which the text does not tell how often it runs."""
        outer, scope.changed = scope.changed, set()
        count = len(self.found)
        for _ in range(_MAX_PASSES):
            del self.found[count:]
            before = set(scope.changed)
            inner = scope.copy()
            inner.loops += 1
            if condition and self._sequence(condition, inner, stdin).status is stops_when:
                scope.become([inner])
                scope.changed |= outer
                return SILENT
            skipped = inner.copy()
            self._sequence(body.children, inner, stdin)
            self._leaves(inner)
            if inner.stopped:
                inner.stop("")
            scope.become([scope.copy(), skipped, inner])
            scope.forget(list(scope.changed))
            if scope.changed == before:
                break
        scope.changed |= outer
        return UNCERTAIN

    def _case(self, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a choice; each of its branches may be taken, or none."""
        subject, *items = node.named_children
        self.text(subject, scope)
        ends = [scope.copy()]
        outcomes = [SILENT]
        falling: Scope | None = None
        for item in items:
            if item.type != "case_item":
                continue
            taken = scope.copy()
            patterns = item.children_by_field_name("value")
            for pattern in patterns:
                self.text(pattern, taken)
            if falling is not None:
                taken.become([taken.copy(), falling])
            body = [
                one for one in item.children if one not in patterns and one.type not in _CASE_ENDS
            ]
            outcomes.append(self._sequence(body, taken, stdin))
            falls = item.child_by_field_name("fallthrough") is not None and not taken.stopped
            falling = taken.copy() if falls else None
            ends.append(taken)
        scope.become(ends)
        return _either(outcomes)

    def _define(self, node: "Node", scope: Scope, _stdin: str | None) -> Outcome:
        name = node.child_by_field_name("name")
        if name is not None:
            scope.functions[source_of(name)] = (node,)
        return SILENT


def _together(outcomes: list[Outcome]) -> Outcome:
    """Return the outcome of commands that run one after another."""
    outputs = [outcome.output for outcome in outcomes if outcome.output is not None]
    known = len(outputs) == len(outcomes)
    return Outcome("".join(outputs) if known else None, outcomes[-1].status if outcomes else None)


def _either(outcomes: list[Outcome]) -> Outcome:
    """Return the outcome of branches of which one is taken."""
    if len(outcomes) == 1:
        return outcomes[0]
    return SILENT if all(outcome.output == "" for outcome in outcomes) else UNCERTAIN


def _met(one: Scope | None, other: Scope | None) -> Scope | None:
    """Return what is known where two ways meet."""
    if one is None or other is None:
        return one or other
    met = one.copy()
    met.become([one, other])
    return met


def _clauses(node: "Node") -> "list[tuple[list[Node], list[Node]]]":
    """Return the conditions of ``if``, statements only, with what they guard; none for ``else``."""
    clauses: list[tuple[list[Node], list[Node]]] = [([], [])]
    in_body = node.type == "else_clause"
    for child in node.children:
        if child.type in {"elif_clause", "else_clause"}:
            clauses += _clauses(child)
        elif child.type == "then":
            in_body = True
        elif child.is_named or in_body:
            clauses[0][in_body].append(child)
    return clauses
