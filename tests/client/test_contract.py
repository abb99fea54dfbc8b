"""What screens may expect of a client: the one in memory and the one over HTTP do the same.

Tests of screens run over the one in memory, so whatever only that one does is not tested at all.
The other one asks a real supervisor, in this process, over its socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from datetime import datetime
from typing import Any, cast

import anyio
import pytest

from cockpit.adapters.kept_host import KeptHost
from cockpit.adapters.remote_host import RemoteHost
from cockpit.client.client import Client, Supervisor
from cockpit.client.http import HttpClient
from cockpit.core.errors import BadUsage, NoSuchAgent, NoSupervisor, NotNow
from cockpit.core.far_names import commands_on
from cockpit.wire.history import HistoryChain
from cockpit.wire.status import AgentStatus, HandoffStatus
from cockpit.wire.stream import AgentChanged, AgentForgotten, Happened, Resumed, Snapshot, WatchLine
from cockpit.wire.verbs import (
    VERBS,
    Adopt,
    Answer,
    Approve,
    Attach,
    Continue,
    DocumentSession,
    Done,
    Down,
    Finish,
    Forget,
    Handoff,
    Load,
    Moved,
    Plan,
    Refuse,
    RemoveWorktree,
    Rename,
    Resume,
    Send,
    Snooze,
    Start,
    Stop,
    Undo,
    Verb,
    WatchSession,
)
from tests.client.stages import HISTORY, SLEEPER, InMemory, OverHttp, Stage, set_up
from tests.supervisor.conftest import Cockpit

PATIENCE = 120.0
LIST = "List the agents: cockpit status"


@pytest.fixture(
    params=[
        "in memory",
        pytest.param("over HTTP", marks=pytest.mark.tmux),
        pytest.param("over a stream", marks=[pytest.mark.tmux, pytest.mark.long]),
    ],
)
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    if request.param == "in memory":
        made: InMemory | OverHttp = InMemory()
    else:
        made = OverHttp(request.getfixturevalue("cockpit"))
    kept: KeptHost | None = None
    if request.param == "over a stream":
        assert isinstance(made, OverHttp)
        connect = request.getfixturevalue("connect")
        kept = KeptHost(RemoteHost("box", connect(made.cockpit.places.home)))
        made.client = HttpClient(kept)
    async for ready in set_up(made):
        yield ready
    if kept is not None:
        await asyncio.to_thread(kept.close)


def hint_from(stage: Stage, hint: str) -> str:
    """A supervisor's hint as the stage's client gives it: with `--host` if it is another host's."""
    address = getattr(stage.client, "address", None)
    return commands_on(address.name, hint) if isinstance(address, KeptHost) else hint


async def first(stream: AsyncIterator[Any], true: Callable[[Any], object]) -> Any:
    """The first of a stream of which it is true."""
    with anyio.fail_after(PATIENCE):
        async for one in stream:
            if true(one):
                return one
    raise AssertionError("the stream ended before")


def watching(client: Supervisor) -> Any:
    """The stream, to be closed at the end of a `with`."""
    return aclosing(cast("Any", client.watch()))


def of(kind: type[WatchLine]) -> Callable[[WatchLine], bool]:
    return lambda line: isinstance(line, kind)


def happened(text: str) -> Callable[[WatchLine], bool]:
    return lambda line: isinstance(line, Happened) and line.event.text == text


# Status and the stream of changes.


async def test_status_has_every_agent_also_one_that_was_never_started(stage: Stage) -> None:
    status = await stage.client.status()
    assert (status.version, status.host) == (1, "local")
    rows = {row.name: row for row in status.agents}
    assert list(rows) == ["api", "cron"]
    assert rows["api"].pane is not None
    assert (rows["cron"].state, rows["cron"].pane) == ("stopped", None)


