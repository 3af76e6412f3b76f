#!/bin/sh
# Installs the programs that this plugin calls: grove-core, the markdown backend and the ticket
# systems, with the first of uv, pipx and pip that is there.
set -eu

usage() {
    cat <<'END'
Usage: install.sh [--dry-run] [--from DIR]

Installs grove for the current user with uv, else pipx, else pip.

  --dry-run   say what would be run, and run nothing
  --from DIR  take every package, dependencies too, from the wheels in DIR; use no index
              (pipx wants a wheel of pip there, too)
  --help      show this
END
}

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    exit "${2:-1}"
}

# A word as one would type it: between single quotes when it is not plain.
quoted() {
    case $1 in
    *[!A-Za-z0-9_./=:@%+,-]* | '') printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf %s "$1" ;;
    esac
}

run() {
    printf '+'
    for word in "$@"; do
        printf ' %s' "$(quoted "$word")"
    done
    printf '\n'
    if [ "$dry_run" = no ]; then
        "$@" || fail "this failed: $1 (its message is above)"
    fi
}

has() { command -v "$1" >/dev/null 2>&1; }

dry_run=no
wheels=
while [ $# -gt 0 ]; do
    case $1 in
    --dry-run) dry_run=yes ;;
    --from)
        [ $# -ge 2 ] || fail '--from needs a folder' 2
        [ -d "$2" ] || fail "no such folder: $2"
        wheels=$(cd "$2" && pwd)
        shift
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        usage >&2
        fail "unknown argument: $1" 2
        ;;
    esac
    shift
done

grove='grove-core[markdown,tickets,hosts]'

# The installer's own arguments from here on: nothing, or "these wheels only".
set --
if [ -n "$wheels" ]; then
    set -- --no-index --find-links "$wheels"
fi

if has uv; then
    echo 'Installing grove with uv, into an environment of its own:'
    run uv tool install "$grove" "$@"
elif has pipx; then
    echo 'Installing grove with pipx, into an environment of its own:'
    if [ -n "$wheels" ]; then
        set -- --pip-args "--no-index --find-links $(quoted "$wheels")"
    fi
    run pipx install "$grove" "$@"
elif has python3; then
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail 'grove needs Python 3.11 or newer; python3 is older'
    echo 'Installing grove with pip, among the packages of this user:'
    echo '(a system that manages its Python refuses that: get uv or pipx then)'
    run python3 -m pip install --user "$@" "$grove"
else
    fail 'found neither uv, pipx nor python3; install one of them first'
fi

if [ "$dry_run" = yes ]; then
    echo 'Dry run: nothing was installed.'
else
    echo 'Done. Next, in your project: grove init'
fi
