"""Run one action for several marked agents: show the effect on each agent, then each result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from cockpit.client.client import Client
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import CockpitError
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.keys.action import Action
from cockpit.tui.keys.reasons import cannot_approve_marked
from cockpit.tui.present.span import Span
from cockpit.tui.screens.confirm import TOGETHER
from cockpit.tui.screens.help import Sentences
from cockpit.tui.screens.requests import in_one_line, show_message
from cockpit.tui.state.background import in_background
from cockpit.tui.state.model import Model
from cockpit.tui.terminal.paste_guard import key_in_hand
from cockpit.tui.widgets.dialog_keys import ColouredKeys, DialogKeys
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Forget, Send, Stop, Verb

VERBS = {"approve": "Approve", "send": "Send to", "stop": "Stop", "forget": "Forget"}


@dataclass(frozen=True, slots=True)
class Planned:
    """The effect of an action on one marked agent, or the result."""

    name: str
    sentence: str
    """The effect, the reason why the action is refused, or the result."""
    verb: Verb | None
    """The request; None if the action is refused for this agent, or once the result is known."""
    sign: str = " "
    """`✓` if the action is done, `✗` if it was refused; a space until the result is known."""


def plan(model: Model, action: Action, names: Sequence[str], text: str | None) -> list[Planned]:
    """Return the effect of an action on each of these agents; `text` is the prompt to send.

    Agents that are no longer listed are left out.
    """
    planned = []
    for name in names:
        there = model.at(name)
        agent = there.agent
        if agent is None:
            continue
        why_not = cannot_approve_marked if action.id == "approve" else action.why_not
        if (reason := why_not(there)) is not None:
            planned.append(Planned(name, reason, None, "✗"))
        else:
            sentence, verb = _request(action.id, agent, text or "")
            planned.append(Planned(name, sentence, verb))
    return planned


def _request(action: str, agent: AgentStatus, text: str) -> tuple[str, Verb]:
    name, handoff = agent.name, agent.handoff
    if action == "stop":
        kept = "worktree and session are" if agent.worktree else "session is"
        return f"The agent's process ends; its {kept} kept.", Stop(name=name)
    if action == "forget":
        kept = "history, documents and worktree" if agent.worktree else "history and documents"
        sentence = f"The agent is removed from the list; {kept} are kept."
        return sentence, Forget(name=name)
    if action == "send":
        return f"Prompt: {safe_line(text, 60)}", Send(name=name, text=text)
    sentence = "The agent writes its document, which you then review."
    if handoff is not None and handoff.phase == "review":
        sentence = "The session ends, and a new one starts with the document."
        if handoff.not_found:
            sentence += f" cockpit's check of the document: {handoff.not_found}."
    return sentence, Approve(name=name, handoff=handoff.id if handoff else None)


class MarkedScreen(ModalScreen[None]):
    """Lists what happens to each marked agent, asks once, then shows the result for each agent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('y')", "yes", show=False),
        Binding("Y", "answer('Y')", "yes", show=False),
        Binding("n,q,escape,enter,ctrl+c", "leave", "no", show=False),
        Binding("j,down,pagedown,space", "scroll(1)", show=False),
        Binding("k,up,pageup", "scroll(-1)", show=False),
    ]

    def __init__(
        self,
        below: Screen[Any],
        client: Client,
        action: str,
        planned: Sequence[Planned],
        agreed: Callable[[], None],
        confirm: str = "y",
    ) -> None:
        """`below` is the screen that runs the requests, so that they continue after this screen is
        closed. `agreed` is called once, before the first request. `confirm` is the key that agrees,
        `y` or `Y`."""
        super().__init__()
        self._below, self._client, self._action = below, client, action
        self._planned = {entry.name: entry for entry in planned}
        self._agreed = agreed
        self._confirm = confirm
        self._begun = False
        self._after = DialogKeys("Esc back")
        self._after.display = False
        self._title = Static(self._question(), classes="dialog--title", markup=False)
        self.lines = Sentences(self._sentences())

    @property
    def _possible(self) -> list[Planned]:
        return [entry for entry in self._planned.values() if entry.verb is not None]

    def _question(self) -> str:
        verb, possible = VERBS[self._action], len(self._possible)
        every = counted(len(self._planned), "marked agent")
        if not possible:
            return f"{verb} {every}: not possible for any of them"
        of = "" if possible == len(self._planned) else f"{possible} of "
        return f"{verb} {of}{every}?"

    def _sentences(self) -> list[list[Span]]:
        return [
            [
                Span(f"{entry.sign} ", "warning" if entry.sign == "✗" else "key"),
                Span(f"{safe_line(entry.name, 60)}: ", "name"),
                Span(safe_line(entry.sentence, 400), "muted" if entry.sign == "✗" else ""),
            ]
            for entry in self._planned.values()
        ]

    def compose(self) -> ComposeResult:
        asked = [(self._confirm, self._action)] if self._possible else []
        with Vertical(classes="dialog -keys -marked"):
            yield self._title
            yield self.lines
            yield ColouredKeys([*asked, ("Esc", "back")], id="confirm-keys")
            yield self._after

    def action_answer(self, key: str) -> None:
        if key != self._confirm or self._begun or not self._possible:
            return
        burst = key_in_hand(self)
        if burst is not None and burst.keys > 1:
            self.notify(TOGETHER.replace("y", key, 1), severity="warning", markup=False, timeout=5)
            return
        self._begun = True
        self.query_one("#confirm-keys").display = False
        self._after.display = True
        self._agreed()
        for entry in self._possible:
            in_background(self._below, partial(self._ask, entry))

    async def _ask(self, entry: Planned) -> None:
        assert entry.verb is not None
        try:
            done = await self._client.ask(entry.verb)
        except CockpitError as refused:
            result = replace(entry, sentence=in_one_line(refused), verb=None, sign="✗")
        else:
            result = replace(entry, sentence=done.message, verb=None, sign="✓")
        self._planned[entry.name] = result
        if self.is_attached:
            self._show_results()
        else:
            show_message(self._below, f"{entry.name}: {result.sentence}")

    def _show_results(self) -> None:
        every, left = list(self._planned.values()), len(self._possible)
        done = sum(entry.sign == "✓" for entry in every)
        title = f"{VERBS[self._action]}: {done} of {len(every)} done"
        self._title.update(f"{title}, {left} to go" if left else title)
        self.lines.show_sentences(self._sentences())

    def action_scroll(self, direction: int) -> None:
        self.lines.scroll_relative(y=direction, animate=False, force=True)

    def action_leave(self) -> None:
        self.dismiss(None)
