"""List the sessions that cockpit did not start, on every host.

The user can adopt or watch a session, or let a copy of the session write a handoff document.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.keys.action import Context, Handlers
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.keys.bindings import bindings
from cockpit.tui.present.elsewhere import (
    detail,
    document_question,
    drawn,
    question,
    refused,
    short_id,
)
from cockpit.tui.present.keys import shown_key
from cockpit.tui.present.span import Span, broken, fit
from cockpit.tui.screens.base_screen import BaseScreen
from cockpit.tui.screens.confirm import ConfirmScreen
from cockpit.tui.screens.requests import show_error, show_message, show_reason
from cockpit.tui.state.background import in_background
from cockpit.tui.state.model import Change, Model
from cockpit.tui.widgets.blocks import Blocks
from cockpit.tui.widgets.line import OneLine
from cockpit.tui.widgets.text_view import TextView
from cockpit.wire.status import ElsewhereSession
from cockpit.wire.verbs import Adopt, DocumentSession, WatchSession

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext

LOOK = 5.0
"""Seconds between two requests for the list, while no other screen covers this one."""
BESIDE = 110
"""Minimum columns of a terminal that shows the details beside the list."""
BLOCK = 4
"""Usual lines of one session in the list, including an empty line."""
SHORT = 20
"""On a terminal narrower than `BESIDE`: minimum lines to show the details without a key press."""
OFF = "Sessions are not listed. To list them, set in cockpit.toml: [elsewhere] show = true"
ADOPTING = "◌ Adopting the session: waiting for its process to end."
WRITING = "◌ A copy of the session is writing its handoff document."
BUSY = "Wait until the current request for this session has finished."
CONTINUE = "To continue from the document: cockpit continue PATH --name NAME"


class ElsewhereScreen(BaseScreen):
    """The list of sessions, and the details of the selected session."""

    CONTEXT: ClassVar[Context] = "elsewhere"
    BINDINGS: ClassVar[list[BindingType]] = bindings("elsewhere")
    AUTO_FOCUS = "#elsewhere"

    def __init__(self, model: Model, client: Client, ui: UIContext) -> None:
        super().__init__(model, client, ui)
        self._sessions: list[ElsewhereSession] | None = None
        """The sessions; None until the first response."""
        self._is_off = False
        """Whether the list is switched off on every host."""
        self._count_known = model.elsewhere
        self._under_way: dict[str, str] = {}
        """The text shown while a session is adopted or its document is written, by session id."""
        self._refusals: dict[str, CockpitError] = {}
        """Why a session was not adopted, or its document was not written, by session id."""
        self._documents: dict[str, str] = {}
        """Paths of the documents that were written from this screen, by session id."""
        self._title = OneLine(self._count, id="elsewhere-title")
        self.listing = Blocks(self._say, self._say_after, id="elsewhere")
        self.detail = TextView(self._say_all, id="elsewhere-detail")

    @property
    def has_items(self) -> bool:
        return self._sessions is None or bool(self._sessions)

    @property
    def chosen(self) -> ElsewhereSession | None:
        """The selected session."""
        return self._sessions[self.listing.selected] if self._sessions else None

    def compose(self) -> ComposeResult:
        yield self._title
        with Container(id="elsewhere-body"):
            yield self.listing
            yield self.detail
        yield from self.footer()

    def on_mount(self) -> None:
        self._stop_listening = self.model.listen(self._heard)
        self._clock = self.set_interval(LOOK, self._again)
        self._arrange()
        self._again()

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_resize(self) -> None:
        self._arrange()

    def on_screen_suspend(self) -> None:
        self._clock.pause()

    def on_screen_resume(self) -> None:
        self._clock.resume()

    def reconnected(self) -> None:
        self._again()

    @on(Blocks.Moved)
    def _moved(self) -> None:
        self.detail.scroll_to(y=0, animate=False, force=True)
        self.detail.show()

    def handlers(self) -> Handlers:
        return {
            "elsewhere.open": self._open,
            "elsewhere.down": partial(self.listing.move, 1),
            "elsewhere.up": partial(self.listing.move, -1),
            "elsewhere.page-down": partial(self._page, 1),
            "elsewhere.page-up": partial(self._page, -1),
            "elsewhere.first": partial(self.listing.move, -10_000),
            "elsewhere.last": partial(self.listing.move, 10_000),
            "elsewhere.adopt": self._adopt,
            "elsewhere.watch": self._watch,
            "elsewhere.document": self._document,
            "elsewhere.help": self._help,
            "elsewhere.back": self._leave,
        }

    def _again(self) -> None:
        if self.model.any_live:
            in_background(self, self._look, group="load", exclusive=True)

    # Moving

    def _arrange(self) -> None:
        size = self.app.size
        self.set_class(size.width >= BESIDE, "-beside")
        self.set_class(size.height < SHORT and size.width < BESIDE, "-short")
        self.set_class(not self._sessions, "-empty")
        if not self._sessions:
            self.remove_class("-open")
        above = self._sessions and not (self.has_class("-beside") or self.has_class("-short"))
        needed = BLOCK * len(self._sessions or ()) + len(self.model.lost)
        most = max(BLOCK, size.height // 3)
        self.listing.styles.height = min(most, needed) if above else "1fr"

    def _open(self) -> None:
        if self.chosen is None:
            show_reason(self, self._none())
        else:
            self.toggle_class("-open")
            self.set_focus(self.detail if self.has_class("-open") else self.listing)

    def _leave(self) -> None:
        if self.has_class("-open"):
            self._open()
        else:
            self._back()

    def _page(self, direction: int) -> None:
        step = direction * max(1, self.detail.size.height - 2)
        self.detail.scroll_relative(y=step, animate=False, force=True)

    # Adopting

    def _adopt(self) -> None:
        session = self.chosen
        if session is None:
            show_reason(self, self._none())
        elif session.session_id in self._under_way:
            show_reason(self, BUSY)
        elif session.refusal:
            show_reason(self, safe_line(session.refusal, 400))
        else:
            self._confirm(session)

    def _none(self) -> str:
        if self._is_off:
            return OFF
        return "The list is still loading." if self._sessions is None else "There are no sessions."

    def _confirm(self, session: ElsewhereSession) -> None:
        def decided(yes: bool | None) -> None:
            if yes:
                # A task of the application, so that it continues when the screen is left.
                in_background(self.app, partial(self._have_adopted, session), group="adoptions")

        title = f"Adopt session {short_id(session)}?"
        self.app.push_screen(ConfirmScreen(title, question(session), "adopt it"), decided)

    async def _have_adopted(self, session: ElsewhereSession) -> None:
        ident = session.session_id
        self._under_way[ident] = ADOPTING
        self._refusals.pop(ident, None)
        self._show()
        try:
            done = await self.client.ask(Adopt(session=ident, pid=session.pid))
        except CockpitError as error:
            self._refusals[ident] = error
            show_error(self.app.screen, error)
        else:
            show_message(self.app.screen, done.message)
            self.model.select(done.name)
        finally:
            self._under_way.pop(ident, None)
            self._show()
            if self.is_attached:
                self._again()

    # The handoff document

    def _document(self) -> None:
        session = self.chosen
        if session is None:
            show_reason(self, self._none())
        elif session.session_id in self._under_way:
            show_reason(self, BUSY)
        else:
            self._confirm_document(session)

    def _confirm_document(self, session: ElsewhereSession) -> None:
        def decided(yes: bool | None) -> None:
            if yes:
                work = partial(self._have_documented, session)
                in_background(self.app, work, group="documents")

        title = f"Write the handoff document of session {short_id(session)}?"
        screen = ConfirmScreen(title, document_question(session), "write it")
        self.app.push_screen(screen, decided)

    async def _have_documented(self, session: ElsewhereSession) -> None:
        ident = session.session_id
        self._under_way[ident] = WRITING
        self._refusals.pop(ident, None)
        self._show()
        try:
            done = await self.client.ask(DocumentSession(session=ident, pid=session.pid))
        except CockpitError as error:
            self._refusals[ident] = error
            show_error(self.app.screen, error)
        else:
            self._documents[ident] = done.document or ""
            show_message(self.app.screen, done.message)
        finally:
            self._under_way.pop(ident, None)
            self._show()

    # Watching

    def _watch(self) -> None:
        session = self.chosen
        if session is None:
            show_reason(self, self._none())
        else:
            in_background(self, partial(self._have_watched, session), group="watches")

    async def _have_watched(self, session: ElsewhereSession) -> None:
        asked = WatchSession(session=session.session_id, pid=session.pid, stop=session.watched)
        try:
            done = await self.client.ask(asked)
        except CockpitError as error:
            show_error(self.app.screen, error)
            return
        show_message(self.app.screen, done.message)
        if self.is_attached:
            self._again()

    # Drawing

    def _heard(self, change: Change, _name: str | None) -> None:
        if change is Change.CONNECTION:
            self.set_class(not self.model.any_live, "-lost")
            self.listing.show()
        elif change is Change.FLEET and self.model.elsewhere != self._count_known:
            self._count_known = self.model.elsewhere
            self._again()

    def _show(self) -> None:
        if self.is_attached:
            self.listing.show()
            self.detail.show()

    def _count(self, width: int) -> list[Span]:
        title = " Elsewhere "
        many = (
            ""
            if self._sessions is None or self._is_off
            else counted(len(self._sessions), "session")
        )
        return [Span(title, "brand"), Span(fit(f" {many}", max(0, width - len(title))), "muted")]

    def _say(self, place: int, width: int) -> list[list[Span]]:
        assert self._sessions is not None
        session = self._sessions[place]
        progress = self._under_way.get(session.session_id, "")
        return drawn(session, datetime.now(UTC), width, progress, self.ui.home)

    def _say_all(self, width: int, _height: int) -> list[list[Span]]:
        """Return the details of the selected session."""
        session = self.chosen
        if session is None:
            return []
        request: list[Span] = []
        if progress := self._under_way.get(session.session_id):
            request = [Span(progress, "accent")]
        elif (error := self._refusals.get(session.session_id)) is not None:
            request = refused(error.title, error.detail, error.hint)
        elif path := self._documents.get(session.session_id):
            main = self.model.main
            host = session.host or (main.host if main.is_remote else "")
            command = f"{CONTINUE} --host {safe_line(host, 32)}" if host else CONTINUE
            request = [Span("The handoff document:", "name"), Span(path), Span(command)]
        key = shown_key(BY_ID["elsewhere.adopt"], self.ui.keys)
        return detail(session, datetime.now(UTC), width, self.ui.home, request, key)

    def _say_after(self, width: int) -> list[list[Span]]:
        """Return the lines below the list: the list's state, and hosts that do not answer."""
        lines: list[str] = []
        if self._sessions is None:
            lines.append("  loading…")
        elif self._is_off:
            lines.append(f"  {OFF}")
        elif not self._sessions:
            lines.append("  No sessions found outside cockpit.")
        for part in self.model.lost:
            host = safe_line(part.host, 32)
            lines.append(f"  {host} does not answer: its sessions are not listed")
        return [[Span(piece, "muted")] for line in lines for piece in broken(line, width)]

    async def _look(self) -> None:
        try:
            sessions = await self.client.elsewhere()
        except CockpitError as error:
            if self._sessions is None:
                show_error(self, error)
            return
        if self.is_attached:
            self._is_off = sessions is None
            self._sessions = sessions or []
            self._title.show()
            self.listing.show([f"{session.session_id} {session.pid}" for session in self._sessions])
            self._arrange()
            self.detail.show()
            self._keys.show()
