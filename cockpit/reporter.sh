#!/bin/sh
# An agent's CLI runs this for its hooks and for its status line:
#
#   reporter.sh STATE AGENT EVENT [USER_COMMAND]
#
# The script stores standard input in STATE/spool/AGENT for the supervisor, prints the response that
# is ready for the event, and exits with 0. It works without a supervisor, and does nothing if the
# state folder does not exist. It uses its arguments only, because an agent can change its
# environment.
#
# A response is the file STATE/verdicts/AGENT/EVENT. A text that is printed only at the first of
# several events is STATE/verdicts/AGENT/GROUP/EVENT; the groups are `ask` and `facts`. Each
# response is printed once. An event gets one response; other responses wait for the next event.
#
# StatusLine: only the latest report is kept. The output is that of USER_COMMAND, the user's own
# status line command, which gets the same input; without a command, the output is cockpit's name.
#
# PreToolUse and PermissionRequest run before the agent writes. STATE/verdicts/AGENT/permit contains
# the path of one file that the agent was asked to write, and only that file is allowed. The
# supervisor removes the permit later, because a document may need a Write and several Edits.
#
# PreCompact waits for at most eight seconds while STATE/verdicts/AGENT/seal is unchanged and the
# supervisor with the pid in it is running, because facts of the session are saved meanwhile. It
# never blocks the compaction: without a compaction, the next request may not fit the window.
#
# The script reads only three things in a report: whether a subagent sent the report, which file a
# tool is about to write, and whether a permission request has Copilot's format.

[ $# -ge 3 ] || exit 0
spool=$1/spool/$2
verdicts=$1/verdicts/$2
event=$3
user_command=${4-}
umask 077
PATH=${PATH:+$PATH:}/usr/bin:/bin

# The beginning of a report is enough for the supervisor; a tool's answer can be megabytes.
keep=131072
# Maximum number of reports that wait for a supervisor. Tool calls leave room for the events that
# end a turn or a session.
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
    [ -z "$user_command" ] || exec /bin/sh -c "$user_command"
    printf '⬢ cockpit\n' || :
    exit 0
}

# Only the text before the event's name is searched. It has the CLI's own fields, which the agent's
# text, after the event's name, could imitate. Copilot writes the event's name first, and its own
# fields up to the tool's name.
from_subagent() {
    beginning=$(head -c 32768 "$1" 2>/dev/null) || :
    case $beginning in
    '{"hook_event_name":'*) beginning=${beginning%%\"tool_name\"*} ;;
    *) beginning=${beginning%%\"hook_event_name\"*} ;;
    esac
    case $beginning in *'"agent_id":'*) return 0 ;; esac
    return 1
}

# Check whether the report $1 is about writing the one file that is allowed. The CLI writes the
# tool's name and input next to each other, before any text of the agent. Quotes in the agent's text
# are escaped, so the text cannot imitate these fields. Links are refused: a file or a folder that is
# a link, and a file with more than one hard link.
permitted() {
    permit=$verdicts/permit
    [ -f "$permit" ] || return 1
    { IFS= read -r place && IFS= read -r quoted; } <"$permit" || return 1
    case $place in /*/*) ;; *) return 1 ;; esac
    [ ! -L "$place" ] || return 1
    [ ! -e "$place" ] || [ -n "$(find "$place" -type f -links 1 2>/dev/null)" ] || return 1
    [ "$(cd -P "${place%/*}" 2>/dev/null && pwd -P)" = "${place%/*}" ] || return 1
    tool=${1#*\"tool_name\":\"}
    [ "$tool" != "$1" ] || tool=${1#*\"toolName\":\"}
    case $tool in
    "Write\",\"tool_input\":{\"file_path\":\"$quoted\""[,}]*) return 0 ;;
    "Edit\",\"tool_input\":{\"file_path\":\"$quoted\""[,}]*) return 0 ;;
    "edit\",\"toolInput\":{\"file_path\":\"$quoted\""[,}]*) return 0 ;;
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

# A permission request that is answered here opens no dialog, so there is nothing to report.
if [ "$event" = PermissionRequest ] && permitted "$(head -c 32768 "$report" 2>/dev/null)"; then
    case $(head -c 400 "$report" 2>/dev/null) in
    *'"hookName":"permissionRequest"'*) printf '{"behavior":"allow"}\n' || : ;;
    *)
        printf '%s%s\n' '{"hookSpecificOutput":{"hookEventName":"PermissionRequest",' \
            '"decision":{"behavior":"allow"}}}' || :
        ;;
    esac
    rm -f "$report" 2>/dev/null || :
    drain
fi

# If several reporters find a response, the one whose rename succeeds prints it. For a response to
# the first of several events the whole folder is renamed, so that it is printed only once.
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

# In tenths of a second. Less than eight seconds, because each round also starts a process.
waited=0
while [ -n "$seal" ] && [ "$waited" -lt 70 ] && kill -0 "${seal%% *}" 2>/dev/null; do
    now=
    { IFS= read -r now || :; } 2>/dev/null <"$verdicts/seal" || :
    [ "$now" = "$seal" ] || break
    if sleep 0.1 2>/dev/null; then
        waited=$((waited + 1))
    else # POSIX has whole seconds only.
        sleep 1 2>/dev/null || :
        waited=$((waited + 10))
    fi
done

if [ -n "$answer" ]; then
    cat "$answer" 2>/dev/null || :
    rm -rf "$taken" 2>/dev/null || :
fi
drain
