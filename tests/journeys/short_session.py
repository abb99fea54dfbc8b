"""What makes the real Claude Code cheaper in a session of seconds."""

from __future__ import annotations

SHORT_SESSION = {"BUN_JSC_useDFGJIT": "0"}
"""The CLI's JavaScript engine compiles to optimized code only what then runs for minutes.

In the sessions of tests, of seconds, that takes a fifth of their processor time.
"""
