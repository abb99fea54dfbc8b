"""The runtime `command`: any program as an agent, with a pane and a row but no reports."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from cockpit.adapters.agents.runtime_defaults import RuntimeDefaults
from cockpit.adapters.files.foreign_files import is_file
from cockpit.adapters.process.prompt_files import PROMPTS
from cockpit.core.capabilities import Capabilities, No, SessionIds
from cockpit.core.cli_events import CliEvent
from cockpit.core.errors import BadUsage, NotNow, ProgramMissing
from cockpit.core.ids import AgentName
from cockpit.core.permission import Modes, Rights
from cockpit.core.reading import Confidence, Window
from cockpit.core.safetext import safe_line
from cockpit.core.session import SessionEvent, Skipped
from cockpit.core.tool_names import ToolNames
from cockpit.ports.panes import Launch, Screen
from cockpit.ports.runtimes import (
    Aside,
    CompactionRule,
    Program,
    SessionOrder,
    Signal,
)

SHELL = "/bin/sh"
PROMPT_FILE = "{prompt_file}"
"""Placeholder in a command; replaced with the path of a private file that contains the prompt."""

_PLAIN = No("a plain command")
CAPABILITIES = Capabilities(
    session_ids=SessionIds.NONE,
    readings=_PLAIN,
    window=_PLAIN,
    activity=(),
    mid_turn=_PLAIN,
    turn_end=_PLAIN,
    dialogs=_PLAIN,
    answers=_PLAIN,
    api_errors=_PLAIN,
    compactions=_PLAIN,
    held_compactions=_PLAIN,
    drafts=_PLAIN,
    copies=_PLAIN,
    cost=_PLAIN,
    reopening=_PLAIN,
    tools=_PLAIN,
    background=_PLAIN,
    session_ends=_PLAIN,
)


class Command(RuntimeDefaults):
    """The runtime `command`: runs any command, reads no transcript, and sends no requests."""

    name: str = "command"
    capabilities: Capabilities = CAPABILITIES
    modes: Modes = {}  # noqa: RUF012
    tools = ToolNames(cli="the command", read="any tool", write="any tool", all=())

    def __init__(self, state: Path) -> None:
        self._state = state

    def program(self, environment: Mapping[str, str]) -> Program:
        """Return `/bin/sh`, without checking it: `launch` runs the order's command instead."""
        return Program(Path(SHELL), version="")

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """Return how to launch the order's command, with the prompt as the last argument.

        If an argument contains `{prompt_file}`, the prompt is written to a file instead, and the
        placeholder is replaced with the path; without a prompt the file is empty. Raises `BadUsage`
        without a command, and `ProgramMissing` if the command's first word is not a program.
        """
        if not order.command:
            raise BadUsage(
                f"{order.agent} has no command to run",
                'The runtime is "command", and the agent\'s `command` is empty.',
                'Set the command in cockpit.toml: command = ["bash", "-l"]',
            )
        folder = self._state / PROMPTS / order.run
        words = (*order.command[1:], *order.arguments)
        by_file = any(PROMPT_FILE in word for word in words)
        file = (folder / "prompt.md").absolute() if by_file else None
        arguments = (word.replace(PROMPT_FILE, str(file)) for word in words) if file else words
        return Launch(
            argv=(
                resolved_program(order.agent, order.command[0], order.directory, order.environment),
                *arguments,
            ),
            directory=order.directory,
            environment={
                **order.environment,
                "COCKPIT_AGENT": order.agent,
                "COCKPIT_RUN": order.run,
            },
            prompt=order.prompt,
            prompt_folder=folder,
            prompt_file=file,
        )

    def nearest_mode(self, mode: str, rights: Rights) -> str:
        return mode

    def transcript(self, order: SessionOrder) -> Path | None:
        return None

    def parse(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        return Skipped("not-a-record")

    def window(self, model: str | None, environment: Mapping[str, str]) -> Window:
        return Window(0, Confidence.UNKNOWN)

    def compaction_rule(self, environment: Mapping[str, str]) -> CompactionRule:
        return CompactionRule(lambda window: None)

    def cli_events(self, signal: Signal) -> Sequence[CliEvent]:
        return ()

    def reported_transcript(self, path: str, session: str) -> Path | None:
        return None

    def composer(self, screen: Screen) -> bool | None:
        return None

    def first_dialog(self, screen: Screen) -> str | None:
        return None

    def ask(self, agent: AgentName, mid_turn: str, at_end: str | None) -> bool:
        return False

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        raise NotNow(
            f"{order.agent} cannot write a document",
            f'cockpit cannot copy a session of the runtime "{self.name}".',
        )

    def withdraw_ask(self, agent: AgentName) -> bool:
        return False

    def supplement(self, agent: AgentName, text: str, *, at_start: bool) -> bool:
        return False

    def withdraw_supplement(self, agent: AgentName) -> bool:
        return False

    def permit_writing(self, agent: AgentName, path: Path) -> bool:
        return False

    def forbid_writing(self, agent: AgentName) -> None:
        return

    def hold_compaction(self, agent: AgentName) -> bool:
        return False

    def release_compaction(self, agent: AgentName) -> bool:
        return False

    def resumable(self, order: SessionOrder) -> None:
        raise NotNow(
            f"{order.agent} has no session to reopen",
            f'The runtime "{self.name}" cannot reopen sessions.',
            f"Start it again: cockpit start {order.agent}",
        )


def resolved_program(
    owner: str, word: str, directory: Path | None, environment: Mapping[str, str]
) -> str:
    """Return the path of the program that a pane would run for `word`.

    Looks on PATH; a word with a slash is a path, relative to `directory` if that is set. Raises
    `ProgramMissing`; its title begins with `owner`, such as the name of an agent.
    """
    local = directory / word if "/" in word and directory is not None else None
    path = shutil.which(str(local) if local else word, path=environment.get("PATH"))
    if path is None:
        raise ProgramMissing(
            f"{owner} cannot run {word!a}: no such program", *_why_missing(word, local)
        )
    return path


def _why_missing(word: str, local: Path | None) -> tuple[str, str]:
    """Return the detail and the hint for a program that was not found."""
    if "/" not in word:
        return "Searched in PATH.", "Check the name, or give the program's absolute path."
    tried = local or Path(word)
    shown = safe_line(str(tried), 4096)
    if is_file(tried):
        return f"{shown} is not executable.", f"Make it executable: chmod +x {shlex.quote(shown)}"
    instead = "install the program there" if tried.is_absolute() else "give the absolute path"
    return f"Tried {shown}.", f"Correct the path, or {instead}."
