"""Prints when it is imported."""

import sys

from grove_core.testing.broken.importing.sound import grove_api, grove_query_terms

__all__ = ["grove_api", "grove_query_terms"]

sys.stdout.write("hello\n")
