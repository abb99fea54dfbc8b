"""The runtime `gemini`: start Gemini CLI, find its transcript, and answer its hooks.

Combines the other modules of this package. Does not use panes. The only change to Gemini's own
files: cockpit removes the empty second transcripts that Gemini leaves when it resumes a session
(`second_transcripts`), and the transcripts of session copies (`copy_session`). Hooks need the
extension, which the user links once; see `extension`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.copies_folder import copies_folder
from cockpit.adapters.agents.gemini.capabilities import CAPABILITIES
from cockpit.adapters.agents.gemini.composer import composer_empty
from cockpit.adapters.agents.gemini.copy_session import ask_copy
from cockpit.adapters.agents.gemini.extension import Linked, state_of
from cockpit.adapters.agents.gemini.first_dialogs import first_dialog
from cockpit.adapters.agents.gemini.hook_events import cli_events
from cockpit.adapters.agents.gemini.models import compacts_at, window
from cockpit.adapters.agents.gemini.permission_modes import MODES, permission_arguments
from cockpit.adapters.agents.gemini.policy import ASKS_ABOUT_PAGES, policy_arguments, write_policy
from cockpit.adapters.agents.gemini.program import NO_RELAUNCH, find_program
from cockpit.adapters.agents.gemini.record import parse
from cockpit.adapters.agents.gemini.screen_notices import notices
from cockpit.adapters.agents.gemini.second_transcripts import (
    remove_later,
    remove_second_transcript,
    remove_second_transcripts,
)
from cockpit.adapters.agents.gemini.sessions import (
    check_resumable,
    record_path,
    reported_transcript,
)
from cockpit.adapters.agents.gemini.settings import compaction_share
from cockpit.adapters.agents.gemini.titles import presence_in
from cockpit.adapters.agents.gemini.trust import is_trusted, is_worktree_of_trusted
from cockpit.adapters.agents.hooked_runtime import HookedRuntime, refuse_reserved, without_tmux
from cockpit.adapters.agents.reporter import install_reporter, write_whole
from cockpit.adapters.files.foreign_files import read_text
from cockpit.adapters.process.prompt_files import PROMPTS
from cockpit.core.cli_events import CliEvent
from cockpit.core.errors import NotNow
from cockpit.core.ids import AgentName
from cockpit.core.permission import Rights, nearest
from cockpit.core.reading import Window
from cockpit.core.session import SessionEvent, Skipped
from cockpit.core.tool_names import ToolNames
from cockpit.ports.panes import Launch, Screen
from cockpit.ports.runtimes import Aside, CompactionRule, Presence, Program, SessionOrder, Signal

SCRUBBED = frozenset({"GEMINI_CLI", "GEMINI_CWD", "GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID"})
"""Variables that a Gemini session sets for its commands; removed from the agent's environment."""

SKIP_TRUST = "--skip-trust"
RESERVED_ARGUMENTS = {
    "--session-id": "cockpit sets the session's id",
    "--session-file": "cockpit decides which session is opened",
    "--resume": "cockpit decides which session is opened",
    "-r": "cockpit decides which session is opened",
    "--prompt": "an agent is one interactive session",
    "-p": "an agent is one interactive session",
    "--prompt-interactive": "cockpit sets the first prompt; use the setting prompt",
    "-i": "cockpit sets the first prompt; use the setting prompt",
    "--acp": "an agent is one interactive session",
    "--approval-mode": "cockpit sets the permission mode; use the setting permission_mode",
    "--yolo": "cockpit sets the permission mode; use the setting permission_mode",
    "-y": "cockpit sets the permission mode; use the setting permission_mode",
    "--extensions": "the option could disable cockpit's extension",
    "-e": "the option could disable cockpit's extension",
    "--worktree": "cockpit creates worktrees; use [agents.worktree]",
    "-w": "cockpit creates worktrees; use [agents.worktree]",
}
"""CLI arguments that the user may not set, each with the reason."""
GEMINI_TOOLS = ToolNames(
    cli="Gemini CLI",
    read="`cat` (your read_file tool refuses files that git ignores)",
    write="your write_file tool",
    all=(
        *("read_file", "grep_search", "write_file", "replace", "run_shell_command"),
        *("write_todos", "invoke_agent"),
    ),
)
COMMANDS = frozenset({"mcp", "extensions", "skills", "hooks", "gemma"})
FLAGS = "ds"
"""Short options without a value that are not reserved: `--debug` and `--sandbox` (0.61.0)."""


