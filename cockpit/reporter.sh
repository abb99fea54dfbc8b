#!/bin/sh
# What an agent's CLI calls at its hooks and for its status line:
#
#   reporter.sh STATE AGENT EVENT [PILOT_COMMAND]
#
# It keeps standard input in STATE/spool/AGENT for the supervisor, prints the answer that
# lies ready for the event, and ends with 0. It works while no supervisor runs, and does nothing once the state folder is gone. Everything it needs is in its
# arguments: an agent may change its environment as it likes.
#
# An answer is STATE/verdicts/AGENT/EVENT, or STATE/verdicts/AGENT/GROUP/EVENT for something
# that is to be said at the first of several events and at no other; the groups are `ask` and
# `facts`. It is printed once, and one event gets one answer: the others wait for the next.
#
# StatusLine is different: only the latest report is kept, and what is printed is the line of
# PILOT_COMMAND, the pilot's own, called with the same input.
#
# PreToolUse and PermissionRequest are asked before the agent writes: STATE/verdicts/AGENT/permit
# names one file, which the agent was asked to write, and that file alone is allowed. It stays
# until the supervisor takes it away: a document may take a Write and some Edits.
#
# PreCompact waits, for eight seconds at most, while STATE/verdicts/AGENT/seal stays as it is and
# the supervisor that it names lives: facts of the session are put on the disk meanwhile. Nothing
# is refused: a CLI whose request no longer fits the window could not go on.
#
# Of what the report says it looks at two things only: whether it comes from a subagent, and
# before a tool which file the tool writes.

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

# Whether the report $1 is about writing the one file that is allowed. The tool's name and its
# input follow each other in the CLI's own words, before anything the agent wrote; within a
# string of JSON their quotes would be escaped. A folder that is a link leads elsewhere, and a file
# with more than one name is another file too.
permitted() {
    permit=$verdicts/permit
    [ -f "$permit" ] || return 1
    { IFS= read -r place && IFS= read -r quoted; } <"$permit" || return 1
    case $place in /*/*) ;; *) return 1 ;; esac
    [ ! -L "$place" ] || return 1
    [ ! -e "$place" ] || [ -n "$(find "$place" -type f -links 1 2>/dev/null)" ] || return 1
    [ "$(cd -P "${place%/*}" 2>/dev/null && pwd -P)" = "${place%/*}" ] || return 1
    tool=${1#*\"tool_name\":\"}
    case $tool in
    "Write\",\"tool_input\":{\"file_path\":\"$quoted\""[,}]*) return 0 ;;
    "Edit\",\"tool_input\":{\"file_path\":\"$quoted\""[,}]*) return 0 ;;
    esac
    return 1
}

allow_tool() {
    if permitted "$(head -c 32768 2>/dev/null)"; then
        printf '%s%s\n' '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":' \
            '"allow","permissionDecisionReason":"cockpit asked for this document"}}' || :
    fi
    drain
}

[ "$event" != StatusLine ] || status_line
[ "$event" != PreToolUse ] || allow_tool
[ -d "$spool" ] || drain
set -- "$spool"/*.json
[ $# -lt "$room" ] || drain

report=$spool/.$event.$$
if ! save "$report"; then
    rm -f "$report" 2>/dev/null || :
    drain
fi

# No dialog stands where this answers it, so there is nothing to report.
if [ "$event" = PermissionRequest ] && permitted "$(head -c 32768 "$report" 2>/dev/null)"; then
    rm -f "$report" 2>/dev/null || :
    printf '%s%s\n' '{"hookSpecificOutput":{"hookEventName":"PermissionRequest",' \
        '"decision":{"behavior":"allow"}}}' || :
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

seal=
if [ "$event" = PreCompact ] && [ -f "$verdicts/seal" ] && ! from_subagent "$report"; then
    seal=$(cat "$verdicts/seal" 2>/dev/null) || :
fi

name=$spool/$$-$event${answer:+.verdict}
while [ -e "$name.json" ]; do name=$name+; done
mv -f "$report" "$name.json" 2>/dev/null || :

tries=0
while [ -n "$seal" ] && [ "$tries" -lt 80 ] && kill -0 "${seal%% *}" 2>/dev/null; do
    [ "$(cat "$verdicts/seal" 2>/dev/null)" = "$seal" ] || break
    sleep 0.1 2>/dev/null || sleep 1
    tries=$((tries + 1))
done

if [ -n "$answer" ]; then
    cat "$answer" 2>/dev/null || :
    rm -rf "$taken" 2>/dev/null || :
fi
drain
