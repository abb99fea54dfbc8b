"""Review of a handoff: its document, rendered, to approve, edit, refuse or snooze.

The document is untrusted text: control bytes are removed, and the rest is rendered without links,
images and HTML, so that nothing in the document can be clicked or run.
"""

from __future__ import annotations

import asyncio
import hashlib
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Markdown

from cockpit.client.client import Client
from cockpit.core.checked_claims import check_claims
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.front_matter import first_section_line, load
from cockpit.core.safetext import safe_text
from cockpit.tui.keys.action import Context, Handlers
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.keys.bindings import bindings
from cockpit.tui.keys.reasons import waiting_reviews
from cockpit.tui.present.keys import shown_key
from cockpit.tui.present.omitted_points import (
    contradicted_points,
    count_of,
    missing_points,
    with_missing,
)
from cockpit.tui.present.review import (
    facts_line,
    question_spans,
    refusal_spans,
    title_spans,
    with_continuation,
    without_title,
)
from cockpit.tui.present.span import Span
from cockpit.tui.screens.base_screen import TextScreen
from cockpit.tui.screens.requests import (
    Requests,
    show_error,
    show_message,
    show_reason,
    snooze_or_wake,
)
from cockpit.tui.screens.successor import SuccessorScreen
from cockpit.tui.state.background import in_background
from cockpit.tui.state.last_request import answered_by
from cockpit.tui.state.model import Change, Model, review_of
from cockpit.tui.terminal.attach import suspend_while
from cockpit.tui.widgets.document import plain_parser, updated
from cockpit.tui.widgets.line import OneLine, Wrapped
from cockpit.wire.facts import SessionFacts
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Done, Handoff, Refuse, Snooze, Verb

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext

MOST = 262_144
"""Maximum characters of a document that are rendered; handoff documents are far smaller."""

COMPARING = "The document is being compared with the session."
FROM_FACTS = "cockpit wrote this document from the session's facts, so it is not compared again."
NO_FRONT = "The document has no front matter yet, so it is not compared with the session."
MOST_REASONS = 8
"""Maximum lines of the reasons why an approval was refused."""


