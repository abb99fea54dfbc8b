"""What the simulated model of a real CLI replies, and the CLIs that a test makes with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

from cockpit.demo.conversation import Reply, TokenCount, ToolCall
from cockpit.demo.model import Answer, ModelServer

if TYPE_CHECKING:
    from cockpit.wire.status import AgentStatus
    from tests.supervisor.conftest import Cockpit

SLOW = 240.0
"""Seconds to wait for one state. On a busy machine, a CLI took 80 of them to start."""


class CliWithModel(Protocol):
    """A CLI's own folder for one cockpit, and the model that answers it."""

    model: ModelServer


Cli = TypeVar("Cli", bound=CliWithModel)


def made_with_models(
    make: Callable[[Cockpit, Answer], Cli], cockpit: Cockpit
) -> Iterator[Callable[[Answer], Cli]]:
    """For a fixture: what makes the CLI with a model. The models are stopped at the end."""
    made: list[Cli] = []

    def make_one(answer: Answer) -> Cli:
        made.append(make(cockpit, answer))
        return made[-1]

    yield make_one
    for each in made:
        each.model.stop()


def say(text: str, tokens: int = 20_000) -> Reply:
    """A reply that ends the turn."""
    return Reply(text, tokens=TokenCount(cache_read=tokens))


def bash(command: str, tokens: int = 20_000, **given: str) -> Reply:
    """A reply that runs a command; `given` are other parameters of the tool."""
    call = ToolCall("Bash", {"command": command, **given})
    return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=tokens))


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.handoff is None


def idle_with(last: TokenCount) -> Callable[[AgentStatus], bool]:
    """For a CLI whose context includes the last reply itself.

    A hook tells that a turn is over before that reply is read from the record.
    """
    tokens = last.context + last.output
    return lambda row: row.state == "idle" and row.context.tokens == tokens
