"""What stands in for a primary backend that cannot be opened: what is written to it waits."""

from collections.abc import Iterable, Sequence
from typing import NoReturn

from grove_core.errors import BackendError
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability, Filters, Health, Hit, Query, Receipt
from grove_core.model.value import Value, frozen


@frozen(eq=False, repr=False)
class UnopenedBackend(Value):
    """A backend that can do nothing, so that learnings go to the outbox and not elsewhere."""

    name: str

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Nothing."""
        return frozenset()

    def write(self, learning: Learning) -> Receipt:
        """Refuse."""
        self._refuse(learning)

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        """Refuse."""
        self._refuse(query, filters)

    def ping(self) -> Health:
        """Tell that it could not be opened."""
        return Health(ok=False, detail="could not be opened; `grove plugins` names the fault")

    def get(self, learning_id: str) -> Learning | None:
        """Refuse."""
        self._refuse(learning_id)

    def iterate(self) -> Iterable[Learning]:
        """Refuse."""
        self._refuse()

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Refuse."""
        self._refuse(learning_id, status, note)

    def _refuse(self, *_: object) -> NoReturn:
        raise BackendError(f"the backend {self.name} could not be opened")
