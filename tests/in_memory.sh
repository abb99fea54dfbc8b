#!/bin/sh
# Run a command whose temporary folders are in memory, if there is a file system for it with enough
# room that lets programs run. Otherwise, and with TMPDIR set, the command runs as usual.
#
# Tests make and remove a home each, and git and the database write to the disk what nobody reads
# again: with homes in memory tests of git take a sixth less processor time.

memory=/dev/shm
# In kilobytes, many times what the homes of all workers have at a time.
room=4000000

has_room() {
    [ "$(df -Pk "$memory" 2>/dev/null | awk 'NR == 2 { print $4 }')" -ge "$room" ] 2>/dev/null &&
        [ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo 2>/dev/null)" -ge "$room" ] 2>/dev/null
}

# Short, because sockets are below it.
[ -z "${TMPDIR-}" ] && has_room && folder=$(mktemp -d "$memory/tXXXX" 2>/dev/null) || exec "$@"
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

printf '#!/bin/sh\n' >"$folder/probe" && chmod +x "$folder/probe"
if "$folder/probe" 2>/dev/null; then
    TMPDIR=$folder
    export TMPDIR
fi
"$@"
