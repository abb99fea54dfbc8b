"""The stand-in's model: the demo's script, called directly and changed by faults."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit.demo.conversation import AGREED, OVERLOADED, ApiError, Reply, Request, ToolCall
from cockpit.demo.job import Growth, Job, Step, bash, ending
from cockpit.demo.jobs import JOBS
from cockpit.demo.more_jobs import MORE
from cockpit.demo.script import Script
from cockpit.demo.standin.behaviour import Behaviour
from cockpit.demo.standin.tools import OFFERED

USED_UP = ApiError(429, "rate_limit_error", "Claude AI usage limit reached|2000000000")
"""The error for a reached usage limit, in the CLI's format. The number after the vertical bar is
the time at which the limit resets."""


def counting_job(steps: int, pause: int | None, *, settles: bool, run: str = "") -> Job:
    """Return a job of `steps` steps for prompts from outside the demo; the last step ends the
    job."""
    return Job(
        agent="any",
        mode="auto",
        title="",
        request="Count the steps.",
        milestones=("Count",),
        steps=(
            *(counting_step(number, steps, pause, run) for number in range(1, steps)),
            ending("All steps are counted."),
        ),
        state="Counting.",
        decisions="None.",
        dead_end="None.",
        settles=settles,
    )


def counting_step(number: int, steps: int, pause: int | None, run: str) -> Step:
    """Return one step: a command, or at `pause` a question that ends the turn."""
    title = f"Count step {number} of {steps}"
    if number == pause:
        return Step(title, f"Step {number} of {steps}: shall I continue?")
    say = f"Step {number} of {steps}."
    return Step(title, say, (bash(run or f"echo counted {number}", f"Count {number}"),))


class StandinModel:
    """The simulated model of one session: answers the session's requests."""

    def __init__(self, behaviour: Behaviour, directory: Path, session_id: str) -> None:
        self._behaviour = behaviour
        job = counting_job(
            behaviour.steps, behaviour.pause, settles=behaviour.settles, run=behaviour.run
        )
        growth = Growth(opening=behaviour.opening_tokens, step=behaviour.step_tokens)
        self._script = Script((*JOBS, *MORE, job), pace=0.0, growth=growth)
        self._system = f"Primary working directory: {directory}"
        self._session = session_id
        self._replies = 0

    def answer(self, messages: Sequence[Mapping[str, Any]]) -> Reply:
        """Return the model's reply to these messages, or an error."""
        self._replies += 1
        if self._replies == 3 and "overloaded" in self._behaviour.faults:
            return Reply(error=OVERLOADED)
        if self._replies == 3 and "limited" in self._behaviour.faults:
            return Reply(error=USED_UP)
        if "restless" in self._behaviour.faults:
            messages = json.loads(json.dumps(list(messages)).replace(AGREED, "handoff waits"))
        body = {
            "system": self._system,
            "messages": list(messages),
            "tools": [{"name": name} for name in OFFERED],
            "metadata": {"user_id": f'{{"session_id":"{self._session}"}}'},
        }
        reply = self._script(Request(body))
        calls = tuple(
            bent for call in reply.tool_calls if (bent := self._with_faults(call)) is not None
        )
        if self._replies == 3 and "stuck" in self._behaviour.faults:
            calls = (*calls, bash("sleep 600", "Wait for ten minutes"))
        return replace(reply, tool_calls=calls)

    def _with_faults(self, call: ToolCall) -> ToolCall | None:
        """Return the call as changed by the faults; None if a fault removes the call."""
        if call.name == "Write" and call.is_about_document:
            if self._behaviour.draft:
                place = shlex.quote(str(call.input["file_path"]))
                return bash(f"DRAFT={place}; {self._behaviour.draft}", "Write the document")
            if "nodocument" in self._behaviour.faults:
                return None
            if "baddocument" in self._behaviour.faults:
                return replace(call, input={**call.input, "content": "All is well.\n"})
        if call.name == "Read" and call.is_about_document and "unread" in self._behaviour.faults:
            return None
        return call
