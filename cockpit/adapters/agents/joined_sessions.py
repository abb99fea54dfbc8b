"""Join the live sessions of several CLIs. Implements `ports.live_sessions.LiveSessions`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cockpit.ports.live_sessions import LiveSession, LiveSessions


class JoinedSessions:
    """Joins the readers of all CLIs. A call about one session goes to the reader for the session's
    CLI.

    `make` returns the readers by runtime name, and is called once, when a reader is first needed.
    """

    def __init__(self, make: Callable[[], Mapping[str, LiveSessions]]) -> None:
        self._make = make
        self._made: Mapping[str, LiveSessions] | None = None
        self._lock = threading.Lock()

    @property
    def _by_runtime(self) -> Mapping[str, LiveSessions]:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def look(self) -> Sequence[LiveSession]:
        sessions = [session for reader in self._by_runtime.values() for session in reader.look()]
        return sorted(sessions, key=lambda session: session.pid)

    def transcript(self, session: LiveSession) -> Path | None:
        return self._by_runtime[session.runtime].transcript(session)

    def check_reopenable(
        self, session: LiveSession, environment: Mapping[str, str] | None = None
    ) -> None:
        self._by_runtime[session.runtime].check_reopenable(session, environment)

    def by_hand(self, session: LiveSession) -> Sequence[str]:
        return self._by_runtime[session.runtime].by_hand(session)

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        stops = [reader.watch(call) for reader in self._by_runtime.values()]

        def stop() -> None:
            for stop in stops:
                stop()

        return stop
