"""Sessions that cockpit did not start: watched, and documented by a copy of them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from cockpit.adapters.agents.claude.runtime import Claude
from cockpit.adapters.store.outgoing import OutgoingTable
from cockpit.config.paths import Places
from cockpit.core import document
from cockpit.core.capabilities import No
from cockpit.core.errors import Failed, NoSuchAgent, NotAllowed, NotNow
from cockpit.ports.runtimes import Aside, Program, SessionOrder
from cockpit.supervisor.dependencies import Dependencies, Runtimes
from cockpit.supervisor.history.rebuild import _read_copies
from cockpit.supervisor.main import dependencies
from cockpit.supervisor.observe.elsewhere import WATCHED
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.status import ElsewhereSession
from cockpit.wire.verbs import Adopt, Continue, DocumentSession, Done, WatchSession
from tests.core.test_composition import DRAFT
from tests.supervisor.sessions.test_adopt_elsewhere import (
    Terminal,
    command,
    has_ended,
    listed,
    terminal,
    until,
)

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

__all__ = ["terminal"]
pytestmark = pytest.mark.tmux

PAST_ACT = {"STANDIN_STEP_TOKENS": "60000", "STANDIN_PAUSE": "3"}
"""24k, 84k, 144k tokens of 200k: the third reply is past the act threshold."""
SECRET = "x7Kq-0d9sPLm4wVt"


def git(directory: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(directory), *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def type_into(terminal: Terminal, text: str) -> None:
    terminal.tmux("send-keys", "-l", text)
    terminal.tmux("send-keys", "Enter")


def tokens_seen(supervisor: Supervisor) -> int | None:
    """What the watch has read of the one watched session."""
    (watched,) = supervisor.elsewhere_watch._watched.values()
    return watched.reading.tokens if watched.reading else None


def stored(supervisor: Supervisor) -> list[str]:
    return list(supervisor.dependencies.store.sessions_latched(WATCHED))


async def idle(supervisor: Supervisor) -> ElsewhereSession:
    return await listed(supervisor, lambda row: row.status == "idle" and row.context.tokens)


async def watch(cockpit: Cockpit, found: ElsewhereSession, *, stop: bool = False) -> Done:
    return await cockpit.ask(WatchSession(session=found.session_id, pid=found.pid, stop=stop))


@pytest.mark.long
async def test_the_user_is_notified_once_when_a_watched_session_passes_the_act_threshold(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    terminal.run(cockpit.repository, "Count.", **PAST_ACT, STANDIN_PACE="2")
    notify = '[notifications]\nurls = ["json://127.0.0.1:1/n"]\n'
    async with cockpit.flying(notify, cockpit.agent()) as supervisor:
        found = await listed(supervisor, lambda row: row.context.tokens)
        assert not found.watched
        done = await watch(cockpit, found)
        assert done.message == (
            f"Watching session {found.session_id[:8]} until its process ends: cockpit notifies "
            "you when its context passes the act threshold"
        )
        assert (await listed(supervisor)).watched
        event = await cockpit.event("elsewhere.crossed")
        assert event.agent is None
        assert (event.data["session"], event.data["band"]) == (found.session_id, "act")
        assert (event.data["tokens"], event.data["window"]) == (144_000, 200_000)
        assert "is at about 72% of its context (act). Write its handoff" in event.text
        (notice,) = OutgoingTable(supervisor.dependencies.store).all_of("notice")
        assert notice.payload["text"] == event.text
        assert (await watch(cockpit, found)).message.startswith("Already watching")
    # Another supervisor goes on with it, and does not repeat itself.
    async with cockpit.flying() as supervisor:
        await until(lambda: supervisor.elsewhere_watch._watched)
        await until(lambda: tokens_seen(supervisor) == 144_000)
        assert (await listed(supervisor)).watched
        assert len(await cockpit.events("elsewhere.crossed")) == 1
        # After a compaction it counts again.
        type_into(terminal, "/compact")
        await until(lambda: tokens_seen(supervisor) is None)
        type_into(terminal, "Go on.")
        again = await cockpit.event("elsewhere.crossed", number=2)
        assert again.data["session"] == found.session_id
    assert not has_ended(found.pid)
    assert "Go on." in terminal.text()
    assert "cockpit" not in terminal.text()


@pytest.mark.long
async def test_a_session_after_a_clear_is_watched_too(cockpit: Cockpit, terminal: Terminal) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", **PAST_ACT)
        found = await idle(supervisor)
        # It is past the threshold already: that is told too.
        await watch(cockpit, found)
        await cockpit.event("elsewhere.crossed")
        type_into(terminal, "/clear")
        second = await listed(supervisor, lambda row: row.session_id != found.session_id)
        assert second.watched
        await until(lambda: tokens_seen(supervisor) is None)
        assert len(await cockpit.events("elsewhere.crossed")) == 1
        type_into(terminal, "Count again.")
        again = await cockpit.event("elsewhere.crossed", number=2)
        assert again.data["session"] == second.session_id


async def test_a_watch_ends_when_the_user_stops_it_or_the_process_ends(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2")
        found = await idle(supervisor)
        done = await watch(cockpit, found)
        assert "only an open screen notifies you" in done.message
        assert len(stored(supervisor)) == 1
        done = await watch(cockpit, found, stop=True)
        assert done.message == f"Session {found.session_id[:8]} is no longer watched"
        assert not (await listed(supervisor)).watched
        assert stored(supervisor) == []
        done = await watch(cockpit, found, stop=True)
        assert done.message == f"Session {found.session_id[:8]} is not watched"
        await watch(cockpit, found)
        # A process that is killed says nothing itself.
        os.kill(found.pid, signal.SIGKILL)
        await until(lambda: stored(supervisor) == [])
        assert supervisor.elsewhere_watch._watched == {}
        refused = await cockpit.refused(WatchSession(session=found.session_id))
        assert isinstance(refused, NoSuchAgent)


@pytest.mark.long
async def test_a_process_that_ended_without_a_supervisor_is_forgotten(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2")
        found = await idle(supervisor)
        await watch(cockpit, found)
    os.kill(found.pid, signal.SIGKILL)
    await until(lambda: has_ended(found.pid))
    async with cockpit.flying() as supervisor:
        await until(lambda: stored(supervisor) == [])


async def test_only_the_user_watches_a_session_or_has_it_documented(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2")
        found = await idle(supervisor)
        ident = found.session_id
        with pytest.raises(NotAllowed):
            await supervisor.elsewhere_watch.watch_session(
                WatchSession(session=ident, asker=found.pid)
            )
        with pytest.raises(NotAllowed):
            await supervisor.elsewhere_documents.write(
                DocumentSession(session=ident, asker=found.pid)
            )
        agent = {**os.environ, "COCKPIT_RUN": "api-1", "COCKPIT_SOCKET": str(cockpit.places.socket)}
        for how in ("--watch", "--unwatch", "--document"):
            code, _, err = await command("adopt", ident[:8], how, env=agent)
            assert (code, "Refused: this agent may not" in err) == (5, True), err
        assert isinstance(await cockpit.refused(WatchSession(session=ident, pid=1)), NotNow)
        assert stored(supervisor) == []
        assert await cockpit.events("elsewhere.document") == []


@pytest.mark.long
async def test_the_command_line_watches_and_says_so(cockpit: Cockpit, terminal: Terminal) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2")
        short = (await idle(supervisor)).session_id[:8]
        code, _, err = await command("adopt", short, "--watch", "--name", "mine")
        assert (code, "--watch cannot be used with --name" in err) == (2, True)
        code, _, err = await command("adopt", short, "--watch", "--unwatch")
        assert (code, "--watch cannot be used with --unwatch" in err) == (2, True)
        code, out, err = await command("adopt", short, "--watch")
        assert (code, out) == (0, "")
        assert err.startswith(f"Watching session {short} until its process ends")
        _, out, _ = await command("status", "--elsewhere")
        (line,) = [line for line in out.splitlines() if short in line]
        assert line.endswith(", watched")
        _, out, _ = await command("status", "--elsewhere", "--plain")
        assert "ago, watched." in out
        code, _, err = await command("adopt", short, "--unwatch")
        assert (code, err) == (0, f"Session {short} is no longer watched\n")
        _, out, _ = await command("status", "--elsewhere")
        assert "watched" not in out


async def test_the_command_line_watches_and_writes_the_document(
    cockpit: Cockpit, terminal: Terminal, copies: Copies
) -> None:
    async with with_session(cockpit, terminal) as (supervisor, found):
        short = found.session_id[:8]
        code, out, err = await command("adopt", short, "--watch", "--document")
        assert (code, Path(out.strip()).is_file()) == (0, True), err
        assert f"Watching session {short}" in err
        assert (await idle(supervisor)).watched
        code, out, err = await command("adopt", short, "--document", "--unwatch")
        assert (code, Path(out.strip()).is_file()) == (0, True), err
        assert not (await idle(supervisor)).watched


# Documents


class Copying(Claude):
    """Its copies answer at once, or when they may, with what they are given."""

    def __init__(self, state: Path, answer: Callable[[], Aside], may: asyncio.Event) -> None:
        super().__init__(state)
        self.orders: list[SessionOrder] = []
        self.questions: list[str] = []
        self._give, self._may = answer, may

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        self.orders.append(order)
        self.questions.append(question)
        await self._may.wait()
        return self._give()


class Copies:
    """The runtime of a cockpit whose copies answer as the test wants."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.answer = Aside(DRAFT, cost_usd=0.125)
        self.may = asyncio.Event()
        self.may.set()
        self.runtime = Copying(cockpit.places.state, lambda: self.answer, self.may)

        def world(places: Places) -> Dependencies:
            real = dependencies(places)

            def runtimes(name: str) -> object:
                return self.runtime if name == "claude" else real.runtimes(name)

            return replace(real, runtimes=cast(Runtimes, runtimes))

        cockpit.world = world


