#!/bin/sh
# Gemini runs this script for the hooks of cockpit's extension:
#
#   report.sh EVENT
#
# The script passes the report to the reporter of the cockpit that started this agent. In a session
# that the user started, it notes which session the process has open, in the file live/PID beside
# this script, and offers a waiting handoff document (offer.sh) when the session begins on a screen.
# It does nothing in sessions that an agent starts (GEMINI_CLI is set there).
#
# A subagent's hooks look like the main agent's. So there is a file for each running subagent, and
# meanwhile the reports of tools get another event name, which never gets a response.

state=${COCKPIT_STATE-}
agent=${COCKPIT_AGENT-}
event=${1-}

# The lines of a note: session, event, start time of the process in clock ticks, directory.
note() {
    umask 077
    live=${0%/*}/live
    pid=$PPID
    for _ in 1 2; do
        name='' parent='' started=''
        if read -r stat <"/proc/$pid/stat"; then
            name=${stat#*\(} name=${name%%)*}
            # shellcheck disable=SC2086
            set -- ${stat##*) }
            parent=${2-} started=${20-}
        else
            name=$(ps -o comm= -p "$pid") parent=$(ps -o ppid= -p "$pid")
        fi
        # Gemini runs its hooks in a shell.
        case ${name##*/} in
        sh | bash | dash | zsh | ksh) pid=$((parent)) ;;
        *) break ;;
        esac
    done
    if [ "$event" = SessionEnd ]; then
        rm -f "$live/$pid"
        return
    fi
    mkdir -p "$live"
    for old in "$live"/[0-9]*; do
        kill -0 "${old##*/}" || rm -f "$old"
    done
    printf '%s\n' "$GEMINI_SESSION_ID" "$event" "$started" "${GEMINI_CWD:-$PWD}" >"$live/.$pid.$$" &&
        mv -f "$live/.$pid.$$" "$live/$pid"
}

on_screen() {
    words=$(tr '\0' '\n' <"/proc/$pid/cmdline" || ps -o args= -p "$pid" | tr ' ' '\n')
    ! printf '%s\n' "$words" | grep -qxE -e '(-p|--prompt|--acp|--experimental-acp)(=.*)?'
}

if [ -z "${COCKPIT_RUNTIME-}${COCKPIT_RUN-}${COCKPIT_AGENT-}${GEMINI_CLI-}" ] &&
    [ -n "${GEMINI_SESSION_ID-}" ]; then
    PATH=${PATH:+$PATH:}/usr/bin:/bin
    pid=
    case $event in
    SessionStart | BeforeAgent | AfterAgent | SessionEnd) note >/dev/null 2>&1 ;;
    esac
    offer=${0%/*}/offer.sh
    if [ "$event" = SessionStart ] && [ -x "$offer" ] && on_screen 2>/dev/null; then
        case $(head -c 8192) in *'"source":"startup"'*) exec "$offer" ;; esac
    fi
    exec cat >/dev/null 2>&1
fi
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
