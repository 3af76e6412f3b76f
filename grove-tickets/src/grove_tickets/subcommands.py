"""Command lines of tools whose commands stand in groups, such as ``gh issue close 12``."""

from collections.abc import Collection, Mapping, Sequence

from grove_tickets.arguments import Arguments, parse


def take_apart(
    words: Sequence[str],
    groups: Collection[str],
    overall: Collection[str],
    valued: Mapping[str, Collection[str]],
) -> tuple[str, Arguments]:
    """Split a command line into the command's name and its arguments.

    Args:
        words: The arguments, without the program.
        groups: Names that another name follows.
        overall: The flags with a value that may stand anywhere.
        valued: The further flags with a value, by the command's name.

    Returns:
        The name, a blank between its parts, and the arguments with the flags before it.
    """
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
