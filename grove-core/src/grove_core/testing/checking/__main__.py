"""``python -m grove_core.testing.checking``: run the contracts in the current, empty folder."""

import faulthandler
import os
import sys
from pathlib import Path

import pytest

from grove_core.testing.checking.reporting import LONGEST_TEST_SECONDS, Reporter
from grove_core.testing.checking.request import REQUEST_FILE

_MODULE = """
from grove_core.testing.checking.contracts import contracts_of
from grove_core.testing.checking.request import read_request

globals().update(contracts_of(read_request()))
"""


def main() -> int:
    """Run the contracts."""
    folder = Path.cwd()
    (folder / REQUEST_FILE).write_text(sys.stdin.read(), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    module = folder / "test_installed.py"
    module.write_text(_MODULE, encoding="utf-8")
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    errors = os.fdopen(os.dup(2), "w", encoding="utf-8")
    # What plugins and pytest print is not for the one who reads the results.
    os.dup2(2, 1)
    # A process that a plugin forks tells nothing, and keeps nobody waiting for the end of it.
    os.register_at_fork(after_in_child=results.close)
    # Until the first test begins: plugins are imported and opened before.
    faulthandler.dump_traceback_later(LONGEST_TEST_SECONDS, exit=True, file=errors)
    places = [f"--confcutdir={folder}", f"--basetemp={folder / 'tests'}", str(module)]
    arguments = ["-q", "-p", "no:cacheprovider", "-c", str(folder / "pytest.ini"), *places]
    return pytest.main(arguments, plugins=[Reporter(results, errors)])


if __name__ == "__main__":
    sys.exit(main())
