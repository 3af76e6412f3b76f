"""Adding to a daily log: one write at its end, beside others who know of no locks."""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Final

from grove_backend_totalrecall.entry import daily_template
from grove_backend_totalrecall.health import write_fault
from grove_core import StorageError, append_text, confined

_NO_LINKS: Final = frozenset({errno.EEXIST, errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS})


def append_to_log(path: Path, day: date, compose: Callable[[str], str], *, root: Path) -> None:
    """Append to a daily log."""
    if (fault := write_fault(path, root)) is not None:
        raise StorageError(f"{fault.detail}; fix: {fault.fix}")
    real = Path(confined(path, root))
    _make_from_template(real, day)

    def composed(text: str) -> str:
        added = compose(text) if text.strip("\ufeff \t\r\n") else _with_template(compose, day)
        return added.replace("\n", "\r\n") if _has_crlf(text) else added

    append_text(real, composed, inside=root)


def _make_from_template(path: Path, day: date) -> None:
    """Make a log that nobody sees before all of it is there, unless somebody else was faster."""
    if path.exists():
        return
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        draft.write_text(daily_template(day), encoding="utf-8", newline="")
        path.hardlink_to(draft)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            # A log that is left empty would stay without its sections for good.
            raise StorageError(f"cannot create {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _with_template(compose: Callable[[str], str], day: date) -> str:
    """Fill a log that is empty: Total Recall's own tools would leave it so."""
    template = daily_template(day)
    added = compose(template)
    return template + added if added else ""


def _has_crlf(text: str) -> bool:
    end = text.find("\n")
    return end > 0 and text[end - 1] == "\r"
