"""Follows conditions, loops and cases, whose bodies may run or not, or several times."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from grove_tickets.shell.limits import ShellSyntaxError
from grove_tickets.shell.output import SILENT, UNCERTAIN, Outcome, together
from grove_tickets.shell.scope import Scope
from grove_tickets.shell.simple import CommandRunner
from grove_tickets.shell.syntax import Leaf, Loop, Unit, Words
from grove_tickets.shell.words import UNKNOWN, is_known

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_ROUNDS: Final = 100
_STEPS_OF_A_ROUND: Final = 5


def leaf_of(unit: Unit, node: "Node | None") -> Leaf:
    """Return the leaf that a name in the outline stands for."""
    leaf = None if node is None else unit.leaves.get(node.text or b"")
    if leaf is None:
        raise ShellSyntaxError
    return leaf


class BranchRunner(CommandRunner):
    """Follows compound commands in which something may or may not run."""

    @abstractmethod
    def sequence(
        self, unit: Unit, nodes: "Sequence[Node]", scope: Scope, stdin: str | None
    ) -> Outcome:
        """Follow commands that run one after another, with the signs between them."""

    def if_statement(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a condition, and each branch that may be taken."""
        waiting = scope.copy()
        ends: list[Scope] = []
        outcomes: list[Outcome] = []
        for condition, body in _clauses(node):
            status = self.sequence(unit, condition, waiting, stdin).status if condition else True
            if waiting.stopped:
                break
            if status is False:
                continue
            taken = waiting.copy()
            outcomes.append(self.sequence(unit, body, taken, stdin))
            ends.append(taken)
            if status:
                break
        else:
            outcomes.append(SILENT)
            ends.append(waiting)
        scope.join(ends or [waiting])
        return _either(outcomes)

    def while_statement(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a loop that runs while, or until, a condition holds."""
        keyword, *condition, body = node.children
        return self._rounds(unit, condition, body, scope, stdin, stops_when=keyword.type == "until")

    def for_statement(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a loop over words; round by round where the text tells all of them."""
        loop = leaf_of(unit, node.child_by_field_name("variable"))
        assert isinstance(loop, Loop)
        values = self.fields(loop.items, scope)
        if len(values) > _MAX_ROUNDS or not all(map(is_known, values)):
            scope.assign(loop.name, UNKNOWN)
            return self._rounds(unit, (), node.children[-1], scope, stdin, stops_when=False)
        inner = scope.copy()
        inner.loops += 1
        outcomes: list[Outcome] = []
        left: list[Scope] = []
        for value in values:
            self.budget.spend(_STEPS_OF_A_ROUND)
            inner.assign(loop.name, value)
            waiting = len(scope.departed)
            outcomes.append(self.sequence(unit, node.children[-1].children, inner, stdin))
            going, leaving = inner.end_round(waiting)
            left += leaving
            if not going:
                break
            inner.join(going)
        else:
            left.append(inner)
        outcome = together(outcomes) if len(left) == 1 else UNCERTAIN
        scope.join(left)
        return outcome

    def case_statement(self, unit: Unit, node: "Node", scope: Scope, stdin: str | None) -> Outcome:
        """Follow a choice; each of its branches may be taken, or none."""
        subject, *items = node.named_children
        self.expand_all(unit, subject, scope)
        ends = [scope.copy()]
        outcomes = [SILENT]
        falling: Scope | None = None
        for item in items:
            pattern, *body = item.children
            taken = scope.copy()
            self.expand_all(unit, pattern, taken)
            if falling is not None:
                taken.join([taken.copy(), falling])
            outcomes.append(self.sequence(unit, body, taken, stdin))
            falls = bool(body) and body[-1].type == ";&" and not taken.stopped
            falling = taken.copy() if falls else None
            ends.append(taken)
        scope.join(ends)
        return _either(outcomes)

    def expand_all(self, unit: Unit, node: "Node", scope: Scope) -> None:
        """Expand the words that stand where no command is."""
        leaf = leaf_of(unit, node)
        assert isinstance(leaf, Words)
        for item in leaf.words:
            self.text(item, scope)

    def _rounds(
        self,
        unit: Unit,
        condition: "Sequence[Node]",
        body: "Node",
        scope: Scope,
        stdin: str | None,
        *,
        stops_when: bool,
    ) -> Outcome:
        """Follow a loop of which the text does not tell how often it runs."""
        while True:
            self.budget.spend(_STEPS_OF_A_ROUND)
            count, waiting = len(self.found), len(scope.departed)
            inner = scope.copy()
            inner.loops += 1
            if condition and self.sequence(unit, condition, inner, stdin).status is stops_when:
                scope.join([inner])
                return SILENT
            skipped = inner.copy()
            self.sequence(unit, body.children, inner, stdin)
            going, leaving = inner.end_round(waiting)
            changes = [scope.merge(end) for end in going]
            if not any(changes):
                break
            del self.found[count:]
            del scope.departed[waiting:]
        scope.join([skipped, *going, *leaving])
        return UNCERTAIN


def _clauses(node: "Node") -> "list[tuple[list[Node], list[Node]]]":
    """Return the conditions of ``if`` with what they guard; the last one may be empty."""
    clauses: list[tuple[list[Node], list[Node]]] = [([], [])]
    in_body = 0
    for child in node.children:
        if child.type in {"elif_clause", "else_clause"}:
            clauses += _clauses(child)
        elif child.type in {"then", "else"}:
            in_body = 1
        else:
            clauses[0][in_body].append(child)
    return clauses


def _either(outcomes: list[Outcome]) -> Outcome:
    """Return the outcome of branches of which one is taken."""
    if len(outcomes) == 1:
        return outcomes[0]
    return SILENT if all(outcome.output == "" for outcome in outcomes) else UNCERTAIN
