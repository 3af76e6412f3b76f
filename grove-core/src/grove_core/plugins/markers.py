"""pluggy's markers for grove's hooks, and the version of the plugin interface."""

from typing import Final

import pluggy

PROJECT_NAME: Final = "grove"
GROVE_API: Final = 1

hookspec = pluggy.HookspecMarker(PROJECT_NAME)
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)
