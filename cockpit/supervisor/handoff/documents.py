"""Build the documents of a handoff: drafts, sealed documents with copies, continuations.

Combines a writer's text with facts from the transcript and from git, and seals the result on disk.
Starts and ends no session; the writer `sdk` runs a copy of the session.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath

from cockpit.adapters.documents.template import apply_template
from cockpit.adapters.files.foreign_files import read_text
from cockpit.adapters.files.private_file import write_private
from cockpit.core import chain_memory, composition, document, fact_lines
from cockpit.core.bands import Band
from cockpit.core.continuation import Succession, continuation
from cockpit.core.errors import Failed
from cockpit.core.events import Plain
from cockpit.core.exclusion import exclusion
from cockpit.core.facts import Facts
from cockpit.core.facts_budget import within
from cockpit.core.facts_draft import draft_from_facts
from cockpit.core.front_matter import FrontMatter, load
from cockpit.core.handoff.states import Document, Reason, Writer
from cockpit.core.ids import HandoffId
from cockpit.core.markdown import shortened
from cockpit.core.redaction import Redactor
from cockpit.core.request import request_reply
from cockpit.core.supplement import Ground, Occasion, supplement
from cockpit.core.timestamps import rfc3339
from cockpit.core.token_counts import token_count
from cockpit.core.tool_names import ToolNames, change_of_cli
from cockpit.core.verified_facts import GitView, claimed_commits
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.background_work import task_text, with_background_status
from cockpit.supervisor.agents.chain_documents import documents_before
from cockpit.supervisor.agents.document_reads import read_document
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.agents.ownership import given_document
from cockpit.supervisor.agents.session_runtime import runtime_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.document_sources import document_in, traces, view_of_git
from cockpit.supervisor.handoff.integrity import approved_text
from cockpit.supervisor.sessions.lifecycle import Sessions

HOOK_ANSWER = 10_000
"""Maximum characters of a hook's response. Secrets are removed before a text is shortened, because
the markers that replace them can make the text longer."""


class DocumentBuilder:
    """Builds the documents for the handoffs of all agents."""

    def __init__(self, dependencies: Dependencies, sessions: Sessions) -> None:
        self._dependencies = dependencies
        self._sessions = sessions

    # Drafts

    async def prepare_draft_path(self, agent: Agent, ident: HandoffId) -> Path:
        """Create the folder of the agent's draft, exclude it from git, return the draft's path."""
        folder = agent.settings.handoff.directory
        path = await asyncio.to_thread(
            self._dependencies.documents.draft_path, agent.directory, ident, str(folder)
        )
        await self._dependencies.worktrees.keep_out(
            agent.directory, exclusion(PurePath(folder).parts)
        )
        return path

    async def draft_of_facts(self, agent: Agent) -> str:
        """Write a draft from facts only, for the user to read; return its path."""
        assert agent.handoff_record is not None
        text = await self._composed(agent, "facts", None)
        path = self._dependencies.places.handoffs / f"draft-{agent.handoff_record.id}.md"
        await asyncio.to_thread(write_private, path, text.encode())
        return str(path)

    async def preview(self, agent: Agent, given: str | None, *, by_agent: bool = False) -> str:
        """Return the document that a handoff would seal now, from a given document or facts."""
        text = await self._read_given(agent, given, by_agent=by_agent) if given else None
        return await self._composed(agent, "agent" if given else "facts", text)

    # Documents

    async def seal(self, agent: Agent, writer: str) -> Document:
        """Complete and check the writer's text; save the document and a copy durably.

        Raises `CockpitError` or `OSError` if there is no valid text. Keeps the agent's draft until
        the handoff is over, so that sealing can be repeated. The caller saves the handoff's state.
        """
        assert agent.handoff is not None
        assert agent.handoff_record is not None
        chosen = _writer(writer)
        draft = await self._draft(agent, chosen)
        text = await self._composed(agent, chosen, draft)
        problems = document.validate(text, complete=True)
        if problems:
            raise Failed("The document is not valid", " ".join(map(str, problems)))
        sealed = await asyncio.to_thread(
            self._dependencies.documents.seal,
            agent.directory,
            agent.handoff_record.id,
            text,
            self._dependencies.clock.now(),
            str(agent.settings.handoff.directory),
        )
        record = replace(agent.handoff_record, copy=str(sealed.copy))
        self._dependencies.store.save_handoff(record)
        agent.progress.record = record
        await self._note_claims(agent, text)
        return Document(str(sealed.path), sealed.sha256, chosen)

    async def refresh(self, agent: Agent, approved: Document) -> Document:
        """Seal the document again at the same path, with current facts.

        Raises `Failed` if the updated document is not valid, and the errors of `approved_text`.
        """
        assert agent.handoff_record is not None
        held = await approved_text(self._dependencies, agent, approved)
        chosen = _writer(agent.handoff_record.writer)
        keep = chosen != "facts" or agent.progress.details.edited
        text = await self._composed(agent, chosen, held if keep else None, again=keep)
        problems = document.validate(text, complete=True)
        if problems:
            raise Failed("The updated document is not valid", " ".join(map(str, problems)))
        sealed = await asyncio.to_thread(
            self._dependencies.documents.reseal, Path(approved.path), agent.handoff_record.id, text
        )
        await self._note_claims(agent, text)
        return Document(str(sealed.path), sealed.sha256, chosen)

    async def _note_claims(self, agent: Agent, text: str) -> None:
        """Note which claims of the document were not found, for the agent's row."""
        from cockpit.core.checked_claims import check_claims  # not needed before the first document

        checked = await asyncio.to_thread(check_claims, load(text)[1])
        agent.progress.note(replace(agent.progress.details, not_found=checked.not_found))

    def continuation(self, agent: Agent, sealed: Document) -> str:
        """Return the first prompt of the new session, without secrets."""
        number = self._successor_number(agent)
        loop = agent.settings.loop
        try:
            read = document.read(read_text(sealed.path, document.LARGEST))
            first_step = read.first_step
        except OSError:
            first_step = None
        previous, new = self._tools(agent)
        text = continuation(
            Succession(
                document=sealed.path,
                tools=new,
                previous_tools=previous if new != previous else None,
                goal=agent.job.prompt if agent.job else None,
                first_step=first_step,
                number=number,
                iteration=(number, loop.max_iterations) if loop.enabled and number else None,
                has_git=agent.progress.details.has_git,
                branch=agent.record.branch,
                marker=(loop if loop.enabled else agent.settings.handoff).completion_marker,
                full=is_for_context(agent),
            )
        )
        return self._redactor(agent).redact(text).text

    def _tools(self, agent: Agent) -> tuple[ToolNames, ToolNames]:
        """Return the tools of the old session's CLI, and of the new session's CLI."""
        runtimes = self._dependencies.runtimes
        old = runtime_of(runtimes, agent, self._old_session(agent))
        chosen = agent.handoff.plan.runtime if agent.handoff else ""
        new = runtimes(chosen) if chosen not in ("", old.name) else old
        return old.tools, new.tools

    def _successor_number(self, agent: Agent) -> int | None:
        if agent.job is None or agent.handoff is None:
            return None
        return self._sessions.next_number(agent.job.id, agent.handoff.plan)

    async def leave_notice(self, agent: Agent, sealed: Document) -> None:
        """Write a notice into the worktree about a document that no session has read."""
        text = pending_notice(agent.name, sealed.path)
        folder = str(agent.settings.handoff.directory)
        await asyncio.to_thread(
            self._dependencies.documents.leave_notice, agent.directory, text, folder
        )

    async def tidy(self, agent: Agent, *, done: bool) -> None:
        """Remove the drafts, and the notice if `done`; keep the documents. Idempotent."""
        assert agent.handoff_record is not None
        draft = agent.progress.details.draft_facts
        if draft:
            with suppress(OSError):
                await asyncio.to_thread(Path(draft).unlink, missing_ok=True)
        await asyncio.to_thread(self._dependencies.documents.discard_draft, self._draft_path(agent))
        if done:
            folder = str(agent.settings.handoff.directory)
            await asyncio.to_thread(
                self._dependencies.documents.withdraw_notice, agent.directory, folder
            )

    def _draft_path(self, agent: Agent) -> Path:
        assert agent.progress.details.draft is not None
        return Path(agent.progress.details.draft)

    async def _draft(self, agent: Agent, writer: Writer) -> str | None:
        assert agent.handoff is not None
        assert agent.handoff_record is not None
        if writer == "facts":
            return None
        if writer == "sdk":
            return await self._written_by_copy(agent)
        documents = self._dependencies.documents
        if given := agent.handoff.plan.given:
            by_agent = agent.handoff.plan.reason == "agent"
            path, text = Path(given), await self._read_given(agent, given, by_agent=by_agent)
        else:
            path = self._draft_path(agent)
            look = partial(documents.look_at_draft, path)
            text = (await read_document(self._dependencies, path, look)).text or ""
        problems = [problem.text for problem in document.validate(text) if not problem.mends]
        if problems:
            raise Failed(f"{path} is not a handoff document", " ".join(problems))
        return text

    async def _read_given(self, agent: Agent, given: str, *, by_agent: bool) -> str:
        """Return the text of a document that the agent, a hook or the user wrote."""
        path = Path(given)
        read = given_document(agent, path, by_agent=by_agent)
        return await read_document(self._dependencies, path, read)

    async def _written_by_copy(self, agent: Agent) -> str:
        """Return the answer of a copy of the session. The session itself is not changed."""
        old = self._old_session(agent)
        assert old is not None
        order = self._sessions.orders.of(agent, old, None, resume=True)
        program = await asyncio.to_thread(agent.runtime.program, order.environment)
        running = [task_text(task) for task in agent.session_state.background]
        used, filling = usage_text(agent), is_for_context(agent)
        reminder = await self.reminder(agent)
        question = request_reply(used=used, filling=filling, running=running, told=reminder)
        deadline = agent.settings.handoff.deadline
        answer = await agent.runtime.answer_aside(order, program, question, deadline)
        if answer.cost_usd:
            agent.add_copy_cost(old.id, answer.cost_usd)
        return document_in(answer)

    # Facts

    def facts(self, agent: Agent, collected: Facts | None = None) -> Facts:
        """Return the transcript's facts, or `collected`, completed with the hooks' reports.

        Leaves handoff documents out of the modified files.
        """
        collected = collected or agent.session_state.reading.collector.facts()
        documents = str(agent.directory / agent.settings.handoff.directory)
        files = tuple(path for path in collected.files_modified if not path.startswith(documents))
        return replace(with_background_status(agent, collected), files_modified=files)

    async def git_view(self, agent: Agent, claims: list[str] | None = None) -> GitView:
        """Return git's state in the agent's directory, and which commits of the transcript and of
        `claims` exist.

        Saves the agent's branch if it was switched.
        """
        since = agent.job.base_commit if agent.job else None
        facts = await self._dependencies.worktrees.facts(agent.directory, since_commit=since)
        if facts.root is not None and facts.branch != agent.record.branch:
            # The branch was switched: row, document and continuation must have the same branch.
            record = replace(agent.record, branch=facts.branch)
            agent.save(self._dependencies.store, record)
        asked = {*(claims or ()), *(made.hash for made in self.facts(agent).commits)}
        return await view_of_git(self._dependencies.worktrees, agent.directory, facts, asked)

    async def reminder(self, agent: Agent) -> list[str]:
        """Return points for the document's writer to include, one line each, without secrets."""
        lines, redactor = fact_lines.reminder(self.facts(agent)), self._redactor(agent)
        return await asyncio.to_thread(lambda: [redactor.redact(line).text for line in lines])

    async def supplement(
        self, agent: Agent, token: str, occasion: Occasion, facts: Facts | None = None
    ) -> str:
        """Return the text that gives a session the facts of its work again, without secrets.

        Uses `facts`, or else the transcript's facts. The text contains `token`, by which cockpit
        recognizes in the transcript that the session received the text.
        """
        ground = Ground(
            token=token,
            facts=self.facts(agent, facts),
            git=await self.git_view(agent),
            goal=agent.job.prompt if agent.job else None,
            work_item=agent.settings.worktree.work_item,
            branch=agent.record.branch,
        )
        text = supplement(ground, occasion, agent.settings.handoff.format)
        redactor = self._redactor(agent)
        return shortened(await asyncio.to_thread(lambda: redactor.redact(text).text), HOOK_ANSWER)

    async def _composed(
        self, agent: Agent, writer: Writer, draft: str | None, *, again: bool = False
    ) -> str:
        """Return the complete document; without a `draft`, from facts only.

        With `again`, `draft` is an earlier complete document, whose facts are replaced.
        """
        goal = agent.job.prompt if agent.job else None
        facts, cut = self.facts(agent), ""
        git = await self.git_view(agent, claimed_commits(draft) if draft else None)
        if draft:
            files = composition.files_claimed(draft)
            looked_for = await asyncio.to_thread(traces, agent.directory, git, files)
            git = replace(git, looked_for=looked_for)
        if draft is None:
            facts, git, cut = within(facts, git, goal, agent.settings.handoff.max_tokens)
        text = draft if draft is not None else draft_from_facts(facts, git, goal, cut=cut)
        missing: tuple[chain_memory.Statement, ...] = ()
        if not again:
            text = chain_memory.as_own(text)
            missing = await self._missing(agent, text)
        if agent.handoff_record is not None:
            agent.progress.note(replace(agent.progress.details, has_git=git.may_be_repository))
        previous, new = self._tools(agent)
        composed = await asyncio.to_thread(
            composition.compose,
            composition.DocumentInput(
                draft=text,
                front=self._front(agent, git, writer),
                facts=facts,
                git=git,
                goal=goal,
                redactor=self._redactor(agent),
                other_cli=change_of_cli(previous, new) if new != previous else "",
                links=composition.Links(
                    transcript=agent.session.transcript if agent.session else None,
                    copy=self._copy(agent),
                    before_compaction=agent.session_state.compaction.kept_before,
                ),
                missing=missing,
            ),
        )
        return await self._in_template(agent, composed)

    async def _missing(self, agent: Agent, draft: str) -> tuple[chain_memory.Statement, ...]:
        """Return the chain's decisions and constraints that a draft leaves out."""
        session = self._old_session(agent)
        if session is None:
            return ()
        memory = chain_memory.fold(await documents_before(self._dependencies, session))
        return chain_memory.dropped(memory, document.read(draft))

    def _redactor(self, agent: Agent) -> Redactor:
        return redactor_of(self._dependencies.environment, agent)

    async def _in_template(self, agent: Agent, composed: str) -> str:
        """Return the document in the user's template; unchanged without a working template."""
        template = agent.settings.handoff.template
        if template is None:
            return composed
        text, complaint = await asyncio.to_thread(apply_template, composed, template)
        if complaint is not None:
            self._dependencies.event_log.record(
                Plain("handoff.template_failed"), complaint, agent.name
            )
        return text

    def _front(self, agent: Agent, git: GitView, writer: Writer) -> FrontMatter:
        old = self._old_session(agent)
        reading = agent.session_state.gauge.reading
        successors = agent.handoff.plan.successors if agent.handoff else ()
        return FrontMatter(
            id=self._ident(agent),
            number=old.number if old else 1,
            previous_document=old.document if old else None,
            agent=agent.name,
            job=agent.record.job or "",
            worktree=str(agent.directory),
            branch=git.branch,
            head_commit=git.head,
            old_session_id=old.id if old else None,
            new_session_id=successors[0].session if successors else None,
            tokens=reading.tokens,
            window=agent.shown_window,
            percent=round(reading.used * 100, 1) if reading.used is not None else None,
            confidence=reading.confidence.value,
            trigger=agent.handoff.plan.reason if agent.handoff else "manual",
            writer=writer,
            created=rfc3339(self._dependencies.clock.now().timestamp()),
            started=rfc3339(old.created) if old else "",
            transcript=old.transcript if old else None,
            cost_usd=agent.cost_usd,
            writers_failed="; ".join(agent.progress.details.writers_failed),
        )

    def _ident(self, agent: Agent) -> str:
        return agent.handoff_record.id if agent.handoff_record else ""

    def _copy(self, agent: Agent) -> str | None:
        """Return the path for cockpit's copy of the document; None for a preview."""
        record = agent.handoff_record
        return str(self._dependencies.documents.copies.path(record.id)) if record else None

    def _old_session(self, agent: Agent) -> SessionRecord | None:
        """Return the session that the document describes."""
        record = agent.handoff_record
        return self._dependencies.store.session(record.old_session) if record else agent.session


