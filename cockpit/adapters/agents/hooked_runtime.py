"""The base class of the runtimes whose CLI has hooks.

A subclass overrides the methods for which its CLI works differently, and methods of
`RuntimeDefaults` for the CLI's optional features.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cockpit.adapters.agents.hook_answers import additional_context
from cockpit.adapters.agents.runtime_defaults import RuntimeDefaults
from cockpit.adapters.hooks.responses import FACTS, HookResponses
from cockpit.adapters.hooks.spool import Spool
from cockpit.core.errors import BadUsage

if TYPE_CHECKING:
    from cockpit.core.ids import AgentName


class HookedRuntime(RuntimeDefaults):
    """A runtime whose CLI reports through hooks, and reads text from hook responses.

    Stores its files below `state`, by agent name.
    """

    steps: tuple[str, ...]
    """Events after which the session continues, and whose hooks can add context."""

    def __init__(self, state: Path, *, program: Path | None = None) -> None:
        self.state = state
        self.spool = Spool(state / "spool")
        self.responses = HookResponses(state / "verdicts")
        self._program = program

    def context(self, event: str, text: str) -> dict[str, Any]:
        """Return a hook response that adds `text` to the model's context."""
        return additional_context(event, text)

    def supplement(self, agent: AgentName, text: str, *, at_start: bool) -> bool:
        """Queue facts for the model, as `Runtime.supplement` describes. Returns True."""
        events = ("SessionStart",) if at_start else self.steps
        answers = {event: self.context(event, text) for event in events}
        self.responses.ask(agent, answers, group=FACTS)
        return True

    def withdraw_supplement(self, agent: AgentName) -> bool:
        return self.responses.withdraw_ask(agent, FACTS)

    def withdraw_ask(self, agent: AgentName) -> bool:
        return self.responses.withdraw_ask(agent)

    def permit_writing(self, agent: AgentName, path: Path) -> bool:
        """Make cockpit's hooks allow writing this file without a dialog. Returns True."""
        self.responses.permit(agent, str(path))
        return True

    def forbid_writing(self, agent: AgentName) -> None:
        self.responses.forbid(agent)

    def hold_compaction(self, agent: AgentName) -> bool:
        """Make the hook before the next compaction wait for `release_compaction`. Returns True.

        The hook waits for at most eight seconds, and only while the process that called this method
        runs.
        """
        self.responses.hold_compaction(agent, os.getpid())
        return True

    def release_compaction(self, agent: AgentName) -> bool:
        return self.responses.release_compaction(agent)


def refuse_reserved(
    arguments: Sequence[str],
    reserved: Mapping[str, str],
    commands: Collection[str] = (),
    flags: str = "",
) -> None:
    """Raise `BadUsage`, with the reason, for an argument in `reserved` or `commands`.

    `reserved` are the reasons, by option; the arguments `--OPTION=VALUE` and `-oVALUE` count as the
    option. `commands` are the CLI's subcommands, which start something other than a session.
    `flags` are the letters of short options without a value; after such a letter, the same argument
    can contain another option.
    """
    for argument in arguments:
        options = _options_in(argument, flags)
        reason = next((reserved[option] for option in options if option in reserved), None)
        hint = "Remove this argument from `arguments` in cockpit.toml."
        if argument in commands:
            reason = "an agent is one interactive session"
            hint += (
                " If the argument is the value of an option, write option and value as "
                "one argument: --OPTION=VALUE"
            )
        if reason:
            raise BadUsage(
                f"{argument!a} is not allowed in an agent's arguments",
                f"The reason: {reason}.",
                hint,
            )


def _options_in(argument: str, flags: str) -> Iterator[str]:
    """Yield the options that an argument sets, such as `-s` and `-y` for `-sy`."""
    if not argument.startswith("-") or argument.startswith("--"):
        yield argument.partition("=")[0]
        return
    for letter in argument[1:]:
        yield f"-{letter}"
        if letter not in flags:
            return


def without_tmux(environment: Mapping[str, str], others: Collection[str] = ()) -> dict[str, str]:
    """Return the environment without tmux's variables, and without those named in `others`."""
    return {
        name: value
        for name, value in environment.items()
        if name not in others and not name.startswith("TMUX")
    }