class ReviewScreen(TextScreen):
    """The review of one agent's handoff. Closes after an answer here, or when the handoff ends."""

    CONTEXT: ClassVar[Context] = "review"
    BINDINGS: ClassVar[list[BindingType]] = bindings("review")

    def __init__(self, model: Model, client: Client, ui: UIContext, name: str) -> None:
        """`name` is the agent whose handoff is shown."""
        super().__init__(model, client, ui)
        self.name_of_agent: str = name
        agent = self.agent
        self.handoff_id = agent.handoff.id if agent and agent.handoff else ""
        self.front = load("")[0]
        self._shown: tuple[str | None, str | None] = (None, None)
        self._drawn = self._drawn_continuation = ""
        self._is_read = False
        """Whether the newest document is loaded and shown."""
        self._updating: asyncio.Future[None] | None = None
        self._before_edit: str | None = None
        """The document before an edit by the user, from the start of the edit until the new text is
        loaded; else None."""
        self._checked_body = ""
        """The document with the results of cockpit's checks, before the user's edits."""
        self._unread: str | None = None
        """Why the document could not be loaded; None without an error."""
        self._checked = check_claims("")
        self._missing: tuple[str, ...] = ()
        """Facts of the session that the document leaves out, one line each."""
        self._contradicted: tuple[str, ...] = ()
        """Points of the document that the last checks and failures contradict, one line each."""
        self._missing_shown = False
        self.uncompared = COMPARING
        """Why the document is not compared with the session; empty after the comparison."""
        self._compare_failed = False
        """Whether the comparison failed; the action `review.missing` then compares again."""
        self._refused: CockpitError | None = None
        """Why the approval of the shown document was refused; None if it was not."""
        self._requests = Requests(self, client)
        self._title = OneLine(
            lambda width: title_spans(self.agent, width, waiting_reviews(model)), id="review-title"
        )
        self._facts = OneLine(
            lambda width: facts_line(
                self.front,
                width,
                self._checked,
                count_of(self._missing, self._missing_key(), self._contradicted),
            ),
            id="facts",
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
        yield from self.footer()

    def on_mount(self) -> None:
        self._stop_listening = self.model.listen(self._heard)
        self._body.focus()
        self._show()

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_screen_resume(self) -> None:
        """After another screen was closed, check whether the question is still open."""
        if self.is_mounted:
            self._show()

    def handlers(self) -> Handlers:
        return {
            "review.approve": self._approve,
            "review.approve-straight": self._approve_straight,
            "review.edit": self._edit,
            "review.refuse": self._refuse,
            "review.snooze": self._snooze,
            "review.snooze-more": self._snooze_more,
            "review.let-compact": self._let_compact,
            "review.handoff-to": self._handoff_to,
            "review.missing": self._show_missing,
            "review.next": self._next,
            "review.previous": self._previous,
            "review.down": self._down,
            "review.up": self._up,
            "review.page-down": self._page_down,
            "review.page-up": self._page_up,
            "review.first": self._first,
            "review.last": self._last,
            "review.help": self._help,
            "review.back": self._back,
        }

    def _approve(self) -> None:
        self._approve_shown(straight=False)

    def _approve_straight(self) -> None:
        self._approve_shown(straight=True)

    def _approve_shown(self, *, straight: bool) -> None:
        """Approve, unless a document in review is not shown yet.

        If the document could not be loaded, loads the document again instead.
        """
        if self._is_read or self._shown[0] != "review":
            self._answer(self._approval(straight=straight))
            return
        key = shown_key(BY_ID["review.approve"], self.ui.keys)
        again = f"press {key} again once it is shown."
        if self._unread is None:
            show_reason(self, f"The document is still loading; {again}")
        else:
            show_reason(self, f"{self._unread}. Reloading; {again}")
            self._reload()

    def _approval(self, *, straight: bool) -> Approve:
        """Return an approval bound to the shown question and, in review, the shown document."""
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
        if self.agent is not None:
            self._answer(snooze_or_wake(self.agent, self.handoff_id))

    def _snooze_more(self) -> None:
        self._answer(Snooze(name=self.name_of_agent, handoff=self.handoff_id, percent=10))

    def _let_compact(self) -> None:
        self._answer(Refuse(name=self.name_of_agent, handoff=self.handoff_id, compact=True))

    def _handoff_to(self) -> None:
        agent = self.agent
        if agent is None:
            return
        question = self.handoff_id

        def chosen(runtime: str | None) -> None:
            if runtime:
                self._answer(Handoff(name=agent.name, to=runtime, handoff=question))

        self.app.push_screen(SuccessorScreen(agent, self.model.command_name(agent.name)), chosen)

    def _edit(self) -> None:
        agent = self.agent
        if agent and agent.handoff and agent.handoff.document:
            file = Path(agent.handoff.document)
            in_background(self, partial(self._edit_file, file), group="edit", exclusive=True)

    def _show_missing(self) -> None:
        """Show or hide the missing and the contradicted points above the document."""
        if not self._missing and not self._contradicted:
            self._say_why_none()
            return
        self._missing_shown = not self._missing_shown
        self._update_body()
        self._body.scroll_home(animate=False)

    def _say_why_none(self) -> None:
        """Show why no missing or contradicted points are shown; repeat a comparison that failed."""
        again = f"Press {self._missing_key()} again in a moment."
        if self._unread is not None:
            show_reason(self, f"{self._unread}. Reloading the document. {again}")
            self._reload()
        elif self._compare_failed:
            show_reason(self, f"{self.uncompared} Comparing again. {again}")
            in_background(self, partial(self._compare, self._drawn), group="load", exclusive=True)
        elif self.uncompared == COMPARING:
            show_reason(self, f"{COMPARING} {again}")
        else:
            show_reason(self, self.uncompared or "No missing or contradicted points found.")

    def _missing_key(self) -> str:
        return shown_key(BY_ID["review.missing"], self.ui.keys)

    def _next(self) -> None:
        self._go_to(1)

    def _previous(self) -> None:
        self._go_to(-1)

    def _go_to(self, step: int) -> None:
        """Switch to the next or previous handoff that is waiting for an answer."""
        waiting = waiting_reviews(self.model)
        if self.name_of_agent in waiting:
            place = (waiting.index(self.name_of_agent) + step) % len(waiting)
        else:
            place = 0
        name = waiting[place]
        self.model.select(name)
        self.app.switch_screen(ReviewScreen(self.model, self.client, self.ui, name))

    def _answer(self, verb: Verb) -> None:
        def answered(_done: Done) -> None:
            if self.is_active:
                self.dismiss()

        self._requests.send(verb, answered, self._show_refusal)

    def _show_refusal(self, error: CockpitError) -> None:
        """Show a document's faults above the document, and any other error as a toast.

        After a toast, loads the document again, because the document may have changed.
        """
        if isinstance(error, BadUsage):
            self._refused = error
            self._ask()
        else:
            show_error(self, error)
            self._reload()

    def _ask(self) -> None:
        """Show the question, why the approval was refused, or that the document is loading."""
        if self._shown[0] == "review" and not self._is_read:
            self._question.set_spans([Span(" Loading the document…", "muted")])
            self._refusal.set_spans([])
            return
        if self._refused is None:
            self._question.set_spans(question_spans(self.agent))
            self._refusal.set_spans([])
            return
        edit, refuse = (
            shown_key(BY_ID[f"review.{action}"], self.ui.keys) for action in ("edit", "refuse")
        )
        self._question.set_spans([])
        self._refusal.set_spans(refusal_spans(self._refused, edit, refuse))

    def _reload(self) -> None:
        """Load the document again; approving is blocked until the document is shown."""
        self._is_read, self._unread = False, None
        self._ask()
        in_background(self, self._load, group="load", exclusive=True)

    async def _edit_file(self, file: Path) -> None:
        self._is_read = False
        self._before_edit = self._drawn
        self._ask()
        line = first_section_line(self._drawn)
        try:
            await suspend_while(self.app, lambda: self.ui.edit(file, line))
        except Exception as error:  # noqa: BLE001 (every error is shown here)
            show_error(self, error)
        self._reload()

    def _heard(self, change: Change, name: str | None) -> None:
        if change in {Change.FLEET, Change.CONNECTION} or name == self.name_of_agent:
            self._show()
        elif change is Change.AGENT:
            self._title.show()
            self._keys.show()

    def _show(self) -> None:
        agent = self.agent
        if self.model.part_of(self.name_of_agent).connection.live and not self._is_current(agent):
            if self.is_active:  # otherwise `dismiss` would close the screen above this one
                text = f"{self.name_of_agent}: this question is no longer open."
                by = answered_by(agent, datetime.now(UTC), self.handoff_id)
                show_message(self, f"{text} {by}".rstrip())
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
            self._reload()

    def _is_current(self, agent: AgentStatus | None) -> bool:
        return bool(agent and agent.handoff and agent.handoff.id == self.handoff_id)

    async def _load(self) -> None:
        try:
            text = await self.client.document(self.handoff_id)
        except CockpitError as error:
            self._unread = error.title
            show_error(self, error)
            return
        self._draw(text, await self._load_continuation())
        await self._wait_for_body()
        self._is_read = True
        if (agent := self.agent) is not None:
            self.model.read_reviews.add(review_of(agent))
        self._ask()
        if self._before_edit not in (None, text):
            show_message(self, "Saved. cockpit checks your changes against git after you approve.")
        self._before_edit = None
        await self._compare(text)

    async def _compare(self, text: str) -> None:
        """Compare the agent's document with the facts of the session.

        Finds facts that the document leaves out, and points that the facts contradict.
        """
        missing: tuple[str, ...] = ()
        contradicted: tuple[str, ...] = ()
        self.uncompared, self._compare_failed = COMPARING, False
        uncompared = NO_FRONT if self.front is None else FROM_FACTS
        if self.front is not None and self.front.writer != "facts":
            try:
                facts = SessionFacts.model_validate(await self.client.facts(self.name_of_agent))
            except (CockpitError, ValueError) as error:
                # The document can be answered without the comparison.
                why = error.title if isinstance(error, CockpitError) else "The facts cannot be read"
                self.uncompared = f"The comparison with the session failed: {why.rstrip('.')}."
                self._compare_failed = True
                return
            uncompared = ""
            missing = await asyncio.to_thread(missing_points, text, facts)
            contradicted = await asyncio.to_thread(contradicted_points, text, facts)
        self.uncompared = uncompared
        changed = (missing, contradicted) != (self._missing, self._contradicted)
        if self.is_attached and text == self._drawn and changed:
            self._missing, self._contradicted = missing, contradicted
            self._missing_shown = False
            self._update_body()
            self._facts.show()

    async def _load_continuation(self) -> str:
        """Return the new session's first prompt; empty if it cannot be read."""
        try:
            return await self.client.continuation(self.name_of_agent)
        except CockpitError:
            return ""

    def _draw(self, text: str, continuation: str = "") -> None:
        """Show the document if it differs from the document on the screen."""
        if (text, continuation) == (self._drawn, self._drawn_continuation) or not self.is_attached:
            return
        self._drawn_continuation = continuation
        self._drawn = text
        self._refused = None
        self._ask()
        self.front, body = load(text)
        body = safe_text(body, MOST)
        if self._before_edit is None:
            self._checked_body = body
        self._checked = check_claims(body, self._checked_body)
        self._missing, self._contradicted, self._missing_shown = (), (), False
        self._facts.show()
        self._update_body()

    async def _wait_for_body(self) -> None:
        """Wait until the document is on the screen."""
        if self._updating is not None:
            await asyncio.shield(self._updating)

    def _update_body(self) -> None:
        shown = without_title(self._checked.body)
        if self._missing_shown:
            shown = with_missing(shown, self._missing, self._contradicted)
        continuation = safe_text(self._drawn_continuation, MOST)
        self._updating = asyncio.ensure_future(
            updated(self.document, with_continuation(shown, continuation))
        )
