"""The state machine of one handoff: states, events, and commands.

    Asked ─► Waiting ─► Documenting ─► Reviewing ─► Settling ─► Stopping ─► Starting ─► Confirming
      │         │            │             │            │                      ▲            │
      ▼         ▼            ▼             ▼            ▼                      └────────────┤
    Ended     Ended        Ended         Ended        Ended          Ended ◄─ Reviving ◄────┘

`Confirming` ends with the new session's first reply; if there is none, the next attempt starts, or
the old session is reopened (`Reviving`). A handoff without review skips `Reviewing`. The handoff of
a job that moves to another machine waits in `Moving`, between `Settling` and `Stopping`, and ends
after `Stopping`.

`states` has the states, `events` the events, `commands` the commands. `advance` is the transition
function; `writing` and `swapping` have the rules of each state. `record` converts a handoff to JSON
data and back. All functions are pure.
"""
