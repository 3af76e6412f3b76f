"""Sees to it that there is a Chromium, or says why there is none.

    python tests/real/browser/harness/get_chromium.py

Where Debian's packages can be installed, its `chromium` is; that takes minutes the first time. That
there is none is no fault: the tests that need one are skipped.
"""

import os
import shutil
import subprocess
import sys

import chromium

LONGEST_SECONDS = 1_200


class UnavailableError(Exception):
    """There is no Chromium, with the reason."""


def main():
    """Gets it; the exit code is 0 either way."""
    try:
        program = chromium.find() or install()
    except (UnavailableError, OSError, subprocess.TimeoutExpired) as error:
        sys.stdout.write(f"real-tools: no chromium: {error}\n")
    else:
        sys.stdout.write(f"real-tools: {program}\n")


def install():
    """Installs Debian's package."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise UnavailableError("none is installed, and this is no Debian where we are root")
    run("apt-get", "update")
    # A font, or there is nothing to see.
    run("apt-get", "install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core")
    program = chromium.find()
    if program is None:
        raise UnavailableError("Debian's package has put none on PATH")
    return program


def run(*words):
    """Runs a command to its end; its last line is the reason if it fails."""
    done = subprocess.run(
        words,
        check=False,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=LONGEST_SECONDS,
    )
    if done.returncode:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        raise UnavailableError(f"{' '.join(words)}: {lines[-1] if lines else 'it says nothing'}")


if __name__ == "__main__":
    main()
