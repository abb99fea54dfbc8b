#!/bin/sh
# What an agent's CLI calls at its hooks and for its status line:
#
#   reporter.sh STATE AGENT EVENT [PILOT_COMMAND]
#
# It keeps standard input in STATE/spool/AGENT for the supervisor, prints the answer that
# lies ready for the event, and ends with 0. It waits for nobody, works while no supervisor
# runs, and does nothing once the state folder is gone. Everything it needs is in its
# arguments: an agent may change its environment as it likes.
#
# An answer is STATE/verdicts/AGENT/EVENT, or STATE/verdicts/AGENT/GROUP/EVENT for something
# that is to be said at the first of several events and at no other; the groups are `ask` and
# `facts`. It is printed once, and one event gets one answer: the others wait for the next.
#
# StatusLine is different: only the latest report is kept, and what is printed is the line of
# PILOT_COMMAND, the pilot's own, called with the same input.
#
# Of what the report says it looks at one thing only: whether it comes from a subagent.

[ $# -ge 3 ] || exit 0
spool=$1/spool/$2
verdicts=$1/verdicts/$2
event=$3
pilot=${4-}
umask 077
PATH=${PATH:+$PATH:}/usr/bin:/bin

# The beginning of a report is enough for the supervisor; a tool's answer can be megabytes.
keep=131072
# Reports that may lie waiting for a supervisor that is not there. Tool calls leave room for
# the events that end a turn or a session.
room=256
case $event in PostToolUse*) room=192 ;; esac

# The rest of a long report is still read, so that the CLI never writes to a closed pipe.
drain() {
    exec cat >/dev/null 2>&1
}

save() {
    { head -c "$keep" >"$1"; } 2>/dev/null
}

status_line() {
    if [ -d "$spool" ]; then
        if save "$spool/.status.$$"; then
            mv -f "$spool/.status.$$" "$spool/status" 2>/dev/null || :
        fi
        [ ! -r "$spool/status" ] || exec <"$spool/status"
    fi
    [ -z "$pilot" ] || exec /bin/sh -c "$pilot"
    printf '⬢ cockpit · F12\n' || :
    exit 0
}

# Only what stands before the event's name is looked at: the CLI's own fields. What follows
# holds the agent's text, and could say anything.
from_subagent() {
    beginning=$(head -c 32768 "$1" 2>/dev/null) || :
    case ${beginning%%\"hook_event_name\"*} in *'"agent_id":'*) return 0 ;; esac
    return 1
}

[ "$event" != StatusLine ] || status_line
[ -d "$spool" ] || drain
set -- "$spool"/*.json
[ $# -lt "$room" ] || drain

report=$spool/.$event.$$
if ! save "$report"; then
    rm -f "$report" 2>/dev/null || :
    drain
fi

# Of all reporters that see an answer, the one whose rename succeeds prints it. The folder of
# an answer for several events goes as a whole, so that none of the others is left to print.
answer=
taken=$spool/.answer.$$
if [ -f "$verdicts/ask/$event" ] && ! from_subagent "$report"; then
    mv "$verdicts/ask" "$taken" 2>/dev/null && answer=$taken/$event || :
elif [ -f "$verdicts/$event" ] && ! from_subagent "$report"; then
    mv "$verdicts/$event" "$taken" 2>/dev/null && answer=$taken || :
elif [ -f "$verdicts/facts/$event" ] && ! from_subagent "$report"; then
    mv "$verdicts/facts" "$taken" 2>/dev/null && answer=$taken/$event || :
fi

name=$spool/$$-$event${answer:+.verdict}
while [ -e "$name.json" ]; do name=$name+; done
mv -f "$report" "$name.json" 2>/dev/null || :

if [ -n "$answer" ]; then
    cat "$answer" 2>/dev/null || :
    rm -rf "$taken" 2>/dev/null || :
fi
drain
