"""The runtime `codex`: start Codex, find its transcript, and answer its hooks.

Combines the other modules of this package. Does not use panes, and never writes to Codex's own
files: hooks and their trust are arguments of one run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.agents.codex.capabilities import CAPABILITIES
from cockpit.adapters.agents.codex.composer import composer_empty
from cockpit.adapters.agents.codex.copy_session import ask_copy
from cockpit.adapters.agents.codex.first_dialogs import first_dialog
from cockpit.adapters.agents.codex.hook_events import moments
from cockpit.adapters.agents.codex.hook_flags import hook_flags
from cockpit.adapters.agents.codex.models import compacts_at, window
from cockpit.adapters.agents.codex.permission_modes import MODES, permission_arguments
from cockpit.adapters.agents.codex.program import find_program
from cockpit.adapters.agents.codex.record import parse
from cockpit.adapters.agents.codex.sessions import (
    check_resumable,
    record_path,
    reported_transcript,
)
from cockpit.adapters.agents.codex.tool_flags import tool_flags
from cockpit.adapters.agents.copies_folder import copies_folder
from cockpit.adapters.agents.hook_answers import additional_context, block
from cockpit.adapters.agents.reporter import install_reporter
from cockpit.adapters.hooks.responses import FACTS, HookResponses
from cockpit.adapters.hooks.spool import Spool
from cockpit.adapters.process.prompt_files import PROMPTS
from cockpit.core.dialogs import NO_STEP, Answer, Dialog, Step, Stuck
from cockpit.core.errors import BadUsage
from cockpit.core.ids import AgentName
from cockpit.core.moments import Moment
from cockpit.core.permission import Rights, nearest
from cockpit.core.reading import Window
from cockpit.core.session import SessionEvent, Skipped
from cockpit.core.tool_names import ToolNames
from cockpit.ports.panes import Launch, Screen
from cockpit.ports.runtimes import Aside, Presence, Program, Report, SessionOrder, Signal

STEPS = ("UserPromptSubmit", "PostToolUse")
"""Events after which the session continues, and whose hooks can add context."""

RESERVED_ARGUMENTS = {
    "--daemon": "it would run the agent outside its pane",
    "--remote": "it would run the agent outside its pane",
    "--full-auto": "cockpit sets the permission mode; use permission_mode",
    "--sandbox": "cockpit sets the permission mode; use permission_mode",
    "-s": "cockpit sets the permission mode; use permission_mode",
    "--ask-for-approval": "cockpit sets the permission mode; use permission_mode",
    "-a": "cockpit sets the permission mode; use permission_mode",
    "--dangerously-bypass-approvals-and-sandbox": "use permission_mode",
    "--cd": "cockpit sets the directory",
    "-C": "cockpit sets the directory",
}
"""CLI arguments that the user may not set, each with the reason."""
CODEX_TOOLS = ToolNames(
    cli="Codex",
    read="a command such as `cat`",
    write="`apply_patch`",
    all=("exec_command", "apply_patch", "update_plan", "spawn_agent"),
)
COMMANDS = frozenset({"exec", "resume", "fork", "review", "agents", "mcp", "cloud", "queue"})


class Codex:
    """The runtime `codex`. Stores its files below `state`, by agent name."""

    name = "codex"
    capabilities = CAPABILITIES
    modes = MODES
    tools = CODEX_TOOLS

    def __init__(self, state: Path, *, program: Path | None = None) -> None:
        self.state = state
        self.spool = Spool(state / "spool")
        self.responses = HookResponses(state / "verdicts")
        self._program = program

    def program(self, environment: Mapping[str, str]) -> Program:
        """See `program.find_program`. Blocks for a fraction of a second, for the probe."""
        return find_program(environment, path=self._program)

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """Return how to launch Codex for a new or resumed session, with cockpit's hooks.

        Installs the reporter and creates the agent's spool. Without `--no-daemon`, the agent would
        run in a daemon that outlives the pane. Raises `BadUsage` for arguments that are not allowed
        and for modes that Codex does not have.
        """
        check_arguments(order.arguments)
        self.spool.prepare(order.agent)
        argv = [str(program.path), *(["resume"] if order.resume else []), "--no-daemon"]
        argv += hook_flags(install_reporter(self.state), self.state, order.agent)
        if order.offers_tools:
            argv += tool_flags()
        argv += permission_arguments(order.permission_mode)
        if order.model:
            argv += ["--model", order.model]
        argv += [*order.arguments]
        if order.resume:
            argv.append(order.session_id)
        return Launch(
            argv=argv,
            directory=order.directory,
            environment={
                **without_tmux(order.environment),
                "COCKPIT_AGENT": order.agent,
                "COCKPIT_RUN": order.run,
            },
            prompt=order.prompt,
            by_file=True,
            prompt_folder=self.state / PROMPTS / order.run,
        )

    def nearest_mode(self, mode: str, rights: Rights) -> str:
        return nearest(self.modes, mode, rights)

    def transcript(self, order: SessionOrder) -> Path | None:
        """Return an existing session's transcript. A new session's first hook reports its path."""
        return record_path(order.session_id, order.environment)

    def resumable(self, order: SessionOrder) -> None:
        check_resumable(order.session_id, order.directory, order.environment)

    def parse(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        return parse(line)

    def window(self, model: str | None, environment: Mapping[str, str]) -> Window:
        return window(model)

    def compacts_at(self, window: int, environment: Mapping[str, str]) -> int | None:
        return compacts_at(window)

    def compaction_settings(self, environment: Mapping[str, str]) -> str:
        return ""

    def presence(self, pid: int, environment: Mapping[str, str]) -> Presence | None:
        """Return None: Codex writes no status file. Its transcript shows when turns begin and
        end."""
        return None

    def presence_in(self, title: str) -> Presence | None:
        return None

    def report(self, signal: Signal) -> Report | None:
        return None

    def moments(self, signal: Signal) -> Sequence[Moment]:
        return moments(signal)

    def told_on(self, screen: Screen) -> Sequence[Moment]:
        return ()

    def permission_mode(self, signal: Signal) -> str | None:
        """Return None: hooks report only whether Codex asks. The transcript contains the exact
        mode."""
        return None

    def reported_transcript(self, path: str, session: str) -> Path | None:
        return reported_transcript(path, session)

    def composer(self, screen: Screen) -> bool | None:
        return composer_empty(screen)

    def first_dialog(self, screen: Screen) -> str | None:
        return first_dialog(screen)

    def open_dialog(self, screen: Screen) -> Dialog | None:
        return None

    def dialog_step(self, seen: Dialog, answer: Answer) -> Step | Stuck:
        return NO_STEP

    def lacks(self, agent: AgentName) -> str | None:
        return None

    def ask(self, agent: AgentName, mid_turn: str, at_end: str | None) -> bool:
        """Queue a text for the model.

        The text arrives after the next tool call, or at the end of the turn, which then continues.
        """
        answers = {"PostToolUse": additional_context("PostToolUse", mid_turn)}
        if at_end is not None:
            answers["Stop"] = block("Stop", at_end)
        self.responses.ask(agent, answers)
        return True

    def withdraw_ask(self, agent: AgentName) -> bool:
        return self.responses.withdraw_ask(agent)

    def supplement(self, agent: AgentName, text: str, *, at_start: bool) -> bool:
        events = ("SessionStart",) if at_start else STEPS
        answers = {event: additional_context(event, text) for event in events}
        self.responses.ask(agent, answers, group=FACTS)
        return True

    def withdraw_supplement(self, agent: AgentName) -> bool:
        return self.responses.withdraw_ask(agent, FACTS)

    def permit_writing(self, agent: AgentName, path: Path) -> bool:
        """Return False: Codex has no permission for one file. Its sandbox allows edits in the
        directory, except in `plan`."""
        return False

    def forbid_writing(self, agent: AgentName) -> None:
        return

    def hold_compaction(self, agent: AgentName) -> bool:
        """Return False: a Codex hook cannot delay a compaction, only end the turn."""
        return False

    def release_compaction(self, agent: AgentName) -> bool:
        return False

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        """See `copy_session.ask_copy`."""
        order = replace(order, directory=copies_folder(self.state))
        # Processes that the copy starts get the agent's rights only.
        environment = {**without_tmux(order.environment), "COCKPIT_RUN": order.run}
        return await ask_copy(program.path, order, question, environment, deadline)


def check_arguments(arguments: Sequence[str]) -> None:
    """Raise `BadUsage` for a user's argument that is not allowed."""
    for argument in arguments:
        reason = RESERVED_ARGUMENTS.get(argument.partition("=")[0])
        if argument in COMMANDS:
            reason = "an agent is one interactive session"
        if reason:
            raise BadUsage(
                f"{argument!a} is not allowed in an agent's arguments",
                f"{reason[0].upper()}{reason[1:]}.",
                "Remove it from `arguments` in cockpit.toml.",
            )


def without_tmux(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables by which Codex detects the user's own tmux."""
    return {name: value for name, value in environment.items() if not name.startswith("TMUX")}
