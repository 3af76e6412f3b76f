"""A terminal of 80 by 24 with `grove` in it."""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios

from world import GROVE

SECONDS = 120  # a question that nobody answers must not last for ever


def on_terminal(world, *words, answers=(), plain=True, **variables):
    """Runs a command, and gives its exit code and all that it shows, plain without colours.

    Each answer is a pattern of what the screen shows before it, and the keys that are pressed then.
    """
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(terminal)
    process = subprocess.Popen(
        [*GROVE, *map(str, words)],
        cwd=world.project,
        env={
            **world.environment,
            "TERM": "dumb",
            **{name: str(one) for name, one in variables.items()},
        },
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    shown = unread = ""
    rest, decoder = list(answers), codecs.getincrementaldecoder("utf-8")()
    try:
        while process.poll() is None or select.select([main], [], [], 0)[0]:
            if not select.select([main], [], [], 0.1)[0]:
                continue
            text = decoder.decode(os.read(main, 65_536)).replace("\r", "")
            text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text) if plain else text
            shown, unread = shown + text, unread + text
            if rest and re.search(rest[0][0], unread):
                os.write(main, rest.pop(0)[1].encode())
                unread = ""
        assert rest == [], shown
        assert termios.tcgetattr(terminal) == before
        return process.returncode, shown
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(main)
