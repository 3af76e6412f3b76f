"""Fault logs: ``grove.log`` for handled faults, ``crash.log`` for crashes."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from grove_core.clock import format_instant, now_utc
from grove_core.model.value import Value, frozen
from grove_core.storage.files import locked, make_directory
from grove_core.storage.paths import Paths
from grove_core.text import remove_invisible, shorten

ROTATION_BYTES: Final = 1024 * 1024
_LOCK_SECONDS: Final = 0.5
_LONGEST_VALUE: Final = 2_000
_LONGEST_TRACEBACK: Final = 64 * 1024
_FILE_MODE: Final = 0o600


@frozen(eq=False, repr=False)
class Diagnostics(Value):
    """Writes to the logs in grove's own directory."""

    paths: Paths
    now: Callable[[], datetime] = now_utc

    def log(self, level: str, message: str, **fields: object) -> None:
        """Add a line to ``grove.log``; never raises."""
        with suppress(Exception):
            line = f"{self._head(level.upper(), fields)} {_plain(message)}\n"
            _append(self.paths.log_file, line)

    def crash(
        self, error: BaseException, session_id: str | None = None, hook: str | None = None
    ) -> str:
        """Add an unexpected error and its traceback to ``crash.log``; never raises."""
        import traceback

        kind = type(error).__name__
        try:
            fields = {"session": session_id or "-", "hook": hook or "-"}
            # traceback copes with errors whose own text raises.
            kind = _plain("".join(traceback.format_exception_only(error)).strip())
            text = "".join(traceback.format_exception(error))
            if len(text) > _LONGEST_TRACEBACK:
                half = _LONGEST_TRACEBACK // 2
                text = f"{text[:half]}\n[…]\n{text[-half:]}"
            # Indented it forges no other entry.
            text = "".join(f"  {line}\n" for line in remove_invisible(text).splitlines())
            _append(self.paths.crash_log, f"{self._head('', fields)} error={kind}\n{text}")
        except Exception:  # noqa: BLE001 - whatever it is, the error that brought us here counts
            return f"{self.paths.crash_log} cannot be written, either: {kind}"
        return f"see {self.paths.crash_log}"

    def _head(self, level: str, fields: Mapping[str, object]) -> str:
        pairs = (f"{name}={_word(value)}" for name, value in fields.items() if value is not None)
        return " ".join(filter(None, (format_instant(self.now()), level, *pairs)))


def _plain(text: str) -> str:
    """One line without anything that could drive a terminal or forge another line."""
    visible = remove_invisible(shorten(text, _LONGEST_VALUE))
    return visible.replace("\n", "\\n").replace("\t", " ")


def _word(value: object) -> str:
    text = _plain(str(value)).replace('"', "'")
    return f'"{text}"' if not text or " " in text else text


def _append(path: Path, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    make_directory(path.parent)
    with locked(path, mode=_FILE_MODE, timeout=_LOCK_SECONDS) as descriptor:
        if os.fstat(descriptor).st_size + len(data) <= ROTATION_BYTES:
            os.write(descriptor, data)
            return
        # Who waits for this lock finds another file of that name afterwards, and locks that one.
        path.replace(path.with_name(f"{path.name}.1"))
    with locked(path, mode=_FILE_MODE, timeout=_LOCK_SECONDS) as descriptor:
        os.write(descriptor, data)