class Gemini(HookedRuntime):
    """The runtime `gemini`. Stores its files below `state`, by agent name.

    Gemini writes no status file: its status is in the pane's title. Neither hooks nor the
    transcript contain the permission mode.
    """

    name = "gemini"
    capabilities = CAPABILITIES
    modes = MODES
    tools = GEMINI_TOOLS
    steps = ("BeforeAgent", "AfterTool")

    def __init__(self, state: Path, *, program: Path | None = None) -> None:
        super().__init__(state, program=program)
        self._lacks: dict[AgentName, str] = {}

    def program(self, environment: Mapping[str, str]) -> Program:
        """Return the CLI to run; see `find_program`. Blocks for up to `PROBE_SECONDS`."""
        return find_program(environment, path=self._program)

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """Return how to launch Gemini for a new or resumed session.

        Installs the reporter, creates the agent's spool, and removes the empty second transcripts
        that Gemini leaves when it resumes a session. Raises `BadUsage` for arguments that are not
        allowed and for modes that Gemini does not have. Raises `NotNow` for a first prompt in a
        directory that Gemini does not trust, because Gemini would begin to work before the user
        answers its trust dialog.
        """
        refuse_reserved(order.arguments, RESERVED_ARGUMENTS, COMMANDS, FLAGS)
        environment = {**without_session(order.environment), **NO_RELAUNCH}
        remove_second_transcripts(environment)
        arguments = [*permission_arguments(order.permission_mode), *self._trust(order, environment)]
        install_reporter(self.state)
        self.spool.prepare(order.agent)
        self._note_hooks(order.agent, state_of(environment, order.directory))
        prompts = self.state / PROMPTS / order.run
        policy = self.state / "settings" / f"{order.agent}.gemini.toml"
        more = ASKS_ABOUT_PAGES if order.permission_mode == "acceptEdits" else ""
        write_policy(policy, order.directory, order.documents, prompts, more)
        arguments += policy_arguments(policy, environment)
        if order.model:
            arguments += ["--model", order.model]
        session = ["--resume" if order.resume else "--session-id", order.session_id]
        return Launch(
            argv=[str(program.path), *session, *arguments, *order.arguments],
            directory=order.directory,
            environment={
                **environment,
                "COCKPIT_AGENT": order.agent,
                "COCKPIT_RUN": order.run,
                "COCKPIT_STATE": str(self.state),
                "COCKPIT_RUNTIME": self.name,
            },
            prompt=order.prompt,
            prompt_option="--prompt-interactive=",
            by_file=True,
            by_cat=True,
            prompt_folder=prompts,
        )

    def nearest_mode(self, mode: str, rights: Rights) -> str:
        return nearest(self.modes, mode, rights)

    def _trust(self, order: SessionOrder, environment: Mapping[str, str]) -> list[str]:
        """Return the argument that makes Gemini trust a worktree of a trusted checkout in this run.

        Other CLIs trust such a worktree without an argument. Empty for any other directory. Raises
        `NotNow` for a first prompt in a directory that is not trusted.
        """
        if SKIP_TRUST in order.arguments or is_trusted(order.directory, environment):
            return []
        if is_worktree_of_trusted(order.directory, environment):
            return [SKIP_TRUST]
        if order.prompt:
            raise NotNow(
                f"Gemini does not trust {order.directory}",
                "Gemini would begin to work before you answer its trust dialog.",
                "Run `gemini` in the directory once and choose to trust the folder, then try "
                "again.",
            )
        return []

    def transcript(self, order: SessionOrder) -> Path | None:
        """Return the path of a session's transcript; None if there is no transcript yet.

        Gemini chooses the file's name.
        """
        return record_path(order.session_id, order.environment)

    def resumable(self, order: SessionOrder) -> None:
        check_resumable(order.session_id, order.directory, order.environment)

    def parse(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        return parse(line)

    def window(self, model: str | None, environment: Mapping[str, str]) -> Window:
        return window(model)

    def compaction_rule(self, environment: Mapping[str, str]) -> CompactionRule:
        share = compaction_share(environment)
        return CompactionRule(partial(compacts_at, share=share), f"{share:g}")

    def presence_in(self, title: str) -> Presence | None:
        return presence_in(title)

    def cli_events(self, signal: Signal) -> Sequence[CliEvent]:
        """Return the hook events in a report. Also removes the session's empty second transcript.

        Gemini leaves this transcript when it resumes a session; see `second_transcripts`. The
        transcript is removed when a turn begins or ends, when the session ends, and some seconds
        after the session was resumed.
        """
        events = cli_events(signal)
        path, session = (signal.payload.get(key) for key in ("transcript_path", "session_id"))
        if isinstance(path, str) and isinstance(session, str):
            record = reported_transcript(path, session)
            if record is not None and signal.event in ("BeforeAgent", "AfterAgent", "SessionEnd"):
                remove_second_transcript(record)
            elif record is not None and signal.payload.get("source") == "resume":
                remove_later(record)
        return events

    def screen_events(self, screen: Screen) -> Sequence[CliEvent]:
        return notices(screen, datetime.now(UTC))

    def reported_transcript(self, path: str, session: str) -> Path | None:
        return reported_transcript(path, session)

    def composer(self, screen: Screen) -> bool | None:
        return composer_empty(screen)

    def first_dialog(self, screen: Screen) -> str | None:
        return first_dialog(screen)

    def lacks(self, agent: AgentName) -> str | None:
        """Return a message if the extension was not linked, current and enabled when the agent was
        started; else None."""
        if agent not in self._lacks:
            self._lacks[agent] = self._noted(agent)
        return self._lacks[agent] or None

    def ask(self, agent: AgentName, mid_turn: str, at_end: str | None) -> bool:
        """Queue a request; the model gets only one of the two texts.

        `mid_turn` arrives after the next tool call. `at_end`, unless it is None, arrives at the end
        of the turn, which then continues. A subagent gets neither text; see the extension's script.
        Returns False if the agent lacks the extension; see `lacks`.
        """
        if self.lacks(agent):
            return False
        answers = {"AfterTool": self.context("AfterTool", mid_turn)}
        if at_end is not None:
            answers["AfterAgent"] = {"decision": "deny", "reason": at_end}
        self.responses.ask(agent, answers)
        return True

    def supplement(self, agent: AgentName, text: str, *, at_start: bool) -> bool:
        return not self.lacks(agent) and super().supplement(agent, text, at_start=at_start)

    def context(self, event: str, text: str) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}

    def permit_writing(self, agent: AgentName, path: Path) -> bool:
        """Return True, without an effect: the session's policy already allows drafts; see
        `policy`."""
        return True

    def forbid_writing(self, agent: AgentName) -> None:
        return

    def hold_compaction(self, agent: AgentName) -> bool:
        """Return False: Gemini runs its compaction hook before every request, not only before a
        compaction."""
        return False

    def release_compaction(self, agent: AgentName) -> bool:
        return False

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        """Return the answer of a copy of the session; see `copy_session.ask_copy`."""
        order = replace(order, directory=copies_folder(self.state))
        environment = {**without_session(order.environment), **NO_RELAUNCH}
        return await ask_copy(program.path, order, question, environment, deadline)

    def _note_hooks(self, agent: AgentName, linked: Linked) -> None:
        """Save the extension's state at the agent's start, for a supervisor that starts later."""
        lacks = "" if linked is Linked.YES else linked.value
        note = self._note(agent)
        if lacks:
            note.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(note, lacks.encode(), 0o600)
        else:
            note.unlink(missing_ok=True)
        self._lacks[agent] = _without_hooks(lacks)

    def _noted(self, agent: AgentName) -> str:
        try:
            return _without_hooks(read_text(self._note(agent), 200))
        except OSError:
            return ""

    def _note(self, agent: AgentName) -> Path:
        return self.state / "settings" / f"{agent}.gemini-hooks"


def _without_hooks(lacks: str) -> str:
    if not lacks:
        return ""
    if lacks == Linked.OFF:
        step = "To enable the extension, in the agent's directory: gemini extensions enable cockpit"
    elif lacks == Linked.HOOKS_OFF:
        step = "To switch on the hooks, set hooksConfig.enabled to true in Gemini's settings.json"
    else:
        step = "To link the extension: cockpit setup gemini"
    return f"cockpit's extension is {lacks}: requests wait for the end of a turn. {step}"


def without_session(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables of a surrounding Gemini session or tmux."""
    return without_tmux(environment, SCRUBBED)
