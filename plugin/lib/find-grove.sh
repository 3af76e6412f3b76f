# Sourced by the programs in bin/. Sets `found` to the grove program, empty when there is none. It
# runs before every tool call, so it starts no process of its own.
#
# Looked for in this order:
#   1. $GROVE_PROGRAM
#   2. the path that `grove init` recorded in ${GROVE_HOME:-~/.grove}/program
#   3. the folders of PATH
#   4. ~/.local/bin, where pip and uv put programs
# What this finds by itself counts only as a script that an installer wrote for grove. Other programs
# of the name `grove` exist, and one that does not know `hook` may end with the exit code 2, which
# the client takes for "block this". $GROVE_PROGRAM is taken at its word. Only absolute paths count:
# with a relative one a cloned repository could bring the program that is run.

# usable FILE: is FILE a program that can start? A script cannot when it is not readable or when its
# interpreter is gone. The script that asks is never meant. Sets `line` to the file's first line.
usable() {
    case $1 in
    /*) [ -f "$1" ] && [ -r "$1" ] && [ -x "$1" ] && ! [ "$1" -ef "$0" ] || return 1 ;;
    *) return 1 ;;
    esac
    line=
    { IFS= read -r line <"$1"; } 2>/dev/null
    case $line in
    '#!'*)
        interpreter=${line#'#!'}
        interpreter=${interpreter# }
        [ -x "${interpreter%% *}" ]
        ;;
    esac
}

# ours FILE: is FILE a usable script of grove? uv, pip and pipx write the import of grove_core near
# its beginning: in line 3 or 4, or in line 6 or 7 when the interpreter's path holds a space.
ours() {
    usable "$1" || return 1
    case $line in
    '#!'*) ;;
    *) return 1 ;;
    esac
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        IFS= read -r line || return 1
        case $line in
        *grove_core*) return 0 ;;
        esac
    done <"$1"
    return 1
}

find_grove() {
    found=${GROVE_PROGRAM-}
    usable "$found" && return
    found=
    { IFS= read -r found <"${GROVE_HOME:-${HOME-}/.grove}/program"; } 2>/dev/null
    ours "$found" && return
    set -f
    IFS=:
    for folder in ${PATH-} "${HOME-}/.local/bin"; do
        found=$folder/grove
        ours "$found" && return
    done
    found=
}

how_to_install="To install it: uv tool install 'grove-core[markdown,tickets,hosts]' (or pipx install, or pip install, the same), then run: grove init"

find_grove
