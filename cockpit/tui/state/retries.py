"""Intervals between the attempts to reach a lost supervisor."""

from __future__ import annotations

FIRST_RETRY = 0.25
LAST_RETRY = 1.0
"""Maximum seconds between retries. Short, because connecting to a local socket is cheap."""
LAST_REMOTE_RETRY = 30.0
"""Maximum seconds between retries to reach a remote host: each retry costs a login and a log
entry."""
SOON = 1.5
"""Maximum seconds between retries to reach a remote host during `SHORT_CUT`: most outages are
short, and the host should be shown again within two seconds after the network is back."""
SHORT_CUT = 30.0
"""Seconds of quick retries after the loss of a steady connection, or of the first connection."""
STEADY = 10.0
"""After the first connection to a remote host, only the loss of a connection that lasted this many
seconds starts quick retries. Otherwise, the screen would reconnect four times a second to a host
that drops every connection after one message."""


class Retries:
    """The intervals between the attempts to reach one supervisor. Times are monotonic seconds."""

    def __init__(self, *, is_remote: bool) -> None:
        self._is_remote = is_remote
        self._wait = FIRST_RETRY
        self._short_until = 0.0
        self._answered_before = False

    def wait_after(self, opened: float, now: float, *, was_live: bool) -> float:
        """Return the seconds until the next attempt, after an attempt from `opened` to `now`.

        `was_live` says whether the supervisor answered.
        """
        is_steady = not self._is_remote or now > opened + STEADY
        if was_live and (is_steady or not self._answered_before):
            self._wait, self._short_until = FIRST_RETRY, now + SHORT_CUT
        self._answered_before |= was_live
        wait = min(self._wait, self._longest(now))
        self._wait = wait * 2
        return wait

    def _longest(self, now: float) -> float:
        if not self._is_remote:
            return LAST_RETRY
        return SOON if now < self._short_until else LAST_REMOTE_RETRY
