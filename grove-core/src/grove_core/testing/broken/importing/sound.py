"""A plugin that does nothing wrong, and next to nothing."""

from collections.abc import Sequence

from grove_core.model.ticket import Ticket
from grove_core.plugins.descriptors import ProjectContext
from grove_core.plugins.markers import hookimpl

grove_api = 1


@hookimpl
def grove_query_terms(project: ProjectContext, ticket: Ticket | None) -> Sequence[str]:
    """Add no words."""
    del project, ticket
    return []
