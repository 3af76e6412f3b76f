"""A memory backend for grove: the project's learnings in one JSON file."""

import grove_core as grove
from grove_backend_jsonfile.backend import FILE, JsonFileBackend
from grove_backend_jsonfile.extras import LOG, grove_commands, grove_learning_written  # noqa: F401

grove_api = 2


@grove.hookimpl
def grove_memory_backends() -> list[grove.BackendSpec]:
    """Offer the backend."""
    paths = (FILE, LOG)
    return [grove.BackendSpec(name="jsonfile", detect=_detect, open=JsonFileBackend, paths=paths)]


def _detect(context: grove.BackendContext) -> grove.Detection | None:
    return grove.Detection(marker=FILE) if (context.root / FILE).exists() else None
