"""The document of a handoff, rendered, with the question that stands: yes, no, edit, later.

The document is an agent's text: it is cleaned of control bytes, and rendered by a parser that
knows no links, no images and no HTML, so that nothing in it can be clicked or run.
"""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from markdown_it import MarkdownIt
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Markdown

from cockpit.client.client import Client
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.front_matter import load
from cockpit.core.safetext import safe_text
from cockpit.tui.actions import BY_ID, Context
from cockpit.tui.attach import step_aside
from cockpit.tui.background import in_background
from cockpit.tui.bindings import bindings
from cockpit.tui.model import Change, Model
from cockpit.tui.present.keys import shown_key
from cockpit.tui.present.review import (
    facts_line,
    question_spans,
    refusal_spans,
    title_spans,
    without_title,
)
from cockpit.tui.present.span import Span
from cockpit.tui.present.verdicts import verdicts, with_continuation
from cockpit.tui.reasons import waiting_reviews
from cockpit.tui.screens.errands import Errands, cannot, say, tell
from cockpit.tui.screens.place import Page
from cockpit.tui.widgets.line import OneLine, Wrapped
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Done, Refuse, Snooze, Verb

if TYPE_CHECKING:
    from cockpit.tui.surroundings import Surroundings

MOST = 262_144
"""Characters of a document that are rendered; validation keeps documents far below."""

MOST_REASONS = 8
"""Lines in which a refusal is explained."""


def plain_parser() -> MarkdownIt:
    """Headings, lists, tables, code and emphasis: all that a document needs.

    What would make text vanish, as the definition of a link's reference does, is left out too.
    """
    parser = MarkdownIt("gfm-like", {"html": False, "linkify": False})
    return parser.disable(
        ["link", "image", "autolink", "html_inline", "html_block", "linkify", "reference"]
    )


