"""Command lines of tools whose commands stand in groups, such as ``gh issue close 12``."""

from collections.abc import Collection, Mapping, Sequence

from grove_tickets.arguments import Arguments, parse


def take_apart(
    words: Sequence[str],
    groups: Collection[str],
    overall: Collection[str],
    valued: Mapping[str, Collection[str]],
) -> tuple[str, Arguments]:
    """Split a command line into the command's name and its arguments."""
    names: list[str] = []
    options: tuple[tuple[str, str], ...] = ()
    rest = words
    while rest and (not names or names[-1] in groups):
        level = parse(rest, overall, interspersed=False)
        options += level.options
        names += level.positionals[:1]
        rest = level.positionals[1:]
    name = " ".join(names)
    own = parse(rest, {*overall, *valued.get(name, ())})
    return name, Arguments(options + own.options, own.positionals)
