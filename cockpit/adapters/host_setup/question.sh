# Ask the cockpit of this machine one question, for `cockpit start --host any`. The caller
# prepends a line that sets `marker`. The question is one line on standard input; the answer is one
# line of output.
#
# The whole script is one function, so that an incomplete script runs nothing.

question() {
    printf '%s ready \n' "$marker"
    read -r _
    if ! command -v cockpit >/dev/null 2>&1; then
        printf '%s missing \n' "$marker"
        printf '%s end \n' "$marker"
        exit 0
    fi
    printf '%s send \n' "$marker"
    cockpit move-step 2>/dev/null | grep '^cockpit-move 1 ' | head -n 1 |
        sed "s/^cockpit-move 1 /$marker answer /"
    printf '%s end \n' "$marker"
}

question
