"""`cockpit answer`: answer the dialog that is open in an agent's pane, with the CLI's own keys.

The pane is checked before each key. A key is pressed only while the open dialog is the one that the
user saw, and no key is pressed after the one that submits the answer.

A hook's response could decide without keys. But the hook would have to wait for the user while the
CLI shows no dialog, and a response cannot choose *don't ask again*, answer a question or approve a
plan.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from cockpit.core import dialogs
from cockpit.core.dialogs import LONGEST_TEXT, Dialog, OpenDialog, Stuck, is_same_page
from cockpit.core.errors import BadUsage, Failed, NotNow
from cockpit.core.ids import PaneId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.dialog_view import look, open_question, to_wire
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.agents.locks import PATIENCE, AgentLocks
from cockpit.supervisor.dependencies import Dependencies
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.verbs import Answer, Done

MOST_STEPS = 40
"""Maximum keys for one answer."""
STEP_SHOWN = 8.0
"""Seconds within which the pane must show the effect of a key."""
CLOSES_WITHIN = 10.0
"""Seconds within which the dialog must close after the last key."""
TAKES_KEYS = 0.5
"""Seconds between the hook's report and the first key. Claude Code draws a dialog before it reads
keys for it; an earlier key is lost."""
RESULT_WITHIN = 4.0
"""Seconds to wait for the hook or the transcript to report the result."""
LOOK = 0.05
TOOL_RAN = "the tool ran"
MOST_REMEMBERED = 100


class AnswerHandler:
    """Answers dialogs (`Answer`), and shows them. Holds the agent's lock while pressing keys."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        locks: AgentLocks,
        consider: Callable[[Agent], Awaitable[None]],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._locks = locks
        self._consider = consider
        self._answered: dict[str, None] = {}
        """Identities of answered dialogs, oldest first."""

    async def show(self, agent: Agent) -> DialogStatus:
        """Return the agent's open dialog, or why cockpit cannot answer it.

        Raises `NotNow` if no dialog is open.
        """
        dialog = await look(agent, self._dependencies.panes)
        if isinstance(dialog, OpenDialog) and dialog.identity in self._answered:
            return DialogStatus(refusal="the dialog was just answered, but is still open")
        return to_wire(dialog, self._redact(agent))

    def _redact(self, agent: Agent) -> Callable[[str], str]:
        redactor = redactor_of(self._dependencies.environment, agent)
        return lambda text: redactor.redact(text).text

    async def __call__(self, asked: Answer) -> Done:
        """Answer the requested dialog.

        Raises `NotNow` if another dialog is open, or none. Raises `BadUsage` if the dialog does not
        allow the answer.
        """
        text = dialogs.one_text_line(asked.text)
        if len(text) > LONGEST_TEXT:
            raise BadUsage(
                f"The text is longer than {LONGEST_TEXT} characters",
                hint="Write a shorter text; send the rest when the dialog has closed.",
            )
        async with self._locks.hold(asked.name, "having a dialog answered", patience=PATIENCE):
            agent = self._fleet.agent(asked.name)
            dialog = await self._wanted(agent, asked.dialog)
            answer = _answer(dialog.dialog, asked.choices, text)
            await self._until_ready(agent)
            before = _Results(agent)
            at = await self._give(agent, dialog, answer)
            following = await self._closed(agent, dialog, before)
            if following is None:
                agent.session_state.activity.apply_transcript(working=True, at=at)
        await self._consider(agent)
        chosen = ", ".join(dialog.dialog.choices[n].label for n in answer.choices) or "nothing"
        if following is not None:
            return Done(
                message=f'{agent.name}: answered "{chosen}"; it asks: {following}',
                name=agent.name,
            )
        result = await self._result(before)
        message = f'{agent.name}: answered "{chosen}"'
        # To the user, a question is not a tool that runs.
        if dialog.dialog.kind != "question" or result != TOOL_RAN:
            message += f"; {result}"
        return Done(message=message, name=agent.name)

    async def _wanted(self, agent: Agent, identity: str) -> OpenDialog:
        if identity in self._answered:
            raise NotNow(
                f"This dialog of {agent.name} was already answered",
                "No key was pressed.",
                f"See the open dialog: cockpit answer {agent.name}",
            )
        dialog = await look(agent, self._dependencies.panes)
        if isinstance(dialog, str):
            raise NotNow(
                f"The dialog of {agent.name} cannot be answered from here",
                f"No key was pressed: {dialog}.",
                f"Answer in the agent's pane: cockpit attach {agent.name}",
            )
        if dialog.identity != identity:
            raise NotNow(
                f"Another dialog of {agent.name} is open now",
                f"No key was pressed. The open dialog: {self._redact(agent)(summary(dialog))}",
                f"Read the dialog, then answer: cockpit answer {agent.name}",
            )
        return dialog

    async def _until_ready(self, agent: Agent) -> None:
        """Wait until the CLI takes keys for a dialog that has just opened."""
        _, asked_at = open_question(agent)
        left = asked_at + TAKES_KEYS - self._dependencies.clock.steady()
        if 0 < left <= TAKES_KEYS:
            await self._dependencies.clock.sleep(left)

    async def _give(self, agent: Agent, dialog: OpenDialog, answer: dialogs.Answer) -> float:
        """Press the keys of the answer. Return the time of the last key, by `Clock.steady`."""
        pane, process, question = agent.record.pane, agent.process, open_question(agent)
        assert pane is not None
        place = answer.choices[0] if answer.text else None
        seen, pressed = dialog.seen, False
        for _ in range(MOST_STEPS):
            step = agent.runtime.dialog_step(seen, answer)
            if isinstance(step, Stuck):
                raise _stopped(agent, step.why, pressed=pressed)
            if agent.process != process or open_question(agent) != question:
                raise _stopped(agent, "the dialog changed", pressed=pressed)
            if step.last:
                self._remember(dialog.identity)
                at = self._dependencies.clock.steady()
                await self._dependencies.panes.press(pane, step.key)
                return at
            pressed = True
            if step.paste:
                await self._dependencies.panes.paste(pane, step.paste)
            else:
                await self._dependencies.panes.press(pane, step.key)
            after = await self._changed(agent, pane, seen)
            if after is None:
                raise _stopped(agent, "the pane does not show the key's effect", pressed=pressed)
            if not is_same_page(dialog.seen, after, place):
                raise _stopped(agent, "the pane shows another dialog", pressed=pressed)
            seen = after
        raise _stopped(agent, "the answer needs too many keys", pressed=pressed)

    async def _changed(self, agent: Agent, pane: PaneId, before: Dialog) -> Dialog | None:
        """Return the dialog once it differs from `before`.

        None if the pane shows no different dialog within `STEP_SHOWN` seconds.
        """
        clock, now = self._dependencies.clock, None
        until = clock.monotonic() + STEP_SHOWN
        while clock.monotonic() < until:
            now = agent.runtime.open_dialog(await self._dependencies.panes.capture(pane))
            if now is not None and now != before:
                # A long paste can be drawn in parts: wait until two captures are equal.
                await clock.sleep(LOOK)
                if now == agent.runtime.open_dialog(await self._dependencies.panes.capture(pane)):
                    return now
            await clock.sleep(LOOK)
        return None

    async def _closed(self, agent: Agent, dialog: OpenDialog, before: _Results) -> str | None:
        """Wait until the dialog has closed. Return the next question of the same request, or None.

        Raises `Failed` if the dialog stays open or the agent ends.
        """
        clock, panes, pane = self._dependencies.clock, self._dependencies.panes, agent.record.pane
        assert pane is not None
        until, gone = clock.monotonic() + CLOSES_WITHIN, 0
        while True:
            seen = agent.runtime.open_dialog(await panes.capture(pane))
            gone = gone + 1 if seen is None else 0
            if gone == 2:  # the first capture can show a pane that is still being drawn
                return None
            if before.since() is not None and not before.same_question():
                return None  # the pane shows the next dialog, perhaps with the same text
            if seen is not None and not is_same_page(dialog.seen, seen, None):
                now = await self._looked(agent)
                if isinstance(now, OpenDialog) and now.identity != dialog.identity:
                    return self._redact(agent)(summary(now))
            if clock.monotonic() > until or not agent.alive:
                break
            await clock.sleep(LOOK)
        if before.since() is None:
            self._answered.pop(dialog.identity, None)
        if not agent.alive:
            raise Failed(
                f"{agent.name} ended while its dialog was answered",
                "It is unknown whether the answer was accepted.",
                f"See how the agent ended: cockpit status {agent.name}",
            )
        raise Failed(
            f"{agent.name} did not accept the answer",
            "The key was pressed, but the dialog is still open.",
            f"Check the agent's pane: cockpit attach {agent.name}",
        )

    async def _looked(self, agent: Agent) -> OpenDialog | str:
        try:
            return await look(agent, self._dependencies.panes)
        except NotNow as closed:
            return closed.title

    async def _result(self, before: _Results) -> str:
        """Return a clause about the tool call's result, from the hook or the transcript."""
        clock = self._dependencies.clock
        until = clock.monotonic() + RESULT_WITHIN
        while clock.monotonic() < until:
            if (result := before.since()) is not None:
                return result
            await clock.sleep(LOOK)
        return "the dialog has closed; its result is not known yet"

    def _remember(self, identity: str) -> None:
        self._answered[identity] = None
        while len(self._answered) > MOST_REMEMBERED:
            del self._answered[next(iter(self._answered))]


