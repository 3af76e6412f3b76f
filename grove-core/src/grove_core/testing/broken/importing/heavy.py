"""Imports at its top what only a command needs."""

import urllib.request  # noqa: F401 - that is the fault

from grove_core.testing.broken.importing.sound import grove_api, grove_query_terms

__all__ = ["grove_api", "grove_query_terms"]
