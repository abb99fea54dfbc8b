"""Call a function once after a time.

Textual's `set_timer` skips a call that is already late when its timer starts. It starts late if the
delay is a few microseconds, or if the processor is busy with something else just then.
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
