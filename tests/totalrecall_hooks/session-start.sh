#!/bin/sh
# A stand-in for Total Recall's hook of the same name, written from its described behaviour:
# what it prints becomes context of the session.
root=${CLAUDE_PROJECT_DIR:-$(git rev-parse --show-toplevel 2>/dev/null || pwd)}
memory=$root/memory
[ -d "$memory" ] || exit 0

loops=$memory/registers/open-loops.md
active=$(grep '^- \[ \]' "$loops" 2>/dev/null)
[ -z "$active" ] || printf 'Open loops:\n%s\n' "$active"

today=$memory/daily/$(date +%F).md
if [ -f "$today" ] && [ "$(wc -l <"$today")" -gt 5 ]; then
    echo "Today:"
    tail -n 20 "$today"
fi

yesterday=$memory/daily/$(date -d yesterday +%F).md
if [ -f "$yesterday" ]; then
    echo "Yesterday:"
    grep -A 2 -E '^## (Decisions|Corrections|Commitments|Open Loops)$' "$yesterday" | head -n 20
fi

working=$root/CLAUDE.local.md
if [ -f "$working" ] && [ "$(wc -w <"$working")" -gt 1200 ]; then
    echo "Working memory is nearly full."
fi
exit 0