class _Results:
    """The result that a session reports about a dialog after this object was created."""

    def __init__(self, agent: Agent) -> None:
        self._state = agent.session_state
        self._asked_at = self._state.activity.asked_at
        self._tools, self._refused = self._state.activity.tools, self._state.refusals

    def same_question(self) -> bool:
        """Return whether hooks have reported neither another dialog nor the end of this one."""
        activity = self._state.activity
        return activity.dialog is not None and activity.asked_at == self._asked_at

    def since(self) -> str | None:
        if self._state.refusals > self._refused:
            return "the tool was refused"
        if self._state.activity.tools > self._tools:
            return TOOL_RAN
        return None


def _answer(seen: Dialog, numbers: list[int], text: str) -> dialogs.Answer:
    """Return an answer with these choices, numbered from 1, and this text.

    Raises `BadUsage` if the dialog does not allow the answer.
    """
    places = tuple(dict.fromkeys(number - 1 for number in numbers))
    most = len(seen.choices)
    if any(not 0 <= place < most for place in places):
        raise BadUsage("No such choice", hint=f"Give a number from 1 to {most}.")
    if len(places) != 1 and not seen.multiple:
        raise BadUsage("This dialog takes one choice", hint=f"Give a number from 1 to {most}.")
    takes = seen.choices[places[0]].text if len(places) == 1 else "no"
    if text and takes == "no":
        raise BadUsage("This choice takes no text", hint="Choose an option that takes text.")
    if takes == "must" and not text:
        raise BadUsage("This choice needs text", hint="Give the text with --text.")
    return dialogs.Answer(places, text)


def summary(dialog: OpenDialog) -> str:
    """Return the question, or else the tool and the first line of the tool's request."""
    seen = dialog.dialog
    if seen.kind == "question":
        return seen.question
    first = dialog.text.strip().split("\n", 1)[0]
    return f"{seen.tool} {first[:120]}"


def _stopped(agent: Agent, why: str, *, pressed: bool) -> NotNow:
    keys = (
        "cockpit sent some keys to the pane, but did not complete the answer"
        if pressed
        else "cockpit sent no key to the pane"
    )
    return NotNow(
        f"The dialog of {agent.name} cannot be answered from here",
        f"{keys}: {why}.",
        f"Answer in the agent's pane: cockpit attach {agent.name}",
    )
