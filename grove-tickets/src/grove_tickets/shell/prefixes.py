"""The table of programs that are put before a command."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from grove_tickets.arguments import parse


@frozen(kw_only=True)
class Prefix:
    """Where the arguments of a program end and the command begins that it runs."""

    valued: str = ""
    skipped: int = 0
    behind: str = ""
    scripts: str = ""
    joins: bool = False
    is_package: bool = False
    cleans: bool = False


def find_prefix(name: str, words: tuple[str, ...]) -> tuple[Prefix, tuple[str, ...]] | None:
    """Look a program up in the table."""
    valued = _GLOBAL_FLAGS.get(name)
    if valued is not None:
        positionals = parse(words, valued.split(), interspersed=False).positionals
        for count in (2, 1):
            prefix = _PREFIXES.get(" ".join((name, *positionals[:count])))
            if prefix is not None and len(positionals) >= count:
                return prefix, positionals[count:]
    prefix = _PREFIXES.get(name)
    return None if prefix is None else (prefix, words)


_PLAIN: Final = Prefix()
_NPX: Final = Prefix(
    valued="-p --package -c --call -w --workspace", scripts="-c --call", is_package=True
)
_UVX: Final = Prefix(
    valued="--from --with --python -p --index --directory --project --env-file", is_package=True
)
_BEHIND_DASHES: Final = Prefix(behind="--")
_NIX: Final = Prefix(behind="-c --command")

_GLOBAL_FLAGS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun"), "-C --dir --prefix --cwd -w --workspace --filter"
    ),
    "uv": "--directory --project --config-file --cache-dir",
    "hatch": "-e --env -p --project",
    "poetry": "-C --directory -P --project",
    **dict.fromkeys(("pdm", "pipenv", "rye", "pipx", "bundle", "asdf", "direnv", "devbox"), ""),
    **dict.fromkeys(("mise", "nix", "conda", "doppler", "op", "dotenvx", "rtk"), "-C --cd"),
}
"""Programs whose command follows a subcommand, with the valued flags before that."""

_PREFIXES: Final[Mapping[str, Prefix]] = {
    "sudo": Prefix(
        valued="-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --role"
        " --type",
        cleans=True,
    ),
    "doas": Prefix(valued="-u -C", cleans=True),
    "nohup": _PLAIN,
    "setsid": _PLAIN,
    "unbuffer": _PLAIN,
    "chronic": _PLAIN,
    "busybox": _PLAIN,
    "time": Prefix(valued="-f -o --format --output"),
    **dict.fromkeys(
        ("timeout", "gtimeout"), Prefix(valued="-s -k --signal --kill-after", skipped=1)
    ),
    "nice": Prefix(valued="-n --adjustment"),
    "ionice": Prefix(valued="-c -n -p --class --classdata"),
    "chrt": Prefix(valued="-T -P -D -p", skipped=1),
    "taskset": Prefix(valued="-p", skipped=1),
    "stdbuf": Prefix(valued="-i -o -e --input --output --error"),
    "caffeinate": Prefix(valued="-t -w"),
    "strace": Prefix(valued="-o -e -p -s -u -P -a -E -I -b -S -O -X"),
    "watch": Prefix(valued="-n --interval", joins=True),
    "flock": Prefix(valued="-w -E --timeout", skipped=1, scripts="-c --command"),
    "script": Prefix(valued="-c --command -E -I -O -B -T -m -o", skipped=1, scripts="-c --command"),
    "nix-shell": Prefix(
        valued="-p --packages -A -I --run --command", scripts="--run --command", behind="\0"
    ),
    "nix develop": _NIX,
    "nix shell": _NIX,
    **dict.fromkeys(("npx", "bunx", "pnpx", "npm exec", "npm x", "bun x"), _NPX),
    **dict.fromkeys(("pnpm dlx", "yarn dlx"), _NPX),
    **dict.fromkeys(("pnpm", "pnpm exec", "yarn", "yarn exec", "yarn run", "bun run"), _PLAIN),
    **dict.fromkeys(("uvx", "uv tool run", "pipx run"), _UVX),
    "uv run": Prefix(
        valued="--with --with-editable --with-requirements --python -p --project --directory"
        " --package --extra --group --only-group --env-file --index -m --module"
    ),
    **dict.fromkeys(
        ("poetry run", "pdm run", "pipenv run", "hatch run", "rye run", "bundle exec"), _PLAIN
    ),
    "conda run": Prefix(valued="-n --name -p --prefix --cwd"),
    "asdf exec": _PLAIN,
    "direnv exec": Prefix(skipped=1),
    "devbox run": _PLAIN,
    **dict.fromkeys(
        ("mise exec", "mise x"),
        Prefix(valued="-c --command -j -C --cd", scripts="-c --command", behind="--"),
    ),
    **dict.fromkeys(("doppler run", "op run", "dotenvx run", "dotenv"), _BEHIND_DASHES),
    **dict.fromkeys(("rtk", "rtk proxy", "rtk err", "rtk test", "rtk summary"), _PLAIN),
}
