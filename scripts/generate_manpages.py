"""Write the manual pages from the commands themselves, one for ``grove`` and one a command.

``--check`` writes nothing and fails when a page differs from the code. The pages carry no date, so
that they change only when a command does. They lie in ``grove-core/share/man/man1``, and the wheel
brings them to where ``man`` looks.

Why not with click-man (0.6): it lists no command that is imported only when it is called, leaves
full stops and apostrophes at the beginning of a line to roff, which takes them for requests, and
knows neither exit codes nor files.
"""

import argparse
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import rich_click as click  # noqa: TID253 - no hook runs this

from grove_core import __version__
from grove_core.cli.main import COMMANDS, command_named, grove
from grove_core.hooks import fast

FOLDER: Final = Path(__file__).resolve().parent.parent / "grove-core" / "share" / "man" / "man1"
_CODE: Final = re.compile(r"\\\(ga(.+?)\\\(ga")
_COMMON: Final = frozenset({"as_json", "quiet", "project", "help"})
"""Options that every command has."""
_ESCAPES: Final = str.maketrans(
    {"\\": r"\e", "-": r"\-", "^": r"\(ha", "~": r"\(ti", "`": r"\(ga", "'": r"\(aq", '"': r"\(dq"}
)
_EXIT_CODES: Final = {
    "0": "It was done.",
    "1": "It could not be done; the reason is on standard error.",
    "2": "The command line itself is wrong.",
}
_CODES_OF_HOOK: Final = {
    "0": "Go on.",
    "2": "The agent is stopped; the reason is on standard error.",
    "3": "grove failed, and work goes on.",
}
_VARIABLES: Final = {
    "GROVE_HOME": "grove's own directory of the user, an absolute path. Default: ~/.grove.",
    "GROVE_PLUGINS": "Names of the only plugins that may be loaded, separated by commas.",
    "GROVE_SESSION_ID": "The session that reflect, skip, observe and ref belong to.",
    "NO_COLOR": "Anything but nothing: no colours on a terminal, either.",
}
_FILES: Final = {
    ".grove/config.toml": "Settings of the project; every key stands there with a comment.",
    ".grove/learnings.md": "The project's learnings, where the markdown backend keeps them.",
    ".grove/stats/": "What happened to learnings and gates, as far as the team is told.",
    "~/.grove": "Your own settings and learnings, the state of sessions, logs of faults.",
}


def main() -> int:
    """Write the pages, or compare them.

    Returns:
        The exit code: 0 when the pages are as they should be.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    wanted = {f"{name}.1": text for name, text in pages().items()}
    FOLDER.mkdir(parents=True, exist_ok=True)
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    stale = sorted({name for name, _ in wanted.items() ^ there.items()})
    if check:
        if stale:
            print(f"stale: {', '.join(stale)}; run scripts/generate_manpages.py", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        print(f"{'wrote' if name in wanted else 'removed'} {name}")
        if name in wanted:
            (FOLDER / name).write_text(wanted[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    return 0


def pages() -> dict[str, str]:
    """Make every page.

    Returns:
        Their texts by name: that of the command, with hyphens.
    """
    found = {"grove": _joined(_main_page())}
    for name, line in COMMANDS.items():
        found[f"grove-{name}"] = _joined(_page(name, line))
    return found


def _joined(lines: Iterator[str]) -> str:
    return "\n".join(lines) + "\n"


def _main_page() -> Iterator[str]:
    line, _, rest = inspect.cleandoc(grove.help or "").partition("\n\n")
    yield from _head("grove", line)
    yield from (".B grove", r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", *_paragraphs(rest))
    context = _context(grove, "grove")
    yield from (".SH OPTIONS", *_options(grove, context))
    yield from (".SH COMMANDS", *_listed({f"grove-{name}(1)": COMMANDS[name] for name in COMMANDS}))
    yield from (".SH EXIT STATUS", *_listed(_EXIT_CODES))
    yield from (".PP", _marked("`grove hook` has codes of its own: grove-hook(1)."))
    yield from (".SH ENVIRONMENT", *_listed(_VARIABLES))
    yield from (".SH FILES", *_listed(_FILES))


def _page(name: str, line: str) -> Iterator[str]:
    command = command_named(name)
    context = _context(command, f"grove {name}")
    context.params["plugins"] = False  # the page is about grove's own commands
    yield from _head(f"grove-{name}", line)
    if name == "hook":
        _, _, words = fast.HELP.partition("\n\n")
        about, _, _ = words.partition("\n\nExit codes:")
        yield from (*_usage("grove hook", "EVENT"), ".SH DESCRIPTION", *_paragraphs(about))
        yield from (".SH EXIT STATUS", *_listed(_CODES_OF_HOOK))
    else:
        yield from _usage(f"grove {name}", *command.collect_usage_pieces(context))
        yield from (".SH DESCRIPTION", *_paragraphs(command.help or ""))
        yield from (".SH OPTIONS", *_options(command, context))
        if isinstance(command, click.Group):
            yield from (".SH COMMANDS", _line("Each takes these options as well:"))
            yield _marked("`--json`, `--quiet`, `--project` and `--help`.")
            yield from _commands(name, command, context)
        yield from (".SH EXIT STATUS", *_listed(_EXIT_CODES))
    yield from (".SH SEE ALSO", ".BR grove (1)")


def _commands(name: str, group: click.Group, context: click.Context) -> Iterator[str]:
    for one in group.list_commands(context):
        _, command, _ = group.resolve_command(context, [one])
        assert command is not None, one
        inner = _context(command, f"grove {name} {one}")
        pieces = " ".join(command.collect_usage_pieces(inner))
        yield f".SS {_roff(f'grove {name} {one} {pieces}')}"
        yield from _paragraphs(command.help or "")
        yield from _options(command, inner, without=_COMMON)


def _context(command: click.Command, name: str) -> click.Context:
    known = grove.context_settings["help_option_names"]
    return click.Context(command, info_name=name, help_option_names=known)


def _head(name: str, line: str) -> Iterator[str]:
    yield r".\" written by scripts/generate_manpages.py"
    yield f'.TH {_roff(name.upper())} 1 "" "grove {__version__}" "grove"'
    yield from (".SH NAME", rf"{_roff(name)} \- {_roff(line.removesuffix('.'))}", ".SH SYNOPSIS")


def _usage(name: str, *pieces: str) -> Iterator[str]:
    yield from (f".B {_roff(name)}", _roff(" ".join(pieces)))


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        if number:
            yield ".PP"
        if _is_json(paragraph):
            yield from (".EX", *(_line(one) for one in paragraph.split("\n")), ".EE")
        else:
            yield from (_marked(one) for one in paragraph.split("\n"))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _options(
    command: click.Command, context: click.Context, *, without: frozenset[str] = frozenset()
) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        is_told = isinstance(parameter, click.Option) and parameter.name not in without
        if record is not None and is_told:
            names, text = record
            yield from (".TP", f".B {_roff(names)}", _marked(text))


def _listed(items: Mapping[str, str]) -> Iterator[str]:
    for name, text in items.items():
        yield from (".TP", f".B {_roff(name)}", _marked(text))


def _marked(line: str) -> str:
    """Write a line of prose, with what stands in backquotes in bold."""
    return _CODE.sub(r"\\fB\1\\fR", _line(line))


def _line(text: str) -> str:
    """Write a line that roff takes for no request, whatever it begins with."""
    safe = _roff(text)
    return rf"\&{safe}" if safe.startswith(".") else safe


def _roff(text: str) -> str:
    return text.translate(_ESCAPES)


if __name__ == "__main__":
    sys.exit(main())
