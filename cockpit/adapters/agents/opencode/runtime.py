"""The runtime `opencode`: start opencode, find its transcript, and answer its hooks.

Combines the other modules of this package. Does not use panes, and never writes to opencode's own
files: the environment of one run makes opencode load cockpit's plugin.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from cockpit.adapters.agents.hook_answers import additional_context, block
from cockpit.adapters.agents.opencode.capabilities import CAPABILITIES
from cockpit.adapters.agents.opencode.composer import composer_empty
from cockpit.adapters.agents.opencode.copy_session import ask_copy
from cockpit.adapters.agents.opencode.first_dialogs import first_dialog
from cockpit.adapters.agents.opencode.hook_events import moments
from cockpit.adapters.agents.opencode.models import compacts_at, window
from cockpit.adapters.agents.opencode.permission_modes import RIGHTS, permission_mode
from cockpit.adapters.agents.opencode.plugin import FOLDER, plugin_environment
from cockpit.adapters.agents.opencode.program import find_program
from cockpit.adapters.agents.opencode.record import parse
from cockpit.adapters.agents.opencode.sessions import (
    check_resumable,
    record_path,
    reported_transcript,
)
from cockpit.adapters.hooks.responses import FACTS, HookResponses
from cockpit.adapters.hooks.spool import Spool
from cockpit.adapters.process.prompt_files import PROMPTS
from cockpit.core.dialogs import NO_STEP, Answer, Dialog, Step, Stuck
from cockpit.core.errors import BadUsage
from cockpit.core.ids import AgentName
from cockpit.core.moments import Moment
from cockpit.core.permission import Rights, nearest
from cockpit.core.prompt_files import IN_A_FILE
from cockpit.core.reading import Window
from cockpit.core.session import SessionEvent, Skipped
from cockpit.core.tool_names import ToolNames
from cockpit.ports.panes import Launch, Screen
from cockpit.ports.runtimes import Aside, Presence, Program, Report, SessionOrder, Signal

STEPS = ("UserPromptSubmit", "PostToolUse")
"""Events after which the session continues, and whose hooks can add context."""
OPENCODE_TOOLS = ToolNames(
    cli="opencode",
    read="your read tool",
    write="your write tool",
    all=("read", "write", "edit", "bash", "grep", "task", "todowrite"),
)

RESERVED_ARGUMENTS = {
    "--prompt": "cockpit sets the first prompt; use prompt",
    "--session": "cockpit chooses the session",
    "-s": "cockpit chooses the session",
    "--continue": "cockpit chooses the session",
    "-c": "cockpit chooses the session",
    "--fork": "cockpit chooses the session",
    "--model": "cockpit sets the model; use model",
    "-m": "cockpit sets the model; use model",
    "--auto": "cockpit sets the permission mode; use permission_mode",
    "--pure": "cockpit's plugin would not be loaded",
    "--mini": "cockpit cannot read this screen",
}
"""CLI arguments that the user may not set, each with the reason."""
COMMANDS = frozenset(
    {"acp", "agent", "attach", "auth", "github", "mcp", "pr", "providers", "run", "serve"}
    | {"session", "upgrade", "web"}
)


class Opencode:
    """The runtime `opencode`. Stores its files below `state`, by agent name or session id."""

    name = "opencode"
    capabilities = CAPABILITIES
    modes = RIGHTS
    tools = OPENCODE_TOOLS

    def __init__(self, state: Path, *, program: Path | None = None) -> None:
        self.state = state
        self.spool = Spool(state / "spool")
        self.responses = HookResponses(state / "verdicts")
        self._program = program

    def program(self, environment: Mapping[str, str]) -> Program:
        """See `program.find_program`. Blocks for about a second, for the probe."""
        return find_program(environment, path=self._program)

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """Return how to launch opencode for a new or resumed session, with cockpit's plugin.

        Installs the plugin and the reporter, and creates the agent's spool. The first prompt is
        written to a file, and the argument contains the file's path; the plugin replaces the path
        with the prompt. opencode drops the first prompt of a reopened session, so the plugin sends
        that prompt. Raises `BadUsage` for arguments that are not allowed and for modes that
        opencode does not have.
        """
        check_arguments(order.arguments)
        mode = permission_mode(order.permission_mode)
        self.spool.prepare(order.agent)
        argv = [str(program.path), *mode.arguments]
        if order.model:
            argv += ["--model", order.model]
        argv += [*order.arguments]
        if order.resume:
            argv += ["--session", order.session_id]
        folder = self.state.absolute() / PROMPTS / order.run
        prompt = folder / f"prompt-{secrets.token_hex(8)}.md" if order.prompt else None
        if prompt and not order.resume:
            argv += ["--prompt", IN_A_FILE.format(prompt)]
        return Launch(
            argv=argv,
            directory=order.directory,
            environment={
                **order.environment,
                **plugin_environment(self.state, order, mode, prompt),
                "PWD": str(order.directory),
                "COCKPIT_AGENT": order.agent,
                "COCKPIT_RUN": order.run,
            },
            prompt=order.prompt,
            prompt_folder=folder,
            prompt_file=prompt,
        )

    def nearest_mode(self, mode: str, rights: Rights) -> str:
        return nearest(self.modes, mode, rights)

    def transcript(self, order: SessionOrder) -> Path | None:
        """Return the transcript that the plugin writes. A new session's first hook reports its
        id."""
        return record_path(self.state.absolute() / FOLDER, order.session_id)

    def resumable(self, order: SessionOrder) -> None:
        check_resumable(order.session_id, order.directory, order.environment)

    def parse(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        return parse(line)

    def window(self, model: str | None, environment: Mapping[str, str]) -> Window:
        return window(model)

    def compacts_at(self, window: int, environment: Mapping[str, str]) -> int | None:
        return compacts_at(window, environment)

    def compaction_settings(self, environment: Mapping[str, str]) -> str:
        return ""

    def presence(self, pid: int, environment: Mapping[str, str]) -> Presence | None:
        """Return None: opencode writes no status file. The transcript shows when turns begin and
        end."""
        return None

    def presence_in(self, title: str) -> Presence | None:
        return None

    def report(self, signal: Signal) -> Report | None:
        return None

    def moments(self, signal: Signal) -> Sequence[Moment]:
        return moments(signal, self.state.absolute() / FOLDER)

    def told_on(self, screen: Screen) -> Sequence[Moment]:
        return ()

    def permission_mode(self, signal: Signal) -> str | None:
        """Return None: the plugin does not know which permissions the user gave in the session."""
        return None

    def reported_transcript(self, path: str, session: str) -> Path | None:
        return reported_transcript(self.state.absolute() / FOLDER, path, session)

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
        """Queue a text for the model. The text arrives with the next tool's result, or as a prompt
        at the end of the turn."""
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
        """Make the plugin answer opencode's question about this file before a dialog opens. Has no
        effect in `plan`, where opencode refuses without a question."""
        self.responses.permit(agent, str(path))
        return True

    def forbid_writing(self, agent: AgentName) -> None:
        self.responses.forbid(agent)

    def hold_compaction(self, agent: AgentName) -> bool:
        self.responses.hold_compaction(agent, os.getpid())
        return True

    def release_compaction(self, agent: AgentName) -> bool:
        return self.responses.release_compaction(agent)

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        """See `copy_session.ask_copy`."""
        return await ask_copy(program.path, order, question, deadline)


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