async def test_watching_again_tells_only_what_has_changed_since(stage: Stage) -> None:
    async with watching(stage.client) as stream:
        snapshot = await anext(stream)
        await stage.change()
        changed = await first(stream, of(AgentChanged))
    assert isinstance(snapshot, Snapshot)

    async def again(since: str | None) -> Any:
        lines: Any = stage.client.watch(since=since)
        async with aclosing(lines) as stream:
            return await anext(stream)

    nothing = await again(changed.position)
    assert isinstance(nothing, Resumed)
    assert (nothing.status.agents, nothing.forgotten) == ([], [])
    everything = await again(snapshot.position)
    assert "cron" in [row.name for row in everything.status.agents]

    await stage.forget()
    less = await again(changed.position)
    assert (less.status.agents, less.forgotten) == ([], ["cron"])
    after = await again(less.position)
    assert after.forgotten == []


@pytest.mark.parametrize("since", ["", "1", "other.1", ".", "other."])
async def test_watching_since_a_place_that_is_unknown_tells_everything(
    stage: Stage, since: str
) -> None:
    lines: Any = stage.client.watch(since=since)
    async with aclosing(lines) as stream:
        assert isinstance(await anext(stream), Snapshot)


async def test_watching_begins_with_everything_then_tells_changes_and_events(stage: Stage) -> None:
    async with watching(stage.client) as stream:
        snapshot = await anext(stream)
        assert isinstance(snapshot, Snapshot)
        assert [row.name for row in snapshot.status.agents] == ["api", "cron"]
        mode = snapshot.status.agents[1].mode
        await stage.change()
        changed = await first(
            stream, lambda line: isinstance(line, AgentChanged) and line.agent.name == "cron"
        )
        assert changed.agent.mode != mode
        await stage.happen("one")
        event = (await first(stream, happened("one"))).event
        assert (event.agent, event.kind, event.text) == ("api", "agent.found", "one")
        assert datetime.fromisoformat(event.at).tzinfo is not None
        await stage.forget()
        assert (await first(stream, of(AgentForgotten))).name == "cron"


async def test_every_watcher_hears_all_events_in_their_order(stage: Stage) -> None:
    texts = [f"number {number}" for number in range(50)]
    async with watching(stage.client) as one, watching(stage.client) as other:
        for stream in (one, other):
            assert isinstance(await anext(stream), Snapshot)
        for text in texts:
            await stage.happen(text)
        for stream in (one, other):
            events = [
                (await first(stream, lambda line: happened(text)(line))).event  # noqa: B023
                for text in texts
            ]
            ids = [event.id for event in events]
            assert ids == sorted(set(ids))


async def test_a_row_is_told_only_when_it_differs_from_the_last_one_told(stage: Stage) -> None:
    """Which may be the one of the snapshot."""

    def cron(line: WatchLine) -> bool:
        return isinstance(line, AgentChanged) and line.agent.name == "cron"

    async with watching(stage.client) as stream:
        mode = (await anext(stream)).status.agents[1].mode
        await stage.touch()
        await stage.change()
        changed = (await first(stream, cron)).agent.mode
        assert changed != mode
        await stage.touch()
        await stage.change()
        assert (await first(stream, cron)).agent.mode == mode


async def test_events_come_by_number_oldest_first(stage: Stage) -> None:
    client = stage.client
    for text in ("a", "b", "c", "d"):
        await stage.happen(text)
    newest = await client.events(limit=3)
    assert [event.text for event in newest] == ["b", "c", "d"]
    b, c, d = (event.id for event in newest)
    assert b < c < d
    assert [event.id for event in await client.events(after=b)] == [c, d]
    assert [event.id for event in await client.events(after=b, limit=1)] == [c]
    assert await client.events(after=d) == []
    assert [event.id for event in await client.events(limit=0)] == [d]
    assert [event.id for event in await client.events(after=b, limit=0)] == [c]


