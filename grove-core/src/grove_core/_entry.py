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
    arguments = sys.argv[1:]
    first = arguments[0] if arguments else ""
    # Options before it are none of the hooks': a usage error must not end with 2, which blocks.
    words = [word for word in arguments if not word.startswith("-")]
    if words[:1] == ["hook"]:
        from grove_core.hooks.fast import run

        return run(arguments[arguments.index("hook") + 1 :])
    if first == "--version":
        from grove_core import __version__

        sys.stdout.write(f"grove {__version__}\n")
        return 0
    from grove_core.cli.main import run_command_line

    return run_command_line()


if __name__ == "__main__":
    raise SystemExit(main())
