"""The life of one handoff, as values: where it stands, what happens, what is to be done next.

    Asked ─► Waiting ─► Documenting ─► Reviewing ─► Settling ─► Stopping ─► Starting ─► Confirming
      │         │            │             │            │                      ▲            │
      ▼         ▼            ▼             ▼            ▼                      └────────────┤
    Ended     Ended        Ended         Ended        Ended          Ended ◄─ Reviving ◄────┘

`states` says where a handoff can stand, `events` what can happen to it, `commands` what it can
ask for; `advance` is the rule book, with the rules of each state in `writing` and `swapping`;
`record` is how a state is written down. All of it is pure.
"""