@pytest.fixture
def copies(cockpit: Cockpit) -> Copies:
    return Copies(cockpit)


@asynccontextmanager
async def with_session(
    cockpit: Cockpit, terminal: Terminal, **activity: str
) -> AsyncIterator[tuple[Supervisor, ElsewhereSession]]:
    """A supervisor, and a session elsewhere that waits for its user."""
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count the sheep.", **(activity or PAST_ACT))
        yield supervisor, await idle(supervisor)


async def test_a_copy_writes_the_handoff_document_and_the_session_goes_on(
    cockpit: Cockpit, terminal: Terminal, copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHEEP_TOKEN", SECRET)
    copies.answer = replace(
        copies.answer, text=DRAFT.replace("TOTP and not SMS.", f"TOTP, with {SECRET}.")
    )
    async with with_session(cockpit, terminal) as (supervisor, found):
        assert found.transcript is not None
        record = Path(found.transcript).read_bytes()
        code, out, err = await command("adopt", found.session_id[:8], "--document")
        assert code == 0, err
        path = Path(out.strip())
        assert path.parent == cockpit.repository / ".cockpit/handoffs"
        assert "The copy cost $0.12." in err or "The copy cost $0.13." in err
        assert f"cockpit continue {path}" in err
        text = path.read_text()
        assert document.validate(text, complete=True) == []
        left = document.read(text)
        assert left.goal == "Count the sheep."
        assert left.front is not None
        assert (left.front.old_session_id, left.front.writer) == (found.session_id, "sdk")
        assert (left.front.tokens, left.front.percent) == (144_000, 72.0)
        assert (left.front.agent, left.front.worktree) == ("", str(cockpit.repository))
        assert SECRET not in text
        assert "[redacted" in text.lower()
        assert path.stat().st_mode & 0o077 == 0
        copy = supervisor.dependencies.documents.copies.path(left.front.id)
        assert copy.read_text() == text
        event = await cockpit.event("elsewhere.document")
        assert (event.data["session"], event.data["document"]) == (found.session_id, str(path))
        # The session was only read; git does not see the document.
        assert Path(found.transcript).read_bytes() == record
        assert not has_ended(found.pid)
        git = supervisor.dependencies.worktrees
        assert not any(".cockpit" in line for line in (await git.facts(cockpit.repository)).status)
        (order,) = copies.runtime.orders
        assert (order.session_id, order.resume) == (found.session_id, True)
        assert order.model == found.model
        assert order.run.startswith("document-")
        assert "144k of 200k tokens" in copies.runtime.questions[0]
        # It is no part of a job, if the history has to be rebuilt.
        assert _read_copies(supervisor.dependencies.documents, {}) == ([], [])
        # Anyone can go on from it.
        done = await cockpit.ask(Continue(document=str(path), name="next"))
        assert done.name == "next"


@pytest.mark.long
async def test_the_document_lists_a_commit_whose_hash_the_transcript_does_not_have(
    cockpit: Cockpit, terminal: Terminal, copies: Copies
) -> None:
    async with with_session(cockpit, terminal) as (_, found):
        assert found.transcript is not None
        call = {"command": "git commit -q --allow-empty -m 'Count faster'"}
        message = {
            "id": "m9", "role": "assistant", "model": "claude-opus-5",
            "content": [{"type": "tool_use", "id": "t9", "name": "Bash", "input": call}],
            "usage": {"input_tokens": 144_000},
        }  # fmt: skip
        result = [{"type": "tool_result", "tool_use_id": "t9", "content": ""}]
        with Path(found.transcript).open("a") as transcript:
            for record in (
                {"type": "assistant", "message": message},
                {"type": "user", "message": {"role": "user", "content": result}},
            ):
                print(json.dumps(record), file=transcript)
        for subject in ("Count faster", "By somebody else"):
            git(cockpit.repository, "commit", "-q", "--allow-empty", "-m", subject)
        done = await cockpit.ask(DocumentSession(session=found.session_id))
        assert done.document is not None
        text = Path(done.document).read_text()
        assert git(cockpit.repository, "rev-parse", "--short=7", "HEAD~1") in text
        assert "Count faster" in text
        assert "By somebody else" not in text


@pytest.mark.long
async def test_nothing_else_uses_a_session_while_a_copy_writes(
    cockpit: Cockpit, terminal: Terminal, copies: Copies
) -> None:
    copies.may.clear()
    async with with_session(cockpit, terminal) as (_, found):
        asked = DocumentSession(session=found.session_id)
        first = asyncio.create_task(cockpit.ask(asked))
        await until(lambda: copies.runtime.orders)
        for other in (asked, Adopt(session=found.session_id)):
            refused = await cockpit.refused(other)
            assert isinstance(refused, NotNow)
            assert "Another command is writing the handoff document of session" in refused.title
        copies.may.set()
        assert (await first).document is not None
        assert not has_ended(found.pid)


async def test_a_copy_that_writes_no_document_leaves_nothing(
    cockpit: Cockpit, terminal: Terminal, copies: Copies
) -> None:
    answers = {
        Aside("", problem="error_max_budget_usd"): "error_max_budget_usd",
        Aside("Hello."): "The copy of the session did not write a valid handoff document",
    }
    async with with_session(cockpit, terminal) as (_, found):
        for answer, told in answers.items():
            copies.answer = answer
            refused = await cockpit.refused(DocumentSession(session=found.session_id))
            assert isinstance(refused, Failed), refused
            assert told in f"{refused.title} {refused.detail}"
        assert not (cockpit.repository / ".cockpit").exists()
        assert list(cockpit.places.handoffs.glob("*.md")) == []


async def test_what_has_no_copy_is_refused_before_anything_is_asked(
    cockpit: Cockpit, terminal: Terminal, copies: Copies
) -> None:
    async with with_session(cockpit, terminal) as (_, found):
        able = copies.runtime.capabilities
        copies.runtime.capabilities = replace(able, copies=No("it cannot copy a session"))
        refused = await cockpit.refused(DocumentSession(session=found.session_id))
        assert isinstance(refused, NotNow)
        assert "cannot write a document" in refused.title
        assert "It cannot copy a session" in refused.detail
        copies.runtime.capabilities = able
        assert found.transcript is not None
        Path(found.transcript).unlink()
        refused = await cockpit.refused(DocumentSession(session=found.session_id))
        assert isinstance(refused, NotNow)
        assert "has no reply yet" in refused.title
        assert copies.runtime.orders == []
