# Sourced by the programs in bin/. Sets `found` to the grove program, empty when there is none. It
# runs before every tool call, so it starts no process of its own.
#
# Looked for in this order:
#   1. $GROVE_PROGRAM
#   2. the path that `grove init` recorded in ${GROVE_HOME:-~/.grove}/program
#   3. the folders of PATH
#   4. ~/.local/bin, where pip and uv put programs
# The recorded program goes before PATH because another program of the name `grove` exists, which
# would answer a hook in its own way. For the same reason PATH and ~/.local/bin count only where
# they hold a script, as every Python installer writes one. Only absolute paths count: with a
# relative one a cloned repository could bring the program that is run.

# usable FILE [any]: is FILE a program that can start? A script whose interpreter is gone cannot.
# What is not a script is usable only with `any`. The script that asks is never meant.
usable() {
    case $1 in
    /*) [ -f "$1" ] && [ -x "$1" ] && ! [ "$1" -ef "$0" ] || return 1 ;;
    *) return 1 ;;
    esac
    line=
    { IFS= read -r line <"$1"; } 2>/dev/null
    case $line in
    '#!'*)
        line=${line#'#!'}
        line=${line# }
        [ -x "${line%% *}" ]
        ;;
    *) [ "${2-}" = any ] ;;
    esac
}

find_grove() {
    found=${GROVE_PROGRAM-}
    usable "$found" any && return
    found=
    { IFS= read -r found <"${GROVE_HOME:-${HOME-}/.grove}/program"; } 2>/dev/null
    usable "$found" any && return
    set -f
    IFS=:
    for folder in ${PATH-} "${HOME-}/.local/bin"; do
        found=$folder/grove
        usable "$found" && return
    done
    found=
}

how_to_install='To install it: uv tool install grove-core --with grove-backend-markdown --with grove-tickets (or: pip install grove-core grove-backend-markdown grove-tickets), then run: grove init'

find_grove