class ReviewScreen(Page):
    """One agent's handoff. It closes when its question is no longer the one that stands."""

    CONTEXT: ClassVar[Context] = "review"
    BINDINGS: ClassVar[list[BindingType]] = bindings("review")

    def __init__(self, model: Model, client: Client, around: Surroundings) -> None:
        super().__init__(model, client, around)
        agent = model.agent
        self.name_of_agent = agent.name if agent else ""
        self.handoff_id = agent.handoff.id if agent and agent.handoff else ""
        self.front = load("")[0]
        self._shown: tuple[str | None, str | None] = (None, None)
        self._drawn = self._told_then = ""
        self._is_read = False
        """What is shown is the document as it was when it was looked at last, and no older one."""
        self._unread: str | None = None
        """Why it could not be looked at, when it could not."""
        self._verdicts = verdicts("")
        self._refused: CockpitError | None = None
        """Why the document that is shown was not taken."""
        self._errands = Errands(self, client)
        self._title = OneLine(
            lambda width: title_spans(self.agent, width, waiting_reviews(model)), id="review-title"
        )
        self._facts = OneLine(
            lambda width: facts_line(self.front, width, str(self._verdicts)), id="facts"
        )
        self._question = Wrapped(id="question")
        self._refusal = Wrapped(most=MOST_REASONS, id="refusal")
        self.document = Markdown("", parser_factory=plain_parser, open_links=False)
        self.text = self._body = VerticalScroll(self.document, id="document")

    @property
    def agent(self) -> AgentStatus | None:
        return self.model.agents.get(self.name_of_agent)

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._facts
        yield self._question
        yield self._refusal
        yield self._body
        yield from self.foot()

    def on_mount(self) -> None:
        self._stop_listening = self.model.listen(self._heard)
        self._body.focus()
        self._show()

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_screen_resume(self) -> None:
        """Its question may have been answered while another screen stood over it."""
        if self.is_mounted:
            self._show()

    def _approve(self) -> None:
        self._agree(straight=False)

    def _approve_straight(self) -> None:
        self._agree(straight=True)

    def _agree(self, *, straight: bool) -> None:
        """Yes, to what stands on the screen: what is on its way there has been read by nobody."""
        if self._is_read or self._shown[0] != "review":
            self._answer(self._yes(straight=straight))
            return
        key = shown_key(BY_ID["review.approve"], self.around.keys)
        again = f"press {key} again once it stands here."
        if self._unread is None:
            cannot(self, f"The document is being read: {again}")
        else:
            cannot(self, f"{self._unread}: it is looked at again, {again}")
            self._look_anew()

    def _yes(self, *, straight: bool) -> Approve:
        """To the question and, under review, the document that are shown, and to no other."""
        read = self._drawn if self._shown[0] == "review" else ""
        return Approve(
            name=self.name_of_agent,
            handoff=self.handoff_id,
            straight=straight,
            sha256=hashlib.sha256(read.encode()).hexdigest() if read else None,
        )

    def _refuse(self) -> None:
        self._answer(Refuse(name=self.name_of_agent, handoff=self.handoff_id))

    def _snooze(self) -> None:
        self._answer(Snooze(name=self.name_of_agent, handoff=self.handoff_id))

    def _snooze_more(self) -> None:
        self._answer(Snooze(name=self.name_of_agent, handoff=self.handoff_id, percent=10))

    def _let_compact(self) -> None:
        self._answer(Refuse(name=self.name_of_agent, handoff=self.handoff_id, compact=True))

    def _edit(self) -> None:
        agent = self.agent
        if agent and agent.handoff and agent.handoff.document:
            file = Path(agent.handoff.document)
            in_background(self, partial(self._edit_file, file), group="edit", alone=True)

    def _next(self) -> None:
        self._go_to(1)

    def _previous(self) -> None:
        self._go_to(-1)

    def _go_to(self, step: int) -> None:
        """Another question that waits, in the place of this one."""
        waiting = waiting_reviews(self.model)
        if self.name_of_agent in waiting:
            place = (waiting.index(self.name_of_agent) + step) % len(waiting)
        else:
            place = 0
        self.model.select(waiting[place])
        self.app.switch_screen(ReviewScreen(self.model, self.client, self.around))

    def _answer(self, verb: Verb) -> None:
        def answered(_done: Done) -> None:
            if self.is_active:
                self.dismiss()

        self._errands.send(verb, answered, self._not_taken)

    def _not_taken(self, error: CockpitError) -> None:
        """What is wrong with the document stands above it; anything else passes.

        A document that is another one by now is shown in its place.
        """
        if isinstance(error, BadUsage):
            self._refused = error
            self._ask()
        else:
            tell(self, error)
            self._look_anew()

    def _ask(self) -> None:
        """The question that stands, or why the answer to it was refused."""
        if self._shown[0] == "review" and not self._is_read:
            self._question.say([Span(" The document is being read …", "muted")])
            self._refusal.say([])
            return
        if self._refused is None:
            self._question.say(question_spans(self.agent))
            self._refusal.say([])
            return
        edit, refuse = (
            shown_key(BY_ID[f"review.{action}"], self.around.keys) for action in ("edit", "refuse")
        )
        self._question.say([])
        self._refusal.say(refusal_spans(self._refused, edit, refuse))

    def _look_anew(self) -> None:
        """Show the document as it is by now; until then nobody can agree to it."""
        self._is_read, self._unread = False, None
        self._ask()
        in_background(self, self._load, group="load", alone=True)

    async def _edit_file(self, file: Path) -> None:
        self._is_read = False
        self._ask()
        try:
            await step_aside(self.app, lambda: self.around.edit(file))
        except Exception as error:  # noqa: BLE001 (whatever went wrong out there is told here)
            tell(self, error)
        self._look_anew()

    def _heard(self, change: Change, name: str | None) -> None:
        if change in {Change.FLEET, Change.CONNECTION} or name == self.name_of_agent:
            self._show()
        elif change is Change.AGENT:
            self._title.show()
            self._keys.show()

    def _show(self) -> None:
        agent = self.agent
        if self.model.part_of(self.name_of_agent).connection.live and not self._stands(agent):
            if self.is_active:  # or else what stands over it would be closed in its place
                say(self, f"{self.name_of_agent}: this question is no longer open.")
                self.dismiss()
            return
        self._title.show()
        self._facts.show()
        self._ask()
        self._keys.show()
        handoff = agent.handoff if agent else None
        shown = (handoff.phase, handoff.document) if handoff else (None, None)
        if shown != self._shown:
            self._shown = shown
            self._look_anew()

    def _stands(self, agent: AgentStatus | None) -> bool:
        return bool(agent and agent.handoff and agent.handoff.id == self.handoff_id)

    async def _load(self) -> None:
        try:
            text = await self.client.document(self.handoff_id)
        except CockpitError as error:
            self._unread = error.title
            tell(self, error)
            return
        self._draw(text, await self._told())
        self._is_read = True
        self._ask()

    async def _told(self) -> str:
        """What the new session will be told; nothing before there is a document to tell of."""
        try:
            return await self.client.continuation(self.name_of_agent)
        except CockpitError:
            return ""

    def _draw(self, text: str, told: str = "") -> None:
        """Show the document, where it is another than the one that is shown.

        Not awaited: cancelling whoever waits for widgets to go cancels the widgets themselves,
        and then Textual, which waits for them too, ends the application without a word.
        """
        if (text, told) == (self._drawn, self._told_then) or not self.is_attached:
            return
        self._told_then = told
        self._drawn = text
        self._refused = None
        self._ask()
        self.front, body = load(text)
        self._verdicts = verdicts(safe_text(body, MOST))
        self._facts.show()
        shown = without_title(self._verdicts.body)
        self.document.update(with_continuation(shown, safe_text(told, MOST)))
