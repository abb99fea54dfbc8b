# Install cockpit on this machine for its user, from the wheel that comes on standard input.
#
# Runs as `sh -s`, like probe.sh. The caller prepends lines that set `marker`, `wheel` (a file
# name), `size` (the wheel's bytes), `way` (uv or venv) and `program` (the path of uv or of a
# Python). Never uses sudo.

install() {
    say() { printf '%s %s %s\n' "$marker" "$1" "$2"; }
    # Runs a command and keeps its output, which is shown only if the command fails.
    run() {
        say step "$*"
        "$@" </dev/null >"$folder/output" 2>&1 && return
        say failed "$*"
        tail -n 15 "$folder/output" | sed "s/^/$marker output /"
        say end ""
        exit 1
    }

    say ready ""
    read -r _
    say echo ""
    umask 022
    folder=$(mktemp -d) || { say failed "mktemp -d"; say end ""; exit 1; }
    trap 'rm -rf "$folder"' EXIT HUP INT TERM
    say send ""
    cat >"$folder/$wheel"
    exec </dev/null
    if [ "$(wc -c <"$folder/$wheel" | tr -d ' ')" != "$size" ]; then
        say failed "receiving $wheel: it is not complete"
        say end ""
        exit 1
    fi

    if [ "$way" = uv ]; then
        run "$program" tool install --force "$folder/$wheel"
    else
        home=$HOME/.local/share/cockpit/venv
        link=$HOME/.local/bin/cockpit
        if [ -e "$link" ] && [ ! -L "$link" ]; then
            say failed "linking $link: a file that is not a link is there"
            say end ""
            exit 1
        fi
        run mkdir -p "$HOME/.local/share/cockpit" "$HOME/.local/bin"
        run "$program" -m venv "$home"
        # The second pip call replaces an installation of the same version.
        run "$home/bin/python" -m pip install --upgrade "$folder/$wheel"
        run "$home/bin/python" -m pip install --force-reinstall --no-deps "$folder/$wheel"
        run ln -sf "$home/bin/cockpit" "$link"
    fi
    say done ""
    say end ""
}

install
