"""All seats of one supervisor: configured, started, remembered.

Knows who there is and under which settings; starts nothing. A file that does not read changes
nothing: the fleet keeps what it had, and the caller hears why.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from cockpit.adapters.environments import Environments
from cockpit.config.loaded import Loaded
from cockpit.config.read import load
from cockpit.config.schema import AgentSettings
from cockpit.config.trust import trust
from cockpit.core.errors import CockpitError, Hindered, NoSuchAgent, NotNow
from cockpit.core.gauge import Gauge
from cockpit.core.handoff.states import Outcome
from cockpit.core.ids import AgentName, agent_name
from cockpit.ports.records import SeatRecord
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.sitting import Sitting

PILOT = AgentName("pilot")
"""The name of the file with the pilot's own addresses, which stands in a folder by itself."""
MOST_ADDRESSES = 50


class Fleet:
    """Every seat, in the order in which it became known."""

    def __init__(self, instruments: Instruments) -> None:
        self._in = instruments
        self._seats: dict[AgentName, Seat] = {}
        self._environments = Environments(instruments.places.state / "environments")
        self._hooks = Environments(instruments.places.state / "agent-hooks")
        """Addresses and headers of hooks may hold secrets just as an environment does."""
        self._addresses = Environments(instruments.places.state / "notified")
        self.notified: tuple[str, ...] = ()
        """Where the pilot is or was told of things; tokens in them must never be shown."""
        self.loaded: Loaded | None = None

    def __iter__(self) -> Iterator[Seat]:
        return iter(tuple(self._seats.values()))

    def seat(self, name: str) -> Seat:
        """The seat of that name. Raises `NoSuchAgent`, with the nearest name."""
        if (found := self._seats.get(AgentName(name))) is not None:
            return found
        close = difflib.get_close_matches(name, list(self._seats), n=1)
        hint = f"Did you mean {close[0]}?" if close else "List them: cockpit status"
        raise NoSuchAgent(f"There is no agent {name!a}", "", hint)

    def find(self, name: str) -> Seat | None:
        return self._seats.get(AgentName(name))

    def folders(self) -> dict[str, str]:
        """Each agent's folder for its documents, in its directory."""
        return {seat.name: str(seat.settings.handoff.directory) for seat in self}

    def load(self, config: Path | None, *, named: bool) -> Loaded:
        """Read the files and take up their agents as seats; those that live are left alone.

        Raises `BadConfig`, and `NotNow` for a name that another file has taken.
        """
        where = config.parent if config is not None else Path("/")
        loaded = load(self._in.places, config, where, self._in.environment, named=named)
        for settings in loaded.settings.agents:
            self._check_owner(settings.name, loaded.file_of(settings.name))
        for settings in loaded.settings.agents:
            self.take_up(settings, loaded.file_of(settings.name))
        self.loaded = loaded
        self._know(loaded.settings.notifications.urls)
        if named and config is not None:
            # Naming a file is trusting what it says now; finding the same content later is no news.
            trust(self._in.places, config)
        return loaded

    def _know(self, addresses: Iterable[str]) -> None:
        """Earlier ones stay known, over a restart too: a session's record may hold them."""
        self.notified = tuple(dict.fromkeys((*addresses, *self.notified)))[:MOST_ADDRESSES]
        held = {str(number): address for number, address in enumerate(self.notified)}
        self._addresses.keep(PILOT, held)
        for seat in self:
            seat.notified = self.notified

    def _check_owner(self, name: str, file: Path | None) -> None:
        seat = self.find(name)
        owner = seat.record.config_file if seat else None
        if owner is None or file is None or not Path(owner).exists():
            return
        if Path(owner) == file or Path(owner).samefile(file):
            return
        if seat is not None and not seat.alive and seat.record.session is None:
            return  # named once, never flown: the newer file may have it
        raise NotNow(
            f"There is an agent {name} already, from another file",
            f"{owner} names it, and so does {file}.",
            "Give one of the two another name.",
        )

    def take_up(self, settings: AgentSettings, file: Path | None) -> Seat:
        """A seat for these settings; one that is there and not living gets them.

        Of one that lives only the marks change: everything else was decided when it was started.
        """
        name = agent_name(settings.name)
        seat = self.find(name)
        if seat is not None and seat.alive:
            seat.mark_by(settings.context)
            written = plain(seat.settings)
            where = str(file) if file else seat.record.config_file
            self._in.store.save_seat(seat.change(settings=written, config_file=where))
            return seat
        record = SeatRecord(
            name=name,
            settings=plain(settings),
            config_file=str(file) if file else None,
            wanted=False,
            directory=str(settings.directory),
        )
        if seat is None:
            return self._seat_new(record, settings)
        # The runtime first: one that is refused must leave the seat as it was.
        seat.runtime = self._in.runtimes(settings.runtime)
        seat.settings = settings
        seat.change(settings=plain(settings), config_file=record.config_file)
        if seat.record.session is None:
            seat.change(directory=record.directory)
        self._write_down(seat)
        return seat

    def _seat_new(self, record: SeatRecord, settings: AgentSettings) -> Seat:
        """A seat that nobody knew; of one that cannot be written down nothing is left."""
        seat = self._new(record, settings)
        try:
            self._write_down(seat)
        except BaseException:
            self.forget(seat)
            raise
        return seat

    def _write_down(self, seat: Seat) -> None:
        """Raises `Hindered` for a disk that takes nothing."""
        try:
            self._environments.keep(seat.name, seat.settings.env)
            self._hooks.keep(seat.name, _hooks_of(seat.settings))
        except OSError as refused:
            raise Hindered(
                f"The environment of {seat.name} cannot be written down",
                f"{self._in.places.state}: {refused.strerror or refused}.",
                "Is the disk full?",
            ) from refused
        self._in.store.save_seat(seat.record)

    def forget(self, seat: Seat) -> None:
        """Take a seat off the list that nobody sits in, and a job of it that no session began.

        Never raises for a disk that refuses: what it keeps of the seat is dropped by `remember`.
        """
        self._seats.pop(seat.name, None)
        with suppress(Hindered, OSError):
            self._in.store.forget_seat(seat.name)
            self._environments.forget(seat.name)
            self._hooks.forget(seat.name)

    def _new(self, record: SeatRecord, settings: AgentSettings) -> Seat:
        seat = Seat(record, settings, self._in.runtimes(settings.runtime))
        seat.environment = {**self._in.environment, **settings.env}
        seat.sitting = Sitting(gauge=Gauge(override=settings.context.override))
        seat.notified = self.notified
        self._seats[record.name] = seat
        return seat

    def remember(self) -> None:
        """Bring back the seats of an earlier supervisor, with their jobs and chains.

        A seat whose settings cannot be understood any more is told of and left out; its record
        stays.
        """
        self.notified = tuple(self._addresses.recall(PILOT).values())
        for record in self._in.store.seats():
            if record.config_file is None and record.job is None and record.run is None:
                # Its start was refused, by a disk that did not take that either.
                self._in.store.forget_seat(record.name)
                continue
            try:
                env = self._environments.recall(record.name)
                hooks = {
                    event: json.loads(written)
                    for event, written in self._hooks.recall(record.name).items()
                }
                settings = AgentSettings.model_validate(
                    {**record.settings, "env": env, "hooks": hooks}
                )
                seat = self._new(record, settings)
            except (ValueError, CockpitError) as wrong:
                self._in.feed.tell(
                    "agent.not_understood",
                    f"{record.name} cannot be taken up: its settings do not read ({wrong})",
                    record.name,
                )
                continue
            self.recall(seat)

    def recall(self, seat: Seat) -> None:
        """The seat's job, session and chain, as they are written down."""
        store = self._in.store
        seat.job = store.job(seat.record.job) if seat.record.job else None
        seat.session = store.session(seat.record.session) if seat.record.session else None
        seat.chain = store.chain(seat.job.id) if seat.job else []
        done = store.handoffs(seat.job.id) if seat.job else []
        seat.handoffs = sum(each.outcome == Outcome.DONE.value for each in done)
        if done and done[-1].outcome == Outcome.FAILED.value and seat.record.wanted:
            seat.handoff_has_failed(done[-1].why or "its reason was not written down")


def plain(settings: AgentSettings) -> dict[str, Any]:
    """Settings as they are written down: only what was said, so that defaults stay defaults.

    The environment and the hooks, which may hold secrets, are not among them.
    """
    held: dict[str, Any] = settings.model_dump(
        mode="json", exclude_unset=True, exclude={"env", "hooks"}
    )
    return held


def _hooks_of(settings: AgentSettings) -> dict[str, str]:
    """The hooks by event, each list as JSON."""
    held = settings.hooks.model_dump(mode="json", exclude_defaults=True)
    return {event: json.dumps(written) for event, written in held.items()}
