"""Sees to it that there is a Chromium, or says why there is none.

    python tests/real/browser/harness/get_chromium.py

Where Debian's packages can be installed, its `chromium` is; that takes minutes the first time. That
there is none is no fault: the tests that need one are skipped.
"""

import os
import subprocess
import sys
from pathlib import Path

import chromium

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "harness"))
from real_tools import UnavailableError, run


def main():
    """Gets it; the exit code is 0 either way."""
    try:
        program = chromium.find() or install()
    except (UnavailableError, OSError, subprocess.SubprocessError) as error:
        sys.stdout.write(f"real-tools: no chromium: {error}\n")
    else:
        sys.stdout.write(f"real-tools: {program}\n")


def install():
    """Installs Debian's package."""
    if os.geteuid() != 0:
        raise UnavailableError("none is installed, and this is no Debian where we are root")
    # A font, or there is nothing to see.
    packages = ("--no-install-recommends", "chromium", "fonts-dejavu-core")
    for words in (("update",), ("install", "-y", *packages)):
        run("apt-get", *words, cwd="/", DEBIAN_FRONTEND="noninteractive")
    program = chromium.find()
    if program is None:
        raise UnavailableError("Debian's package has put none on PATH")
    return program


if __name__ == "__main__":
    main()
