"""Imports at its top what only a command needs."""

import urllib.request  # noqa: F401 - that is the fault

grove_api = 2
