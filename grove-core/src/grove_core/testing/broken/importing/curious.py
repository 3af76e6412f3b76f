"""Starts a program when it is imported."""

import subprocess

from grove_core.testing.broken.importing.sound import grove_api, grove_query_terms

__all__ = ["grove_api", "grove_query_terms"]

subprocess.run(["true"], check=False)
