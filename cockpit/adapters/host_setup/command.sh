# Run one command on this machine, for `cockpit hosts`. The caller prepends lines that set `marker`
# and the command, as the positional parameters. Both outputs of the command are sent line by line.

command_here() {
    printf '%s ready \n' "$marker"
    read -r _
    exec </dev/null
    output=$("$@" 2>&1)
    printf '%s code %s\n' "$marker" $?
    printf '%s\n' "$output" | sed "s/^/$marker output /"
    printf '%s end \n' "$marker"
}

command_here "$@"
