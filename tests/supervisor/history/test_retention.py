"""What is kept for how long: copies of documents, and records of sessions that are over."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.store.search import SearchTable
from cockpit.adapters.transcripts.copies import LARGEST
from cockpit.config.hooks import Hooks
from cockpit.config.paths import Places
from cockpit.config.schema import AgentSettings
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import HandoffRecord, JobRecord, SessionRecord
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.retention import Retention
from cockpit.supervisor.main import dependencies
from tests.manual_clock import ManualClock

DAY = 86_400.0
SECRET = "canary-4711-sk-secret"


class Attic:
    """A supervisor's papers with a clock that is moved by hand: one agent, and its past jobs."""

    def __init__(self, home: Path, days: int = 90) -> None:
        self.home = home
        self.clock = ManualClock()
        places = Places.of(os.environ)
        places.make()
        self.parts: Dependencies = replace(dependencies(places), clock=self.clock)
        self.fleet = Fleet(self.parts)
        self.fleet.load(None, named=False)
        settings = AgentSettings.model_validate(
            {
                "name": "api",
                "directory": home,
                "env": {"API_TOKEN": SECRET},
                "handoff": {"retention_days": days},
            }
        )
        self.agent = self.fleet.take_up(settings, None)
        self.retention = Retention(self.parts, self.fleet)

    @property
    def now(self) -> float:
        return self.clock.now().timestamp()

    def job(self, name: str, *, current: bool = False) -> HandoffRecord:
        """A job with one session, its record, and the document that it left."""
        store = self.parts.store
        transcript = self.home / f"{name}.jsonl"
        transcript.write_text(json.dumps({"said": f"the key is {SECRET}"}) + "\n")
        store.add_job(JobRecord(JobId(name), AgentName("api"), "Do it.", self.now))
        store.save_session(
            SessionRecord(
                id=SessionId(f"session-{name}"),
                agent=AgentName("api"),
                job=JobId(name),
                number=1,
                previous=None,
                run="run",
                created=self.now,
                transcript=str(transcript),
                state="handed_off",
                ended=self.now,
            )
        )
        document = self.home / ".cockpit" / "handoffs" / f"{name}.md"
        document.parent.mkdir(parents=True, exist_ok=True)
        document.write_text("# Handoff\n")
        copy = self.parts.documents.copies.path(f"handoff-{name}")
        copy.write_text("# Handoff\n")
        record = HandoffRecord(
            id=HandoffId(f"handoff-{name}"),
            agent=AgentName("api"),
            job=JobId(name),
            old_session=SessionId(f"session-{name}"),
            reason="manual",
            created=self.now,
            boot="b",
            record={},
            details=HandoffDetails(),
            ended=self.now,
            outcome="done",
            document=str(document),
            copy=str(copy),
        )
        store.save_handoff(record)
        if current:
            store.save_agent(self.agent.change(job=JobId(name)))
        return record

    async def look(self, *, after_days: float = 0.0) -> None:
        self.clock.advance(after_days * DAY)
        await self.retention.look()

    def copy(self, record: HandoffRecord) -> Path | None:
        held = self.parts.store.handoff(record.id)
        assert held is not None
        return Path(held.copy) if held.copy else None

    def kept(self, name: str) -> list[Path]:
        return sorted((self.parts.places.state / "records").glob(f"session-{name}.*"))


@pytest.fixture
def attic(own_home: Path) -> Iterator[Callable[..., Attic]]:
    made: list[Attic] = []

    def make(days: int = 90) -> Attic:
        made.append(Attic(own_home, days))
        return made[-1]

    yield make
    for each in made:
        each.parts.store.close()


async def test_papers_of_the_current_job_are_pinned(attic: Callable[..., Attic]) -> None:
    here = attic()
    record = here.job("a", current=True)

    await here.look(after_days=1)
    await here.look(after_days=1000)

    assert here.copy(record) == here.parts.documents.copies.path(record.id)
    assert here.copy(record).is_file()  # type: ignore[union-attr]
    assert here.kept("a")


async def test_a_finished_jobs_copy_is_archived_and_then_removed(
    attic: Callable[..., Attic],
) -> None:
    here = attic()
    record = here.job("a")
    here.job("b", current=True)
    index = SearchTable(here.parts.store)
    index.put(record.id, str(record.sha256), "needle")

    await here.look()
    archived = here.copy(record)
    assert [hit.handoff for hit in index.find(("needle",))] == [record.id]
    assert archived == here.parts.places.handoffs / "archive" / f"{record.id}.md"
    assert archived.is_file()
    assert archived.parent.stat().st_mode & 0o777 == 0o700
    await here.look(after_days=89)
    assert archived.is_file()

    await here.look(after_days=2)
    assert here.copy(record) is None
    assert not archived.exists()
    assert index.find(("needle",)) == []
    assert here.kept("a") == []
    # What is in the worktree is the user's, and a chain is never rewritten.
    assert Path(str(record.document)).is_file()
    assert [each.id for each in here.parts.store.chain(JobId("a"))] == ["session-a"]
    assert here.parts.store.handoff(record.id) == replace(record, copy=None)


async def test_nothing_is_removed_when_papers_are_kept_for_ever(
    attic: Callable[..., Attic],
) -> None:
    here = attic(days=0)
    record = here.job("a")

    await here.look()
    await here.look(after_days=5000)

    assert here.copy(record).is_file()  # type: ignore[union-attr]
    assert here.kept("a")


async def test_an_archive_that_was_cut_short_is_finished(attic: Callable[..., Attic]) -> None:
    here = attic()
    record = here.job("a")
    here.parts.documents.copies.archive(record.id)

    await here.look()

    assert here.copy(record) == here.parts.documents.copies.archived(record.id)


