"""What all tests need of the process that runs them."""

import signal

from hypothesis import settings

# How fast a machine is that does other things as well is nobody's fault.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A job in the background of a script ignores Ctrl-C, and so would every program that it starts;
# tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