def _writer(name: str | None) -> Writer:
    """Return the writer with this name; for an unknown name, `facts`."""
    return name if name in ("agent", "sdk", "facts") else "facts"  # type: ignore[return-value]


def is_for_context(agent: Agent) -> bool:
    """Return whether the context was filling up when the handoff in progress began.

    Without a handoff, returns whether the context is filling up now. Always False if the reason for
    the handoff is a limit or a loop.
    """
    record = agent.handoff_record
    return record.details.filling if record is not None else would_be_for_context(agent, None)


def would_be_for_context(agent: Agent, reason: Reason | None) -> bool:
    """Return `is_for_context` for a handoff that would begin for this reason."""
    if reason in ("limit", "loop"):
        return False
    return reason in ("threshold", "compaction") or agent.band.severity >= Band.WARN.severity


def usage_text(agent: Agent) -> str | None:
    """Return a text such as `142k of 200k tokens`; None if tokens or window are unknown."""
    reading = agent.session_state.gauge.reading
    if reading.tokens is None or not reading.window:
        return None
    return f"{token_count(reading.tokens)} of {token_count(reading.window)} tokens"


def pending_notice(agent: str, path: str) -> str:
    """Return the content of `HANDOFF_PENDING.md`."""
    return (
        f"# A handoff is waiting\n\nNo new session of the agent {agent} took over. The handoff "
        f"document is here:\n\n{path}\n\ncockpit reopens the old session if possible: see "
        f"`cockpit status`. Then try again with `cockpit handoff {agent} --document {path}`. "
        f"Or start a new agent from the document: "
        f"`cockpit continue {path} --name NAME`.\n"
    )
