"""Adding to a daily log: one write at its end, beside others who know of no locks.

The log is never rewritten: a shell's ``>>`` and this write both append, and neither loses anything
of the other. A log that is not there yet is made from Total Recall's own template, unless somebody
else makes it in the same moment.
"""

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

from grove_backend_totalrecall.entry import daily_template
from grove_backend_totalrecall.health import write_fault
from grove_core import StorageError, append_text, confined


def append_to_log(path: Path, day: date, compose: Callable[[str], str], *, root: Path) -> None:
    """Append to a daily log.

    Args:
        path: The log; its folder must be there.
        day: The log's day.
        compose: From the text that is there, decoded with surrogates, to what is appended, with
            plain line feeds; nothing is written when that is nothing.
        root: Total Recall's root, which symbolic links must not lead out of.

    Raises:
        StorageError: It could not be written; nothing was changed then.
    """
    if (fault := write_fault(path, root)) is not None:
        raise StorageError(f"{fault.detail}; mend: {fault.mend}")
    real = Path(confined(path, root))
    _make_from_template(real, day)

    def composed(text: str) -> str:
        added = compose(text) if text.strip() else _with_template(compose, day)
        return added.replace("\n", "\r\n") if _has_crlf(text) else added

    append_text(real, composed, inside=root)


def _make_from_template(path: Path, day: date) -> None:
    """Make a log, all of it or nothing; whoever was faster has made it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return
    except OSError as error:
        raise StorageError(f"cannot create {path}: {error.strerror or error}") from error
    try:
        os.write(descriptor, daily_template(day).encode())
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        os.close(descriptor)


def _with_template(compose: Callable[[str], str], day: date) -> str:
    """Fill a log that is empty: Total Recall's own tools would leave it so."""
    template = daily_template(day)
    added = compose(template)
    return template + added if added else ""


def _has_crlf(text: str) -> bool:
    end = text.find("\n")
    return end > 0 and text[end - 1] == "\r"
