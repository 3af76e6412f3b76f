"""The console script, which looks at its first argument before it imports anything."""

import sys

_OPTIONS_WITH_A_VALUE = ("-C", "--project")


def main() -> int:
    """Run ``grove``."""
    arguments = sys.argv[1:]
    hook = _arguments_of_hook(arguments)
    if hook is not None:
        from grove_core.hooks.fast import run

        return run(hook)
    if not arguments:
        from grove_core.hooks.fast import ignore_payload

        if ignore_payload():
            return 0
    first = arguments[0] if arguments else ""
    if first == "--version":
        from grove_core import __version__
        from grove_core.hooks.fast import say

        return say(f"grove {__version__}\n")
    if arguments == ["serve"]:
        from grove_core.serve.server import run as serve

        return serve()
    if arguments == ["statusline"]:
        from grove_core.hooks.statusline import run as print_status_line

        return print_status_line()
    import atexit
    import gc

    from grove_core.cli.main import run_command_line

    # As hooks are, commands are spared the search for garbage when they end.
    atexit.register(gc.freeze)
    return run_command_line()


def _arguments_of_hook(arguments: list[str]) -> list[str] | None:
    """Find what follows ``hook``; the options before it are none of its business."""
    is_value = False
    for place, word in enumerate(arguments):
        if is_value:
            is_value = False
        elif word in _OPTIONS_WITH_A_VALUE:
            is_value = True
        elif not word.startswith("-"):
            return arguments[place + 1 :] if word == "hook" else None
    return None


if __name__ == "__main__":
    raise SystemExit(main())
