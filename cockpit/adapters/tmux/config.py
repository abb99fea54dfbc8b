"""Write the private tmux server's configuration.

The user's own tmux.conf is neither read nor changed. The configuration contains no text from agents
or repositories and no names, because a tmux format can run programs.
"""

from __future__ import annotations

from pathlib import Path

from cockpit.adapters.files.private_file import write_private
from cockpit.adapters.tmux.return_keys import SPOKEN_OPTION, bindings, stored
from cockpit.adapters.tmux.window_options import HOME_WINDOW, RETURN_OPTION
from cockpit.core.errors import Failed

SESSION = "cockpit"
"""Name of the tmux session with all windows. Each attached terminal has its own session in the same
group."""
KEY_OPTION = "@cockpit_key"
"""Option of a terminal's session: the key that returns to cockpit's screen, if the user's own
tmux around the terminal uses the first return key itself."""
ASIDE, LEAVES = "aside", "leaves"
"""The values of `RETURN_OPTION`: after the session, the terminal shows a cockpit screen (`ASIDE`)
or the user's shell (`LEAVES`)."""
OLDEST = (3, 3, "a")
"""The oldest supported version of tmux, 3.3a; the version before it, 3.3, was never tested."""

NOTIFY_SCREEN = (
    "run-shell",
    "-b",
    "-t",
    f"={SESSION}:{HOME_WINDOW}",
    "#{?pane_dead,:,kill -URG #{pane_pid}} 2>/dev/null; :",
)
"""The command that tells the screen in the home window that a terminal was attached or detached.

The shell that runs `kill` gets no text but the pid. A program that does not handle SIGURG ignores
it.
"""

TEXT = f"""\
# Written by cockpit at each start of its tmux server; changes here are lost.
set -s exit-empty off
set -s escape-time 10
set -s focus-events off
set -s set-clipboard external
set -s default-terminal tmux-256color
set -s history-file ""
set -as terminal-features ",xterm-256color:RGB,xterm-kitty:RGB,xterm-ghostty:RGB,alacritty*:RGB"
set -as terminal-features ",foot*:RGB,wezterm*:RGB,tmux-256color:RGB,screen-256color:RGB"

set -g prefix None
set -g prefix2 None
set -g mouse on
set -g history-limit 5000
set -g default-size 120x40
set -g default-shell /bin/sh
set -g update-environment ""
set -g set-titles on
set -g set-titles-string "#{{?#{{&&:#{{==:#{{window_index}},{HOME_WINDOW}}},\
#{{m:*cockpit,#{{pane_title}}}}}},#{{pane_title}},cockpit}}"
set -g destroy-unattached off
set -g detach-on-destroy on
set -g base-index 0
set -g renumber-windows off
set -g visual-activity off
set -g visual-bell off
set -g bell-action any
set -g display-time 2000

set -g remain-on-exit on
set -g remain-on-exit-format "This process has ended\
#{{?pane_dead_status, with status #{{pane_dead_status}},}}\
#{{?pane_dead_signal, by signal #{{pane_dead_signal}},}}. #{{{SPOKEN_OPTION}}} goes back."
set -g window-size latest
set -g aggressive-resize on
set -g allow-passthrough off
set -g allow-rename off
set -g automatic-rename off
set -g monitor-activity off

set-hook -g client-detached "{" ".join(NOTIFY_SCREEN[:-1])} '{NOTIFY_SCREEN[-1]}'"
set -g status off
set-hook -g session-window-changed "if -F '#{{==:#{{window_index}},{HOME_WINDOW}}}' \
'set-option status off' 'set-option status on'"
set -g status-interval 0
set -g status-style "bg=default,fg=default,dim"
set -g status-left ""
set -g status-right "\
#{{?#{{==:#{{window_index}},{HOME_WINDOW}}},, \
#{{?#{{{KEY_OPTION}}},#{{{KEY_OPTION}}},#{{{SPOKEN_OPTION}}}}} \
#{{?#{{==:#{{{RETURN_OPTION}}},{LEAVES}}},leaves,back to the cockpit}} }}"
set -g window-status-format ""
set -g window-status-current-format "\
#{{?#{{==:#{{window_index}},{HOME_WINDOW}}},, #{{window_name}} }}"
set -g window-status-separator ""

unbind -a -q -T prefix
unbind -n MouseDown3Pane
unbind -n M-MouseDown3Pane
unbind -n MouseDown3Status
unbind -n MouseDown3StatusLeft
unbind -n MouseDown3StatusRight
bind -n DoubleClick1Pane if -F "#{{&&:#{{mouse_any_flag}},#{{==:#{{pane_in_mode}},0}}}}" "" {{
  if -F "#{{pane_in_mode}}" {{ send-keys -M }} {{
    copy-mode -H
    send-keys -X select-word
    run-shell -d 0.3
    send-keys -X copy-pipe-and-cancel
  }}
}}
"""
"""The content of the configuration file, without the keys that go back from a pane.

`focus-events off`: tmux <= 3.4 crashes, and ends every agent, if a program that uses focus events
is killed while a terminal shows it. `status-interval 0`: an idle status line sends nothing. The
mouse menus are unbound because they offer to kill a pane. `DoubleClick1Pane`: by default, a program
that uses the mouse gets the second press twice, and waits for a missing release.
`aggressive-resize`: a terminal resizes only the window that it shows, so that two users do not
resize each other's agents. `status`: only an agent's pane has a status line, which names the key
that goes back. cockpit sets `status` before it selects a window, so that no pane is resized twice.
The hook sets `status` when tmux selects the next window after a window was closed.
"""


def write_configuration(path: Path) -> None:
    """Write the tmux server's configuration with mode 0600, replacing an existing file. Raises
    `Failed`."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path, (TEXT + bindings(stored(path))).encode())
    except OSError as error:
        raise Failed(
            "Cannot write the configuration of the tmux server",
            f"{path}: {error.strerror}",
            hint="Check the free disk space and the folder's permissions.",
        ) from error


def terminal_name() -> str:
    """Return `TERM` for panes: `tmux-256color` if this machine has it, else `screen-256color`."""
    roots = ("/usr/share/terminfo", "/lib/terminfo", "/etc/terminfo", "/usr/local/share/terminfo")
    for root in roots:
        for letter in ("t", "74"):
            if (Path(root) / letter / "tmux-256color").exists():
                return "tmux-256color"
    return "screen-256color"
