"""Call a function once after a delay.

Textual's `set_timer` skips a call that is already due when its timer starts. That happens if the
delay is a few microseconds, or if the processor is busy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.message_pump import MessagePump


def call_after(
    pump: MessagePump, seconds: float, call: Callable[[], object]
) -> asyncio.TimerHandle:
    """Call `call` once in the task of `pump`. Not called if the pump has closed by then."""
    return asyncio.get_running_loop().call_later(seconds, pump.call_next, call)
