"""The papers of a handoff: drafts, documents, their copies, and the words of the successor.

Puts together what the record and git say with what a writer wrote, and has it sealed on disk
before anybody hears of it. Ends and starts nothing.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.document_template import laid_out
from cockpit.adapters.private_file import write_private
from cockpit.core import composition, document
from cockpit.core.claimed_files import Trace
from cockpit.core.continuation import Succession, continuation
from cockpit.core.errors import Failed
from cockpit.core.facts import CommitMade, Facts, Subagent
from cockpit.core.front_matter import FrontMatter
from cockpit.core.handoff.states import Document, Writer
from cockpit.core.ids import HandoffId
from cockpit.core.markdown import shortened
from cockpit.core.redaction import Redactor
from cockpit.core.request import request_reply
from cockpit.core.supplement import Ground, Occasion, supplement
from cockpit.core.verified_facts import GitView, claimed_commits
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agreeing import agreed_text
from cockpit.supervisor.feed import rfc3339
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.secrecy import redactor_of
from cockpit.supervisor.sessions import Sessions

HOOK_ANSWER = 10_000
"""Characters that a hook may answer; a taken-out secret can be shorter than its mark."""


class Paperwork:
    """Writes for the handoffs of all seats."""

    def __init__(self, instruments: Instruments, sessions: Sessions) -> None:
        self._in = instruments
        self._sessions = sessions

    # Drafts

    async def draft_place(self, seat: Seat, ident: HandoffId) -> Path:
        """Where the agent will be asked to write; its folder is made and kept out of git."""
        folder = seat.settings.handoff.directory
        path = await asyncio.to_thread(
            self._in.documents.draft_path, seat.directory, ident, str(folder)
        )
        await self._in.worktrees.keep_out(seat.directory, f"/{Path(folder).parts[0]}/")
        return path

    async def draft_of_facts(self, seat: Seat) -> str:
        """A draft that no model wrote, for the pilot to look at; its path."""
        assert seat.handoff_record is not None
        text = await self._composed(seat, "facts", None)
        path = self._in.places.handoffs / f"draft-{seat.handoff_record.id}.md"
        await asyncio.to_thread(write_private, path, text.encode())
        return str(path)

    async def preview(self, seat: Seat, given: str | None) -> str:
        """The document that would be written now: of a given one, or of facts alone."""
        text = await asyncio.to_thread(self._in.documents.read_own, Path(given)) if given else None
        return await self._composed(seat, "agent" if given else "facts", text)

    # Documents

    async def seal(self, seat: Seat, writer: str) -> Document:
        """The writer's text completed, checked and durably on disk, with its copy.

        Raises `CockpitError` or `OSError` when there is nothing valid to seal. The agent's draft
        stays until the handoff is over: what is not written down yet is done again, from it.
        """
        assert seat.handoff is not None
        assert seat.handoff_record is not None
        chosen = _writer(writer)
        draft = await self._draft(seat, chosen)
        text = await self._composed(seat, chosen, draft)
        problems = document.validate(text, complete=True)
        if problems:
            raise Failed("The document is not valid", "; ".join(each.text for each in problems))
        return await asyncio.to_thread(self._save, seat, text, chosen)

    async def refresh(self, seat: Seat, agreed: Document) -> Document:
        """The sealed document with facts of now, sealed again in its place."""
        assert seat.handoff_record is not None
        held = await agreed_text(self._in, seat, agreed)
        chosen = _writer(seat.handoff_record.writer)
        keep = chosen != "facts" or seat.handoff_record.details.get("edited")
        text = await self._composed(seat, chosen, held if keep else None)
        problems = document.validate(text, complete=True)
        if problems:
            raise Failed("The renewed document is not valid", "; ".join(map(str, problems)))
        sealed = await asyncio.to_thread(
            self._in.documents.reseal, Path(agreed.path), seat.handoff_record.id, text
        )
        return Document(str(sealed.path), sealed.sha256, chosen)

    def continuation(self, seat: Seat, sealed: Document) -> str:
        """The successor's first prompt; secrets taken out, since it stands among arguments."""
        record, place = seat.handoff_record, self._place_of_successor(seat)
        loop = seat.settings.loop
        try:
            read = document.read(Path(sealed.path).read_text("utf-8"))
            first_step = read.first_step
        except OSError:
            first_step = None
        words = continuation(
            Succession(
                document=sealed.path,
                goal=seat.job.prompt if seat.job else None,
                first_step=first_step,
                number=place,
                iteration=(place, loop.max_iterations) if loop.enabled and place else None,
                has_git=bool(record.details.get("has_git", True)) if record else True,
                branch=seat.record.branch,
                marker=(loop if loop.enabled else seat.settings.handoff).completion_marker,
            )
        )
        return self._redactor(seat).redact(words).text

    def _place_of_successor(self, seat: Seat) -> int | None:
        if seat.job is None or seat.handoff is None:
            return None
        return self._sessions.next_number(seat.job.id, seat.handoff.plan)

    async def leave_notice(self, seat: Seat, sealed: Document) -> None:
        """Leave word, in the worktree, of a document that nobody took up."""
        text = pending_words(seat.name, sealed.path)
        folder = str(seat.settings.handoff.directory)
        await asyncio.to_thread(self._in.documents.leave_notice, seat.directory, text, folder)

    async def tidy(self, seat: Seat, *, done: bool) -> None:
        """Remove what only an open handoff needs; documents stay."""
        assert seat.handoff_record is not None
        draft = seat.handoff_record.details.get("draft_facts")
        if draft:
            with suppress(OSError):
                await asyncio.to_thread(Path(draft).unlink, missing_ok=True)
        await asyncio.to_thread(self._in.documents.discard_draft, self._asked_for(seat))
        if done:
            folder = str(seat.settings.handoff.directory)
            await asyncio.to_thread(self._in.documents.withdraw_notice, seat.directory, folder)

    def _asked_for(self, seat: Seat) -> Path:
        assert seat.handoff_record is not None
        return Path(seat.handoff_record.details["draft"])

    async def _draft(self, seat: Seat, writer: Writer) -> str | None:
        assert seat.handoff is not None
        assert seat.handoff_record is not None
        if writer == "facts":
            return None
        if writer == "sdk":
            return await self._written_aside(seat)
        documents = self._in.documents
        if given := seat.handoff.plan.given:
            path, text = Path(given), await asyncio.to_thread(documents.read_own, Path(given))
        else:
            path = Path(seat.handoff_record.details["draft"])
            text = (await asyncio.to_thread(documents.look_at_draft, path)).text or ""
        problems = [each.text for each in document.validate(text) if not each.mends]
        if problems:
            raise Failed(f"{path} is not a handoff document", "; ".join(problems))
        return text

    async def _written_aside(self, seat: Seat) -> str:
        """What a copy of the session answers; the session itself is left alone."""
        old = self._old(seat)
        assert old is not None
        order = self._sessions.order(seat, old, None, resume=True)
        program = await asyncio.to_thread(seat.runtime.program, order.environment)
        question = request_reply(used=words_of_use(seat), filling=for_its_context(seat))
        deadline = seat.settings.handoff.deadline
        text = await seat.runtime.answer_aside(order, program, question, deadline)
        problems = [each.text for each in document.validate(text) if not each.mends]
        if problems:
            raise Failed("The copy's answer is not a handoff document", "; ".join(problems))
        return text

    def _save(self, seat: Seat, text: str, writer: Writer) -> Document:
        assert seat.handoff_record is not None
        folder = str(seat.settings.handoff.directory)
        sealed = self._in.documents.seal(
            seat.directory, seat.handoff_record.id, text, self._in.clock.now(), folder
        )
        seat.handoff_record = replace(seat.handoff_record, copy=str(sealed.copy))
        return Document(str(sealed.path), sealed.sha256, writer)

    # Facts

    def facts(self, seat: Seat, found: Facts | None = None) -> Facts:
        """What the record says; the papers of handoffs are no work of the session's."""
        found = found or seat.sitting.collector.facts()
        papers = str(seat.directory / seat.settings.handoff.directory)
        files = tuple(path for path in found.files_modified if not path.startswith(papers))
        tasks = tuple(
            Subagent("", "background task", "running when the turn ended", words)
            for words in seat.sitting.conduct.background
        )
        return replace(found, files_modified=files, subagents=found.subagents + tasks)

    async def git_view(self, seat: Seat, claims: list[str] | None = None) -> GitView:
        """What git says of the seat's directory, now; which of the claimed commits it knows."""
        since = seat.job.base_commit if seat.job else None
        found = await self._in.worktrees.facts(seat.directory, since_commit=since)
        asked = {*(claims or ()), *(made.hash for made in self.facts(seat).commits)}
        known = {
            commit for commit in asked if await self._in.worktrees.known(seat.directory, commit)
        }
        return GitView(
            is_repository=found.root is not None,
            branch=found.branch,
            head=found.head,
            status=found.status,
            status_known=found.status_known,
            busy=found.busy,
            commits=tuple(CommitMade(each.hash, each.subject) for each in found.commits),
            root=str(found.root) if found.root is not None else None,
            committed=found.committed,
            known=frozenset(known),
        )

    async def supplement(
        self, seat: Seat, token: str, occasion: Occasion, facts: Facts | None = None
    ) -> str:
        """What the session is told again: of its own record, or of `facts`; secrets taken out."""
        ground = Ground(
            token=token,
            facts=self.facts(seat, facts),
            git=await self.git_view(seat),
            goal=seat.job.prompt if seat.job else None,
            work_item=seat.settings.worktree.work_item,
            branch=seat.record.branch,
        )
        text = supplement(ground, occasion, seat.settings.handoff.format)
        return shortened(self._redactor(seat).redact(text).text, HOOK_ANSWER)

    async def _composed(self, seat: Seat, writer: Writer, draft: str | None) -> str:
        goal = seat.job.prompt if seat.job else None
        facts = self.facts(seat)
        git = await self.git_view(seat, claimed_commits(draft) if draft else None)
        if draft:
            files = composition.files_claimed(draft)
            git = replace(git, looked_for=await asyncio.to_thread(_traces, seat, git, files))
        text = draft if draft is not None else composition.draft_from_facts(facts, git, goal)
        if seat.handoff_record is not None:
            seat.note_detail(has_git=git.is_repository)
        composed = await asyncio.to_thread(
            composition.compose,
            text,
            self._front(seat, git, writer),
            facts,
            git,
            goal,
            redactor=self._redactor(seat),
            links=composition.Links(
                transcript=seat.session.transcript if seat.session else None,
                copy=self._copy(seat),
            ),
        )
        return await self._in_pilots_layout(seat, composed)

    def _redactor(self, seat: Seat) -> Redactor:
        return redactor_of(self._in.environment, seat)

    async def _in_pilots_layout(self, seat: Seat, composed: str) -> str:
        """In the layout of the pilot's template, if there is one that works."""
        template = seat.settings.handoff.template
        if template is None:
            return composed
        text, complaint = await asyncio.to_thread(laid_out, composed, template)
        if complaint is not None:
            self._in.feed.tell("handoff.template_failed", complaint, seat.name)
        return text

    def _front(self, seat: Seat, git: GitView, writer: Writer) -> FrontMatter:
        old = self._old(seat)
        reading = seat.sitting.gauge.reading
        successors = seat.handoff.plan.successors if seat.handoff else ()
        return FrontMatter(
            id=self._ident(seat),
            number=old.number if old else 1,
            previous_document=old.document if old else None,
            agent=seat.name,
            job=seat.record.job or "",
            worktree=str(seat.directory),
            branch=git.branch,
            head_commit=git.head,
            old_session_id=old.id if old else None,
            new_session_id=successors[0].session if successors else None,
            tokens=reading.tokens,
            window=reading.window,
            percent=round(reading.used * 100, 1) if reading.used is not None else None,
            confidence=reading.confidence.value,
            trigger=seat.handoff.plan.reason if seat.handoff else "manual",
            writer=writer,
            created=rfc3339(self._in.clock.now().timestamp()),
            started=rfc3339(old.created) if old else "",
            transcript=old.transcript if old else None,
            cost_usd=seat.cost_usd,
        )

    def _ident(self, seat: Seat) -> str:
        return seat.handoff_record.id if seat.handoff_record else ""

    def _copy(self, seat: Seat) -> str | None:
        """Where our copy will be; a preview has none."""
        record = seat.handoff_record
        return str(self._in.documents.copies.path(record.id)) if record else None

    def _old(self, seat: Seat) -> SessionRecord | None:
        """The session that leaves the document."""
        record = seat.handoff_record
        return self._in.store.session(record.old_session) if record else seat.session