async def test_what_was_missed_is_asked_for_by_number_after_coming_back(stage: Stage) -> None:
    client = stage.client
    async with watching(client) as stream:
        await anext(stream)
        await stage.happen("heard")
        heard = (await first(stream, happened("heard"))).event
        await stage.go_away()
        with pytest.raises(NoSupervisor) as lost, anyio.fail_after(PATIENCE):
            async for _ in stream:
                pass
    assert lost.value.title.removesuffix(" on box") == "Lost connection to the supervisor"
    await stage.come_back()
    await stage.happen("missed")
    missed = await client.events(after=heard.id)
    assert missed[-1].text == "missed"
    assert all(event.id > heard.id for event in missed)
    async with watching(client) as stream:
        assert isinstance(await anext(stream), Snapshot)
        await stage.happen("after")
        after = (await first(stream, happened("after"))).event
    assert after.id > missed[-1].id


# Panes.


async def test_a_pane_is_shown_at_once_and_when_it_changes_until_it_is_gone(stage: Stage) -> None:
    def shows(text: str) -> Callable[[Any], bool]:
        return lambda shot: any(text in line for line in shot.lines)

    shots = cast("Any", stage.client.screen("api"))
    async with aclosing(shots):
        shot = await first(shots, shows("first words"))
        assert shot.pane is not None
        await stage.print("later")
        await first(shots, shows("later"))
        await stage.close_pane()
        with anyio.fail_after(PATIENCE):
            async for _ in shots:
                pass
    assert (await stage.client.status()).agents


async def test_only_an_agent_with_a_pane_can_be_looked_at(stage: Stage) -> None:
    for name, kind, title in (
        ("nobody", NoSuchAgent, "There is no agent 'nobody'"),
        ("cron", NotNow, "cron has no pane"),
    ):
        with pytest.raises(kind) as refused:
            await anext(cast("Any", stage.client.screen(name)))
        assert refused.value.title == title
        assert refused.value.hint


@pytest.mark.parametrize(
    ("name", "kind", "title"),
    [
        ("api", NotNow, "api is not asking anything"),
        ("nobody", NoSuchAgent, "There is no agent 'nobody'"),
    ],
)
async def test_a_dialog_that_is_not_open_is_refused_with_the_next_step(
    stage: Stage, name: str, kind: type[Exception], title: str
) -> None:
    with pytest.raises(kind) as refused:
        await stage.client.dialog(name)
    assert (refused.value.title, bool(refused.value.hint)) == (title, True)  # type: ignore[attr-defined]


# Verbs.

NAMED = (Stop, Send, Handoff, Approve, Refuse, Snooze, Finish, Undo, Attach, Resume)
"""The verbs that need an agent that is there."""


@pytest.mark.parametrize(
    ("name", "hint"), [("nobody", LIST), ("apy", "Did you mean api?")], ids=["unlike", "alike"]
)
async def test_a_verb_for_nobody_is_refused_with_the_next_step(
    stage: Stage, name: str, hint: str
) -> None:
    for kind in NAMED:
        more = {"text": "Go on."} if kind is Send else {}
        with pytest.raises(NoSuchAgent) as refused:
            await stage.client.ask(kind(name=name, **more))  # type: ignore[arg-type]
        error = refused.value
        assert (kind, error.title, error.detail) == (kind, f"There is no agent {name!r}", "")
        assert (kind, error.hint) == (kind, hint_from(stage, hint))
    assert {row.name for row in (await stage.client.status()).agents} == {"api", "cron"}


