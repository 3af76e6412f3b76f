"""Asking another program, which may be missing, slow or of another version."""

from collections.abc import Mapping, Sequence
from pathlib import Path


def ask(
    program: str,
    arguments: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    seconds: float,
) -> str:
    """Run a program that only reads, and give its output.

    Args:
        program: Its name, looked for on the environment's ``PATH``.
        arguments: Its arguments.
        cwd: The directory it runs in.
        environment: Its environment.
        seconds: How long it may take; it and all that it started are killed then.

    Returns:
        What it printed; empty when it is not there, fails or takes too long.
    """
    import shutil

    path = shutil.which(program, path=environment.get("PATH", ""))
    if path is None or not cwd.is_dir():
        return ""
    import os
    import signal
    import subprocess

    try:
        process = subprocess.Popen(
            [path, *arguments],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return ""
    with process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # what npm installs starts another process
            return ""
    return output.decode("utf-8", "replace") if process.returncode == 0 else ""