def _traces(seat: Seat, git: GitView, files: list[str]) -> dict[str, Trace]:
    """What is left of each file in the agent's directory, its repository, and in git.

    What lies outside of both, or leads there, is not looked for, and so has no answer.
    """
    tops = [Path(os.path.realpath(top)) for top in (seat.directory, git.root) if top]
    found: dict[str, Trace] = {}
    for name in files:
        places = [Path(os.path.realpath(top / name)) for top in tops]
        inside = [place for place in places if any(place.is_relative_to(top) for top in tops)]
        if not inside:
            continue
        is_there = any(os.path.lexists(place) for place in inside)
        meant = [os.path.normpath(top / name) for top in tops]
        trace = git.trace(meant, is_there=is_there)
        if trace is not None:
            found[name] = trace
    return found


def _writer(name: str | None) -> Writer:
    """A writer by its name; what is not known counts as no model's."""
    return name if name in ("agent", "sdk", "facts") else "facts"  # type: ignore[return-value]


def for_its_context(seat: Seat) -> bool:
    """Whether the handoff was begun because the context is full, and not for a limit or a loop."""
    return seat.handoff is None or seat.handoff.plan.reason not in {"limit", "loop"}


def words_of_use(seat: Seat) -> str | None:
    """`142k of 200k tokens`, where that is known."""
    reading = seat.sitting.gauge.reading
    if reading.tokens is None or not reading.window:
        return None
    return f"{reading.tokens // 1000}k of {reading.window // 1000}k tokens"


def pending_words(agent: str, path: str) -> str:
    """What `HANDOFF_PENDING.md` says."""
    return (
        f"# A handoff is waiting\n\nNo new session of the agent {agent} would start. Its document "
        f"is here:\n\n{path}\n\nThe old session is reopened where it can be; `cockpit status` "
        f"says so. Then try again with `cockpit handoff {agent} --document {path}`. "
        f"Or give the document to any session: "
        f"`cockpit continue {path} --name NAME`.\n"
    )
