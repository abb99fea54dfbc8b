#!/bin/sh
# Gemini runs this script for the hooks of cockpit's extension:
#
#   report.sh EVENT
#
# The script passes the report to the reporter of the cockpit that started this agent. It does
# nothing in other sessions, including those that an agent starts itself (GEMINI_CLI is set there).
#
# A subagent's hooks look like the main agent's. So there is a file for each running subagent, and
# meanwhile the reports of tools get another event name, which never gets a response.

state=${COCKPIT_STATE-}
agent=${COCKPIT_AGENT-}
event=${1-}
if [ "${COCKPIT_RUNTIME-}" != gemini ] || [ -n "${GEMINI_CLI-}" ] || [ -z "$agent" ] ||
    [ ! -x "$state/reporter.sh" ]; then
    exec cat >/dev/null 2>&1
fi
umask 077
PATH=${PATH:+$PATH:}/usr/bin:/bin
folder=$state/verdicts/$agent
marks=$folder/.subagent

close_one() {
    for mark in "$marks".*; do
        if mv "$mark" "$marks-over.$$" 2>/dev/null; then
            rm -f "$marks-over.$$"
            return
        fi
    done
}

is_open() {
    for mark in "$marks".*; do
        [ ! -e "$mark" ] || return 0
    done
    return 1
}

case $event in
SessionStart | BeforeAgent | AfterAgent) rm -f "$marks".* 2>/dev/null ;;
SubagentBegan) { mkdir -p "$folder" && : >"$marks.$$"; } 2>/dev/null ;;
SubagentOver)
    close_one
    is_open || event=AfterTool
    ;;
AfterTool) ! is_open || event=ToolOfSubagent ;;
esac
exec "$state/reporter.sh" "$state" "$agent" "$event"
