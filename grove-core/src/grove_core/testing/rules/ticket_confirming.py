"""Whether a close really happened."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grove_core.model.ticket import Confirmation, TicketClose, ToolResult
from grove_core.testing.calls import RESULTS
from grove_core.testing.rules.ticket_offers import TicketOffers, Untouched, looks_at
from grove_core.testing.skipping import NotDeclared
from grove_core.testing.verdict import require, rule


class ConfirmingRules(TicketOffers):
    """Asking afterwards."""

    @pytest.mark.parametrize("result", [*RESULTS])
    @rule("grove_core.CloseMatcher")
    def test_every_result_has_an_answer(self, empty_project: Path, result: str) -> None:
        """Whatever has become of a call, confirm says yes, no or unknown, and changes no file."""
        for close in self._announced(empty_project):
            self._confirmed(close, RESULTS[result], empty_project)

    @rule("grove_core.CloseMatcher")
    def test_failure_is_no_success(self, empty_project: Path) -> None:
        """A call that failed where no such ticket is known has not closed it."""
        failed = ToolResult(succeeded=False, error="Exit code 1")
        for close in self._announced(empty_project):
            answer = self._confirmed(close, failed, empty_project)
            closed = answer is Confirmation.YES
            require(not closed, expected="no or unknown of a failure", found=answer)

    def _announced(self, project: Path) -> Iterator[TicketClose]:
        asked = False
        for call, _ in self.calls(project):
            for matcher in self.matchers():
                if matcher.confirm is not None and looks_at(matcher, call):
                    asked = True
                    yield from matcher.match(call, self.context(project))
        if not asked:
            pytest.skip(NotDeclared(f"{self.probe().name} cannot tell"))

    def _confirmed(
        self, close: TicketClose, result: ToolResult | None, project: Path
    ) -> Confirmation:
        # grove asks a system's first matcher.
        confirm = self.matchers()[0].confirm
        if confirm is None:
            pytest.skip(NotDeclared(f"the first matcher of {close.system} cannot tell"))
        with Untouched(project, "confirm", may_ask=True):
            answer: object = confirm(close, result, self.context(project))
        require(isinstance(answer, Confirmation), expected="a Confirmation", found=answer)
        assert isinstance(answer, Confirmation)
        return answer
