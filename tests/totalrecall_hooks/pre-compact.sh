#!/bin/sh
# A stand-in for Total Recall's hook of the same name, written from its described behaviour: it
# leaves a mark in today's log, with one write for each line and no lock, and prints nothing.
root=${CLAUDE_PROJECT_DIR:-$(git rev-parse --show-toplevel 2>/dev/null || pwd)}
daily=$root/memory/daily
[ -d "$daily" ] || exit 0

log=$daily/$(date +%F).md
if [ ! -f "$log" ]; then
    {
        date '+# %F'
        for section in Decisions Corrections Commitments "Open Loops" Notes; do
            printf '\n## %s\n' "$section"
        done
    } >"$log"
fi

now=$(date +%H:%M)
echo "" >>"$log"
echo "## [pre-compact $now]" >>"$log"
echo "" >>"$log"
echo "- Compaction occurred at $now. ${RECALL_REMARK:-What came before is summarised.}" >>"$log"
echo "" >>"$log"
