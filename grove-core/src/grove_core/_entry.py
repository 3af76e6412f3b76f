"""The console script, which looks at its first argument before it imports anything.

A hook runs on every tool call and mostly has nothing to do, so it must not pay for the command
line.
"""

import sys


def main() -> int:
    """Run ``grove``.

    Returns:
        The exit code.
    """
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if first == "hook":
        from grove_core.hooks.fast import run

        return run(sys.argv[2:])
    if first == "--version":
        from grove_core import __version__

        sys.stdout.write(f"grove {__version__}\n")
        return 0
    from grove_core.cli.main import run_command_line

    return run_command_line()


if __name__ == "__main__":
    raise SystemExit(main())
