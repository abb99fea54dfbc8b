# Ask the cockpit of this machine one question, for `cockpit start --host any`. A line before it sets
# `marker`. The question is one line on standard input; the answer is one line of its output.
#
# The whole text is one function, so that a text that arrives in part runs nothing.

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
