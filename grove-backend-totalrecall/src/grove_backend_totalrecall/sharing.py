"""Whether others who work on a project get what is written to a file."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_SECONDS: Final = 2.0
_IGNORED: Final = 0


def is_ignored_by_git(path: Path, environment: Mapping[str, str]) -> bool:
    """Ask git whether it leaves a file out.

    Args:
        path: The file, which need not exist; its folder must.
        environment: The process's environment.

    Returns:
        Whether it does; not so outside of a repository, and where git cannot be asked.
    """
    try:
        done = subprocess.run(
            ["git", "check-ignore", "--quiet", "--", path.name],
            cwd=path.parent,
            env=dict(environment) or None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == _IGNORED