BAD: dict[str, tuple[Verb, str]] = {
    "no name": (Start(name="No Name"), "is not a valid agent name"),
    "a plan of no name": (Plan(name="../x"), "is not a valid agent name"),
    "not UTF-8": (Stop(name="caf\udce9"), "is not valid UTF-8"),
    "a NUL": (Stop(name="api\0"), "contains a NUL character"),
    "a NUL further in": (Send(name="api", text="a\0b"), "contains a NUL character"),
    "out of bounds": (Snooze.model_construct(name="api", seconds=-1), "snooze is not valid"),
    "another type": (Approve.model_construct(name="api", straight="eh"), "approve is not valid"),
    "nothing": (Stop.model_construct(), "stop is not valid"),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
async def test_a_request_that_makes_no_sense_is_bad_usage(stage: Stage, what: str) -> None:
    verb, title = BAD[what]
    with pytest.raises(BadUsage) as refused:
        await stage.client.ask(verb)
    assert title in refused.value.title


async def test_what_is_done_says_so_and_whose_it_was(stage: Stage) -> None:
    for verb in (Plan(name="cron"), Attach(name="api"), Stop(name="api"), Stop(name="cron")):
        done = await stage.client.ask(verb)
        assert done.message
        assert (verb.verb, done.name) == (verb.verb, verb.name)


# Every verb, done.

Until = Callable[[str, Callable[[AgentStatus], object]], Awaitable[AgentStatus]]
Ask = Callable[[Verb], Awaitable[Done]]
WORKTREE = '[agents.worktree]\nstrategy = "git_worktree"\n'


def idle(row: AgentStatus) -> bool:
    return row.state in {"idle", "done"}


def reviewed(row: AgentStatus) -> object:
    return row.needs and row.needs.kind == "review"


async def one_of_each(config: str, home: str, ask: Ask, until: Until) -> None:
    """Every verb once at least, each where a supervisor does it."""
    await ask(Load(config=config, named=True))
    await ask(Plan(name="api"))
    await ask(Start(name="api"))
    await until("api", idle)
    await ask(Attach(name="api"))
    await ask(Handoff(name="api", dry_run=True))
    await ask(Handoff(name="api", now=True))
    row = await until("api", reviewed)
    await ask(Snooze(name="api", seconds=600))
    await ask(Refuse(name="api"))
    row = await until("api", lambda row: row.handoff is None)
    await ask(Send(name="api", text="Go on."))
    await until("api", idle)
    await ask(Handoff(name="api", now=True))
    row = await until("api", reviewed)
    assert row.handoff is not None
    assert row.handoff.document is not None
    await ask(Approve(name="api"))
    await until("api", lambda row: row.handoff is None and row.session_number == 2)
    await ask(Undo(name="api"))
    await ask(Finish(name="api"))
    await ask(Continue(document=row.handoff.document, name="again", directory=home))
    await ask(Start(name="web"))
    await ask(Stop(name="web"))
    await ask(Stop(name="again"))
    await ask(Rename(name="again", to="later"))
    await ask(Forget(name="later"))
    await ask(RemoveWorktree(tree="web"))
    await ask(Resume())
    await ask(Down())


def of_each(found: list[tuple[Verb, Done]]) -> None:
    """What every answer has: a sentence, and the agent if the verb names one."""
    # A session elsewhere needs a terminal that is not ours: `test_adopt_elsewhere.py` and
    # `test_watch_elsewhere.py`.
    # A dialog needs a real CLI: `tests/journeys/test_answer_claude.py`.
    # A move needs another machine: `tests/supervisor/journeys/test_move.py`.
    elsewhere = {Adopt, WatchSession, DocumentSession, Answer, Moved}
    assert {type(verb) for verb, _ in found} == set(VERBS) - elsewhere
    for verb, done in found:
        assert done.message.strip() == done.message != ""
        name = verb.to if isinstance(verb, Rename) else getattr(verb, "name", None)
        if name is not None:
            assert (verb, done.name) == (verb, name)


async def test_every_verb_is_done_in_memory() -> None:
    stage, found = InMemory(), list[tuple[Verb, Done]]()
    handoff = HandoffStatus(
        id="h-1", reason="manual", phase="review", since="2026-11-21T20:15:00Z", document="/w/h.md"
    )
    row = stage.memory.agent("api").model_copy(update={"handoff": handoff})
    stage.memory.put(row.model_copy(update={"name": "web"}))
    stage.memory.put(row.model_copy(update={"name": "again"}))
    stage.memory.put(row.model_copy(update={"name": "later"}))

    async def ask(verb: Verb) -> Done:
        found.append((verb, await stage.client.ask(verb)))
        return found[-1][1]

    async def until(_name: str, _true: Callable[[AgentStatus], object]) -> AgentStatus:
        return row

    await one_of_each("/w/cockpit.toml", "/w", ask, until)
    of_each(found)
    assert stage.memory.asked == [verb for verb, _ in found]


@pytest.mark.tmux
async def test_every_verb_is_done_over_http(cockpit: Cockpit) -> None:
    found = list[tuple[Verb, Done]]()
    api = cockpit.agent(mode="prompt", steps=3, pause=1, step_tokens=100)
    web = cockpit.agent("web", more=SLEEPER + WORKTREE)

    async def ask(verb: Verb) -> Done:
        found.append((verb, await cockpit.client.ask(verb)))
        return found[-1][1]

    async def until(name: str, true: Callable[[AgentStatus], object]) -> AgentStatus:
        return await cockpit.until(true, name)

    async with cockpit.flying(api, web) as supervisor:
        await one_of_each(str(cockpit.config), str(cockpit.home), ask, until)
        assert supervisor.life.ended.is_set()
    of_each(found)


# What is looked up.


async def test_lookups_are_of_the_agent_that_was_named(stage: Stage) -> None:
    client = stage.client
    assert (await client.course("api")).agent == "api"
    assert (await client.diff("api")).directory
    assert isinstance(await client.facts("api"), dict)
    assert await client.worktrees() == []
    assert await client.worktrees("/nowhere/at/all") == []
    assert await client.worktrees("/nowhere/at/all", sizes=True) == []
    calls: dict[str, Callable[[str], Awaitable[object]]] = {
        "course": client.course,
        "diff": client.diff,
        "facts": client.facts,
        "continuation": client.continuation,
        "history": client.history,
        "search": lambda name: client.history(name, search="auth"),
        "history_page": lambda name: client.history_page(5, None, name),
    }
    for what, call in calls.items():
        with pytest.raises(NoSuchAgent) as refused:
            await call("nobody")
        title, hint = refused.value.title, refused.value.hint
        assert (what, title) == (what, "There is no agent 'nobody'")
        assert (what, hint) == (what, hint_from(stage, LIST))


async def test_a_continuation_needs_a_document(stage: Stage) -> None:
    with pytest.raises(NotNow) as refused:
        await stage.client.continuation("api")
    assert refused.value.detail == "No handoff is in progress."


async def test_a_document_is_read_by_the_id_of_its_handoff(stage: Stage) -> None:
    await stage.remember()
    assert (await stage.client.document("h-1")).endswith("---\nThe token of Auth\n")
    with pytest.raises(NoSuchAgent) as refused:
        await stage.client.document("h-9")
    assert refused.value.title == "There is no handoff 'h-9'"
    assert refused.value.hint == hint_from(stage, "List the handoffs: cockpit history")


# The history.


def idents(chains: list[HistoryChain]) -> set[str]:
    """The handoffs of some chains."""
    return {
        handoff.id for chain in chains for session in chain.sessions for handoff in session.handoffs
    }


async def test_the_history_is_empty_before_anything_was_handed_off(stage: Stage) -> None:
    assert idents(await stage.client.history()) == set()
    page = await stage.client.history_page(5)
    assert (page.chains, page.next, page.total) == ([], None, 0)


async def test_the_history_has_every_job_and_counts_its_handoffs(stage: Stage) -> None:
    await stage.remember()
    chains = {chain.job: chain for chain in await stage.client.history("api")}
    assert [chains[job].handoffs for job in ("job-1", "job-2")] == [2, 1]
    assert not any(chains[job].rebuilt for job in ("job-1", "job-2"))
    assert idents(await stage.client.history()) == {ident for _, ident, _ in HISTORY}


async def test_pages_are_of_the_newest_handoffs_and_count_nothing_of_a_chain(stage: Stage) -> None:
    await stage.remember()
    found, before = [], None
    while True:
        page = await stage.client.history_page(1, before)
        assert page.total == len(HISTORY)
        assert len(page.chains) == 1
        assert page.chains[0].model_fields_set.isdisjoint({"handoffs", "rebuilt"})
        found += sorted(idents(page.chains))
        if page.next is None:
            break
        before = page.next
    assert found == ["h-2", "h-3", "h-1"]
    both = await stage.client.history_page(2)
    assert idents(both.chains) == {"h-2", "h-3"}
    documents = [one.id for c in both.chains for s in c.sessions for one in s.documents]
    assert sorted(documents) == ["h-2", "h-3"]


async def test_a_cursor_that_no_page_gave_is_bad_usage(stage: Stage) -> None:
    await stage.remember()
    with pytest.raises(BadUsage) as refused:
        await stage.client.history_page(1, "h-9")
    assert refused.value.title == "Unknown cursor: no handoff has this id"
    assert refused.value.hint


async def test_a_search_finds_the_handoffs_whose_documents_hold_all_words(stage: Stage) -> None:
    await stage.remember()
    client = stage.client
    for name in (None, "api"):
        ((session,),) = [each.sessions for each in await client.history(name, search="AUTH tok")]
        assert [(one.id, one.found) for one in session.handoffs] == [("h-1", "The token of Auth")]
        assert [one.id for one in session.documents] == ["h-1"]
    assert await client.history("cron", search="auth") == []
    assert await client.history(search="agent") == []  # only of the front matter
    assert idents(await client.history(search="api")) == {"h-1", "h-2", "h-3"}
    assert idents(await client.history(search=" ")) == {"h-1", "h-2", "h-3"}


# Nobody there.

ASKED: dict[str, Callable[[Client], Awaitable[object]]] = {
    "status": lambda client: client.status(),
    "document": lambda client: client.document("h-1"),
    "continuation": lambda client: client.continuation("api"),
    "facts": lambda client: client.facts("api"),
    "history": lambda client: client.history(),
    "history_page": lambda client: client.history_page(5),
    "course": lambda client: client.course("api"),
    "worktrees": lambda client: client.worktrees(),
    "sizes": lambda client: client.worktrees(sizes=True),
    "diff": lambda client: client.diff("api"),
    "screen": lambda client: anext(cast("Any", client.screen("api"))),
}


async def test_every_call_says_that_no_supervisor_is_there_and_works_once_it_is(
    stage: Stage,
) -> None:
    client = stage.client
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        what: lambda call=call: call(client)  # type: ignore[misc]
        for what, call in ASKED.items()
    }
    calls["watch"] = lambda: anext(cast("Any", client.watch()))
    calls["events"] = client.events
    for kind in VERBS:
        fields = {
            name: [1] if field.annotation == list[int] else "api"
            for name, field in kind.model_fields.items()
            if field.is_required()
        }
        calls[kind.verb] = lambda kind=kind, fields=fields: client.ask(kind(**fields))  # type: ignore[misc]
    shots = cast("Any", client.screen("api"))
    await anext(shots)
    await stage.go_away()
    for what, call in calls.items():
        with pytest.raises(NoSupervisor) as gone:
            await call()
        told = gone.value
        title, start = told.title.removesuffix(" on box"), told.hint.endswith(" cockpit up")
        assert (what, title, start) == (what, "No supervisor is running", True)
    with pytest.raises(NoSupervisor) as lost, anyio.fail_after(PATIENCE):
        async for _ in shots:
            pass
    assert lost.value.title.removesuffix(" on box") == "Lost connection to the supervisor"
    await stage.come_back()
    assert [row.name for row in (await client.status()).agents] == ["api", "cron"]
