"""A memory backend for grove: acme."""

import grove_core as grove

from grove_backend_acme.backend import FILE, NAME, JsonLinesBackend

grove_api = 2


@grove.hookimpl
def grove_memory_backends() -> list[grove.BackendSpec]:
    """Offer the backend."""
    return [grove.BackendSpec(name=NAME, detect=_detect, open=JsonLinesBackend, paths=(FILE,))]


def _detect(context: grove.BackendContext) -> grove.Detection:
    # A file can be made anywhere; a server is found or None.
    return grove.Detection(marker=FILE, note=f"keeps learnings in {FILE}")
