"""The runtime `opencode`: start opencode, find its transcript, and answer its hooks.

Combines the other modules of this package. Does not use panes, and never writes to opencode's own
files: the environment of one run makes opencode load cockpit's plugin.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from cockpit.adapters.agents.hook_answers import block
from cockpit.adapters.agents.hooked_runtime import HookedRuntime, refuse_reserved
from cockpit.adapters.agents.opencode.capabilities import CAPABILITIES
from cockpit.adapters.agents.opencode.composer import composer_empty
from cockpit.adapters.agents.opencode.copy_session import ask_copy
from cockpit.adapters.agents.opencode.first_dialogs import first_dialog
from cockpit.adapters.agents.opencode.hook_events import cli_events
from cockpit.adapters.agents.opencode.models import SWITCHED_OFF, compacts_at, window
from cockpit.adapters.agents.opencode.permission_modes import RIGHTS, permission_mode
from cockpit.adapters.agents.opencode.plugin import FOLDER, plugin_environment
from cockpit.adapters.agents.opencode.program import find_program
from cockpit.adapters.agents.opencode.record import parse
from cockpit.adapters.agents.opencode.sessions import (
    check_resumable,
    record_path,
    reported_transcript,
)
from cockpit.adapters.process.prompt_files import PROMPTS
from cockpit.core.cli_events import CliEvent
from cockpit.core.ids import AgentName
from cockpit.core.permission import Rights, nearest
from cockpit.core.prompt_files import IN_A_FILE
from cockpit.core.reading import Window
from cockpit.core.session import SessionEvent, Skipped
from cockpit.core.tool_names import ToolNames
from cockpit.ports.panes import Launch, Screen
from cockpit.ports.runtimes import Aside, CompactionRule, Program, SessionOrder, Signal

OPENCODE_TOOLS = ToolNames(
    cli="opencode",
    read="your read tool",
    write="your write tool",
    all=("read", "write", "edit", "bash", "grep", "task", "todowrite"),
)

RESERVED_ARGUMENTS = {
    "--prompt": "cockpit sets the first prompt; use the setting prompt",
    "--session": "cockpit chooses the session",
    "-s": "cockpit chooses the session",
    "--continue": "cockpit chooses the session",
    "-c": "cockpit chooses the session",
    "--fork": "cockpit chooses the session",
    "--model": "cockpit sets the model; use the setting model",
    "-m": "cockpit sets the model; use the setting model",
    "--auto": "cockpit sets the permission mode; use the setting permission_mode",
    "--pure": "cockpit's plugin would not be loaded",
    "--mini": "cockpit cannot read this screen",
}
"""CLI arguments that the user may not set, each with the reason."""
COMMANDS = frozenset(
    {"acp", "agent", "attach", "auth", "github", "mcp", "pr", "providers", "run", "serve"}
    | {"session", "upgrade", "web"}
)


class Opencode(HookedRuntime):
    """The runtime `opencode`. Stores its files below `state`, by agent name or session id.

    opencode writes no status file: the transcript shows when turns begin and end. The plugin does
    not know which permissions the user gave in the session. If opencode asks about the file of
    `permit_writing`, the plugin answers before a dialog opens; in `plan`, opencode refuses the file
    without a question.
    """

    name = "opencode"
    capabilities = CAPABILITIES
    modes = RIGHTS
    tools = OPENCODE_TOOLS
    steps = ("UserPromptSubmit", "PostToolUse")

    def program(self, environment: Mapping[str, str]) -> Program:
        """Return the CLI to run; see `find_program`. Blocks for up to `PROBE_SECONDS`."""
        return find_program(environment, path=self._program)

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """Return how to launch opencode for a new or resumed session, with cockpit's plugin.

        Installs the plugin and the reporter, and creates the agent's spool. The first prompt is
        written to a file, and the argument contains the file's path; the plugin replaces the path
        with the prompt. opencode drops the first prompt of a reopened session, so the plugin sends
        that prompt. Raises `BadUsage` for arguments that are not allowed and for modes that
        opencode does not have.
        """
        refuse_reserved(order.arguments, RESERVED_ARGUMENTS, COMMANDS)
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
        """Return the path of the transcript that the plugin writes.

        None for a new session, which has no id until its first hook has reported one.
        """
        return record_path(self.state.absolute() / FOLDER, order.session_id)

    def resumable(self, order: SessionOrder) -> None:
        check_resumable(order.session_id, order.directory, order.environment)

    def parse(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        return parse(line)

    def window(self, model: str | None, environment: Mapping[str, str]) -> Window:
        return window(model)

    def compaction_rule(self, environment: Mapping[str, str]) -> CompactionRule:
        switched = environment.get(SWITCHED_OFF, "")
        return CompactionRule(partial(compacts_at, environment=environment), switched)

    def cli_events(self, signal: Signal) -> Sequence[CliEvent]:
        return cli_events(signal, self.state.absolute() / FOLDER)

    def reported_transcript(self, path: str, session: str) -> Path | None:
        return reported_transcript(self.state.absolute() / FOLDER, path, session)

    def composer(self, screen: Screen) -> bool | None:
        return composer_empty(screen)

    def first_dialog(self, screen: Screen) -> str | None:
        return first_dialog(screen)

    def ask(self, agent: AgentName, mid_turn: str, at_end: str | None) -> bool:
        """Queue a request; the model gets only one of the two texts. Returns True.

        `mid_turn` arrives with the next tool result. `at_end`, unless it is None, arrives as a
        prompt at the end of the turn.
        """
        answers = {"PostToolUse": self.context("PostToolUse", mid_turn)}
        if at_end is not None:
            answers["Stop"] = block("Stop", at_end)
        self.responses.ask(agent, answers)
        return True

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        """Return the answer of a copy of the session; see `copy_session.ask_copy`."""
        return await ask_copy(program.path, order, question, deadline)
