"""Starts process after process; imports next to nothing: a child's peak memory is never below ours.

Called by ``many_calls.py``: the argument is how often to call, each line of standard input is a
call (a file for its standard input, the program, its arguments, with tabs between them). Writes a
line for each call: its number in the list, its exit status, its peak memory as the system counts
it, whether any process of its was left, and the microseconds that it took by the clock and of the
processors.
"""

import os
import sys
import time

_LOOKS = 100
_PAUSE_SECONDS = 0.01
_MICROSECONDS = 1_000_000


def main() -> None:
    """Make the calls in turn."""
    plan = [line.split("\t") for line in sys.stdin.read().splitlines()]
    for number in range(int(sys.argv[1])):
        payload, *words = plan[number % len(plan)]
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, payload, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        started = time.perf_counter()
        process = os.posix_spawn(words[0], words, os.environ, file_actions=actions, setpgroup=0)
        _, status, usage = os.wait4(process, 0)
        wall = int((time.perf_counter() - started) * _MICROSECONDS)
        cpu = int((usage.ru_utime + usage.ru_stime) * _MICROSECONDS)
        outlived = int(_outlived(process))
        sys.stdout.write(
            f"{number % len(plan)} {status} {usage.ru_maxrss} {outlived} {wall} {cpu}\n"
        )


def _outlived(group: int) -> bool:
    """Tell whether the group of an ended process still has members; one may be just ending."""
    for _ in range(_LOOKS):
        try:
            os.killpg(group, 0)
        except OSError:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True


if __name__ == "__main__":
    main()
