# Describe this machine for `cockpit hosts`. Changes nothing.
#
# Runs as `sh -s`, with this script on standard input. The caller prepends a line that sets
# `marker`, a random word.
# Each line of the description is MARKER KEY VALUE: everything else that the connection prints, such
# as a banner or the output of a shell's start-up file, is ignored.
#
# The whole script is one function, so that an incomplete script runs nothing.

describe() {
    say() { printf '%s %s %s\n' "$marker" "$1" "$2"; }

    # One line goes back and forth, to measure the round trip of the open connection.
    say ready ""
    read -r _
    say echo ""
    exec </dev/null
    umask 077

    say system "$(uname -s 2>/dev/null)"
    say uid "$(id -u 2>/dev/null)"
    say user "$(id -un 2>/dev/null)"
    say home "${HOME-}"
    say path "${PATH-}"
    say cockpit_home "${COCKPIT_HOME-}"
    say runtime_folder "${XDG_RUNTIME_DIR-}"
    say state_folder "${XDG_STATE_HOME-}"
    say cores "$(getconf _NPROCESSORS_ONLN 2>/dev/null)"
    if [ -r /proc/loadavg ]; then
        say load "$(cut -d ' ' -f 1 /proc/loadavg)"
    else
        say load "$(LC_ALL=C uptime 2>/dev/null | sed 's/.*averages*: *//; s/[, ].*//')"
    fi

    # Folders that often contain programs: without a login, PATH is short.
    more="${HOME-}/.local/bin:${HOME-}/bin:/usr/local/bin:/opt/homebrew/bin"
    more="$more:/home/linuxbrew/.linuxbrew/bin:/opt/local/bin:${HOME-}/.cargo/bin"

    # Sets `found` to the path of a program, and `where` to `path` (in PATH), `other` or nothing.
    find_program() {
        found=$(command -v "$1" 2>/dev/null)
        where=path
        case $found in /*) return ;; esac
        where=other
        old=$IFS
        IFS=:
        for folder in $more; do
            if [ -f "$folder/$1" ] && [ -x "$folder/$1" ]; then
                found=$folder/$1
                IFS=$old
                return
            fi
        done
        IFS=$old
        where=
        found=
    }

    # Prints where a program is, and the version that the program prints.
    program() {
        find_program "$1"
        [ -n "$where" ] || return 1
        say "$1_where" "$where"
        say "$1_path" "$found"
        say "$1_version" "$("$found" "$2" 2>/dev/null | head -n 1)"
    }

    for name in apt-get dnf yum zypper pacman apk brew; do
        find_program "$name"
        [ -n "$where" ] || continue
        say package_manager "$name"
        break
    done
    program tmux -V
    program git --version
    program uv --version

    # Find the first Python that is new enough, or else the first Python of any version.
    best=
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        find_program "$name"
        [ -n "$where" ] || continue
        version=$("$found" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null)
        [ -n "$version" ] || continue
        "$found" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && best=new
        [ -n "$best" ] || [ -z "$first" ] || continue
        first=$found
        first_version=$version
        first_where=$where
        [ -z "$best" ] || break
    done
    if [ -n "$first" ]; then
        say python_where "$first_where"
        say python_path "$first"
        say python_version "$first_version"
        "$first" -c 'import ensurepip, venv' 2>/dev/null && say python_venv yes
    fi

    if command -v loginctl >/dev/null 2>&1; then
        say linger "$(loginctl show-user "$(id -un)" -p Linger 2>/dev/null | sed 's/^Linger=//')"
    fi

    if program cockpit --version; then
        # Sent last, because the status is long and may be cut off.
        status=$("$found" status --json 2>/dev/null)
        say status_code $?
        printf '%s\n' "$status" | sed "s/^/$marker status /"
    fi
    say end ""
}

first=
describe
