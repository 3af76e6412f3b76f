"""Runs a hook in this process so that it can be looked into; called by ``profile_start.py``.

Arguments: the event, and a file for standard input; to profile the hook, also a second file for
standard input and the file for the profile. The hook then runs twice: the first time imports
everything, and the second time, of which the profile is taken, only works. The last line of the
output names the modules that are loaded in the end.
"""

import os
import sys

_redirect = os.dup2


def main() -> None:
    """Run the hook."""
    event, payload, *more = sys.argv[1:]
    # What the interpreter reports on imports goes to standard error, which hooks keep silent.
    os.dup2 = _leave_streams_alone  # type: ignore[assignment]  # its arguments have other names
    sys.argv = ["grove", "hook", event]
    _call(payload)
    if more:
        _profile(*more)
    sys.stdout.write("\n" + " ".join(sys.modules))


def _leave_streams_alone(source: int, target: int, inheritable: bool = True) -> int:  # noqa: FBT001, FBT002 - as os.dup2 has it
    del source, inheritable
    return target


def _call(payload: str) -> None:
    _redirect(os.open(payload, os.O_RDONLY), 0)
    from grove_core._entry import main as grove

    grove()


def _profile(payload: str, file: str) -> None:
    import cProfile
    from time import process_time

    _stay_in_this_thread()
    # By the clock, a function would be charged for what the machine did meanwhile.
    profiler = cProfile.Profile(process_time)
    profiler.runcall(_call, payload)
    profiler.dump_stats(file)


def _stay_in_this_thread() -> None:
    """Let what would run in threads run here, where the profiler sees it."""
    import threading

    class Here(threading.Thread):
        def start(self) -> None:
            self.run()

        def join(self, timeout: float | None = None) -> None:
            del timeout

        def is_alive(self) -> bool:
            return False

    for name in ("start", "join", "is_alive"):
        setattr(threading.Thread, name, getattr(Here, name))


if __name__ == "__main__":
    main()