async def test_the_record_of_a_session_that_ran_for_months_is_kept(
    attic: Callable[..., Attic],
) -> None:
    here = attic()
    here.job("long")
    here.job("old")
    store = here.parts.store
    (session,) = store.chain(JobId("long"))
    here.clock.advance(60 * DAY)
    store.save_session(replace(session, ended=here.now))
    await here.look()
    assert here.kept("long")
    assert here.kept("old") == []


async def test_records_of_every_cli_are_kept_and_removed(attic: Callable[..., Attic]) -> None:
    it = attic(30)
    it.job("x")
    store, theirs = it.parts.store, SessionId("ses_01JD4Q0VX8eXAmPLE")
    store.save_session(replace(store.chain(JobId("x"))[0], id=theirs, number=2))
    await it.look()
    folder = it.parts.places.state / "records"
    assert [*folder.glob(f"{theirs}.*")]
    await it.look(after_days=31)
    assert [*folder.glob(f"{theirs}.*")] == []


async def test_a_record_is_kept_without_its_secrets(attic: Callable[..., Attic]) -> None:
    here = attic()
    here.job("a", current=True)

    await here.look()
    (kept,) = here.kept("a")
    assert kept.name == "session-a.jsonl.gz"
    assert kept.stat().st_mode & 0o777 == 0o600
    text = gzip.decompress(kept.read_bytes()).decode()
    assert json.loads(text)["said"].startswith("the key is [REDACTED:known:")
    assert SECRET not in text

    # The CLI's own clearing away takes nothing from us, and a record that grew is kept anew.
    (here.home / "a.jsonl").write_text('{"more": 1}\n')
    await here.look()
    assert gzip.decompress(kept.read_bytes()) == b'{"more": 1}\n'
    (here.home / "a.jsonl").unlink()
    await here.look(after_days=35)
    assert gzip.decompress(kept.read_bytes()) == b'{"more": 1}\n'


async def test_secrets_that_a_prompt_gave_away_are_in_no_copy_of_the_record(
    attic: Callable[..., Attic],
) -> None:
    here = attic()
    here.job("a", current=True)
    secret = "Tr0ub4dor" + "&3-xK9p$%"
    file = "/state/prompts/api-1/prompt-0123456789abcdef.md"
    content = {"type": "text", "file": {"content": f"Log in with DB_PASSWORD={secret} first."}}
    lines = (
        {"type": "user", "message": {"role": "user", "content": f'Do what @"{file}" says.'}},
        {
            "type": "attachment",
            "attachment": {"type": "file", "filename": file, "content": content},
        },
        {"type": "progress", "said": f"connecting as {secret} now"},
    )
    (here.home / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    await here.look()

    (kept,) = here.kept("a")
    text = gzip.decompress(kept.read_bytes()).decode()
    assert secret not in text
    assert text.count("[REDACTED:known:") == 2
    assert "connecting as [REDACTED" in text


async def test_a_record_that_is_too_large_leaves_its_facts(attic: Callable[..., Attic]) -> None:
    here = attic()
    here.job("a", current=True)
    with (here.home / "a.jsonl").open("ab") as record:
        record.truncate(LARGEST + 1)
    said = {"type": "user", "message": {"role": "user", "content": f"Go {SECRET}"}}
    with (here.home / "a.jsonl").open("r+b") as record:
        record.write(json.dumps(said).encode() + b"\n")

    await here.look()

    (kept,) = here.kept("a")
    assert kept.name == "session-a.facts.json"
    assert json.loads(kept.read_text())["goal"].startswith("Go [REDACTED:known:")


async def test_trouble_with_one_paper_leaves_the_others(attic: Callable[..., Attic]) -> None:
    here = attic()
    here.job("a", current=True)
    here.job("b", current=True)
    (here.home / "a.jsonl").unlink()
    (here.home / "a.jsonl").mkdir()

    await here.look()

    assert here.kept("a") == []
    assert here.kept("b")


async def test_strays_go_when_they_are_old(attic: Callable[..., Attic]) -> None:
    here = attic()
    stray = here.parts.places.handoffs / "no-such-handoff.md"
    stray.write_text("# Handoff\n")
    os.utime(stray, (here.now, here.now))

    await here.look(after_days=89)
    assert stray.exists()
    await here.look(after_days=2)
    assert not stray.exists()


async def test_a_kept_record_holds_no_secret_of_the_hooks_or_of_the_pilots_addresses(
    attic: Callable[..., Attic],
) -> None:
    here = attic()
    here.job("a", current=True)
    here.job("b")
    (here.home / "b.jsonl").write_text('{"said": "ntfys://topic-4711/room-key-815"}\n')
    here.parts.store.save_session(
        replace(here.parts.store.chain(JobId("b"))[0], agent=AgentName("forgotten"))
    )
    header = {"type": "webhook", "url": "https://example.com/", "headers": {"X-Room": "tiger-471"}}
    hooks = Hooks.model_validate({"on_error": [header]})
    here.agent.settings = here.agent.settings.model_copy(update={"hooks": hooks})
    (here.home / "a.jsonl").write_text('{"said": "tiger-471"}\n')
    file = here.home / "cockpit.toml"
    file.write_text('[notifications]\nurls = ["ntfys://topic-4711/room-key-815"]\n')
    here.fleet.load(file, named=True)

    await here.look()

    kept = [
        gzip.decompress(path.read_bytes()).decode() for path in (*here.kept("a"), *here.kept("b"))
    ]
    assert len(kept) == 2
    assert "tiger-471" not in kept[0]
    assert "topic-4711" not in kept[1]
