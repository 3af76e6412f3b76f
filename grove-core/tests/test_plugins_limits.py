import subprocess
import sys
import threading
import time

import pytest

from grove_core import PluginError
from grove_core.plugins.limits import Deadline, NoTimeLeftError, TimeLimitError, call_limited


def test_results_and_exceptions_arrive_as_they_are():
    assert call_limited(lambda: "done", 5) == "done"
    assert call_limited(lambda: call_limited(lambda: None, 5), 5) is None
    error = LookupError("nothing there")

    def fail():
        raise error

    with pytest.raises(LookupError) as caught:
        call_limited(fail, 5)
    assert caught.value is error


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_attempt_to_end_the_process_is_an_ordinary_error(kind):
    def fail():
        raise kind

    with pytest.raises(PluginError, match=f"raised {kind.__name__}"):
        call_limited(fail, 5)


def test_late_call_raises_and_names_the_limit():
    release = threading.Event()
    try:
        with pytest.raises(TimeLimitError, match=r"longer than 0\.05 seconds"):
            call_limited(release.wait, 0.05)
    finally:
        release.set()


def test_a_deadline_shortens_the_limits_of_calls():
    assert Deadline().clip(5) == 5
    assert Deadline(time.monotonic() + 3600).clip(5) == 5
    assert 0 < Deadline(time.monotonic() + 100).clip(3600) <= 100
    assert Deadline(time.monotonic() + 100).clip(0.001) == 0.001
    with pytest.raises(NoTimeLeftError, match="no time was left"):
        Deadline(time.monotonic()).clip(5)


def run_script(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )


def test_hung_call_does_not_keep_the_process_alive():
    result = run_script(
        "import time\n"
        "from grove_core.plugins.limits import TimeLimitError, call_limited\n"
        "try:\n"
        "    call_limited(lambda: time.sleep(3600), 0.05)\n"
        "except TimeLimitError:\n"
        "    print('late')\n"
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "late\n", "")


def test_interrupt_by_the_user_is_not_swallowed():
    result = run_script(
        "import os, signal, time\n"
        "from grove_core.plugins.limits import call_limited\n"
        "def interrupted():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(3600)\n"
        "try:\n"
        "    call_limited(interrupted, 50)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    assert (result.returncode, result.stdout) == (0, "interrupted\n")
