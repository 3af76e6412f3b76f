"""Asking a program something, for a limited time."""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

_LONGEST: Final = 200


@frozen(kw_only=True)
class Answer:
    """What a program said."""

    code: int | None
    output: str = ""
    complaint: str = ""


def ask(words: Sequence[str], environment: Mapping[str, str], seconds: float) -> Answer:
    """Run a program to its end."""
    import subprocess

    try:
        done = subprocess.run(
            list(words),
            env=dict(environment),
            cwd=os.sep,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(code=None, complaint=f"did not end within {seconds:.3g} seconds")
    except (OSError, ValueError) as error:
        return Answer(code=None, complaint=str(getattr(error, "strerror", None) or error))
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [""]
    return Answer(
        code=done.returncode,
        output=done.stdout.decode("utf-8", "surrogateescape"),
        complaint=lines[-1][:_LONGEST],
    )
