"""One session of the stand-in: prompts, turns, tools and hooks, until the user ends it.

The order is Claude Code's: a reply is recorded before its tools run, a tool's hook runs after the
tool, the model gets a hook's text with its next request, and a refused stop continues the turn.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit.demo.conversation import COMPACTED, COMPACTION_REQUEST, Reply, TokenCount, ToolCall
from cockpit.demo.standin.behaviour import Behaviour, Flags
from cockpit.demo.standin.hooks import Hooks, Verdict
from cockpit.demo.standin.mentions import mentioned
from cockpit.demo.standin.model import StandinModel
from cockpit.demo.standin.presence import Presence
from cockpit.demo.standin.record import Record, join
from cockpit.demo.standin.screen import Screen
from cockpit.demo.standin.tools import Outcome, Tools

COMPACTS_BELOW = 33_000
"""Number of tokens left in the window at which the CLI compacts automatically."""
MODES = ("default", "acceptEdits", "plan")
"""The permission modes through which Shift+Tab cycles."""
STOP_BLOCKS = 8
"""Maximum consecutive times that hooks can refuse the end of a turn; then the turn ends."""


class Session:
    """A session, from its first hook to its last one."""

    def __init__(
        self, flags: Flags, behaviour: Behaviour, record: Record, presence: Presence, screen: Screen
    ) -> None:
        self._flags, self._behaviour = flags, behaviour
        self._record, self._presence, self._screen = record, presence, screen
        directory = Path.cwd()
        hookless = "hookless" in behaviour.faults
        self._hooks = Hooks() if hookless else Hooks.of(flags.settings)
        self._model = StandinModel(behaviour, directory, flags.session_id)
        self._tools = Tools(directory)
        self._tools_run = 0
        self._messages: list[dict[str, Any]] = []
        self._queue: deque[str] = deque([flags.prompt] if flags.prompt else [])
        self._tokens: TokenCount | None = None
        self._cost = 0.0
        self._prompt_id = ""
        self._mode = flags.permission_mode
        self._number = 0

    def run(self) -> int:
        if self._flags.resume:
            self._messages = self._record.conversation()
        if "trust" in self._behaviour.faults:
            self._dialog("dialog open", ["Do you trust the files in this folder?", "❯ 1. Yes"])
        self._call("SessionStart", source="resume" if self._flags.resume else "startup")
        self._record.note("permission-mode", permissionMode=self._mode)
        self._say_status()
        while True:
            while self._queue:
                self._turn(self._queue.popleft())
            self._presence.say("idle")
            self._screen.hint = "? for shortcuts"
            self._screen.draw()
            heard = self._screen.listen(None)
            if heard and heard[0] == "quit":
                self._stay_if_deaf()
                return 0
            if heard and heard[0] == "mode":
                self._next_mode()
            if heard and heard[0] == "prompt" and (typed := heard[1].strip()):
                if typed == "/exit":
                    return 0
                if typed == "/compact":
                    self._compact("manual")
                elif typed == "/clear":
                    self._change_session("clear", str(uuid.uuid4()))
                elif typed.startswith("/resume "):
                    self._change_session("resume", typed.removeprefix("/resume ").strip())
                else:
                    self._queue.append(heard[1])

    def _stay_if_deaf(self) -> None:
        """With the fault `deaf`, never return: the session keeps running without a terminal."""
        while "deaf" in self._behaviour.faults:
            time.sleep(60)

    def end(self, reason: str) -> None:
        """Run the `SessionEnd` hook, and remove the status file."""
        self._call("SessionEnd", reason=reason)
        self._presence.leave()

    def _turn(self, prompt: str) -> None:
        began = time.monotonic()
        self._prompt_id = str(uuid.uuid4())
        self._presence.say("busy")
        self._screen.hint = "esc to interrupt"
        self._screen.say(f"❯ {prompt}")
        files = tuple(mentioned(prompt))
        verdict = self._call("UserPromptSubmit", prompt=prompt)
        self._record.prompt(prompt, permission_mode=self._mode)
        for file in files:
            self._record.mention(file)
            for text in file.reminders:
                self._hear(text)
        self._hear(prompt)
        if verdict.context:
            self._record.context("UserPromptSubmit", "", "", verdict.context)
            self._hear(reminder("UserPromptSubmit", verdict.context))
        if self._work():
            self._record.turn_ended(int((time.monotonic() - began) * 1000))

    def _work(self) -> bool:
        """Get replies until the model stops; return False after an interruption or an error."""
        blocks = 0
        while True:
            if self._interrupted():
                self._record.interrupted()
                self._screen.say("  ⎿  Interrupted · What should Claude do instead?")
                return False
            if self._tokens and self._tokens.context >= self._behaviour.window - COMPACTS_BELOW:
                self._compact()
            reply = self._model.answer(self._messages)
            if reply.error is not None:
                self._fail(reply)
                return False
            self._write_reply(reply)
            for number, call in enumerate(reply.tool_calls):
                self._use(call, number)
            if reply.tool_calls:
                continue
            verdict = self._call(
                "Stop", stop_hook_active=blocks > 0, last_assistant_message=reply.text
            )
            if verdict.reason is None or blocks >= STOP_BLOCKS:
                return True
            blocks += 1
            self._go_on(verdict)

    def _write_reply(self, reply: Reply) -> None:
        self._number += 1
        self._tokens = reply.tokens
        self._cost += reply.tokens.context * 0.3e-6 + reply.tokens.output * 15e-6
        blocks: list[dict[str, Any]] = []
        if reply.text:
            blocks.append({"type": "text", "text": reply.text})
        for place, call in enumerate(reply.tool_calls):
            given = dict(call.input)
            used = {"type": "tool_use", "id": self._tool_id(place), "name": call.name}
            blocks.append({**used, "input": given})
        message = {
            "id": f"msg_{self._flags.session_id[:8]}_{self._number:04}",
            "type": "message",
            "role": "assistant",
            "content": blocks,
            "stop_reason": reply.stop_reason,
        }
        self._record.reply(message, reply.tokens)
        self._messages.append({"role": "assistant", "content": blocks})
        self._screen.say(f"● {reply.text}")
        self._say_status()

    def _use(self, call: ToolCall, place: int) -> None:
        self._tools_run += 1
        if self._tools_run == 2 and "permission" in self._behaviour.faults:
            self._call("PermissionRequest", tool_name=call.name, tool_input=dict(call.input))
            self._dialog("permission prompt", [f"{call.name}: do you want to proceed?", "❯ 1. Yes"])
        self._screen.say(f"● {call.name}({call.path or call.input.get('description', '')})")
        outcome = self._tools.run(call.name, call.input)
        tool_id = self._tool_id(place)
        event = "PostToolUseFailure" if outcome.failed else "PostToolUse"
        verdict = self._call(event, **reported(call, outcome, tool_id))
        self._record.result(tool_id, outcome.text, outcome.response, failed=outcome.failed)
        text = outcome.text
        if verdict.context:
            self._record.context(event, call.name, tool_id, verdict.context)
            text = f"{text}\n\n{reminder(f'{event}:{call.name}', verdict.context)}"
        block = {"type": "tool_result", "tool_use_id": tool_id, "content": text}
        join(self._messages, {"role": "user", "content": [block]})

    def _go_on(self, verdict: Verdict) -> None:
        """Continue after a refused stop; the model gets the reason of the refusal."""
        feedback = f"Stop hook feedback:\n{verdict.reason}"
        self._record.refusal(verdict.reason or "", verdict.command)
        self._record.prompt(feedback, permission_mode=self._mode, meta=True)
        self._hear(feedback)

    def _change_session(self, source: str, session: str) -> None:
        """Switch to another session in this process, as `/clear` and `/resume ID` do.

        The transcript of a resumed session is continued, but the model does not get its contents.
        """
        self._call("SessionEnd", reason=source)
        self._flags = replace(self._flags, session_id=session)
        self._record = self._record.another(session)
        self._presence.take(session)
        self._model = StandinModel(self._behaviour, Path.cwd(), session)
        self._messages, self._tokens, self._number = [], None, 0
        self._begin(source)
        self._say_status()

    def _begin(self, source: str) -> None:
        """Run the `SessionStart` hook, and pass the hook's text to the model, except with the fault
        `dropped`."""
        verdict = self._call("SessionStart", source=source)
        if verdict.context and "dropped" not in self._behaviour.faults:
            self._record.context("SessionStart", "", "SessionStart", verdict.context)
            self._hear(reminder("SessionStart", verdict.context))

    def _compact(self, trigger: str = "auto") -> None:
        before = self._tokens.context if self._tokens else 0
        if self._call("PreCompact", trigger=trigger, custom_instructions=None).reason is not None:
            return
        request = f"Your task is to create a {COMPACTION_REQUEST} so far."
        asked = [*self._messages, {"role": "user", "content": request}]
        time.sleep(self._behaviour.pace)
        summary = f"{COMPACTED}.\n\n{self._model.answer(asked).text}"
        self._record.compacted(before, summary, trigger)
        self._messages = [{"role": "user", "content": [{"type": "text", "text": summary}]}]
        self._tokens = None
        self._call("PostCompact", trigger=trigger, compact_summary=summary)
        self._begin("compact")
        self._say_status()

    def _fail(self, reply: Reply) -> None:
        error = reply.error
        assert error is not None
        self._record.failure(error.status, error.type, error.message)
        self._screen.say(f"  ⎿  API Error: {error.status} {error.message}")
        kind = "rate_limit" if error.status == 429 else "overloaded"
        self._call("StopFailure", error=kind, error_details=error.message)

    def _interrupted(self) -> bool:
        """Wait as long as a reply takes, and queue prompts typed meanwhile.

        Returns True at once if the user presses Esc or quits, else False after the wait.
        """
        until = time.monotonic() + self._behaviour.pace
        while (left := until - time.monotonic()) > 0:
            heard = self._screen.listen(left)
            if heard and heard[0] in ("escape", "quit"):
                return True
            if heard and heard[0] == "mode":
                self._next_mode()
            if heard and heard[1].strip():
                self._queue.append(heard[1])
        return False

    def _next_mode(self) -> None:
        """Switch to the next permission mode, as Shift+Tab does."""
        place = MODES.index(self._mode) if self._mode in MODES else -1
        self._mode = MODES[(place + 1) % len(MODES)]
        self._record.note("permission-mode", permissionMode=self._mode)

    def _dialog(self, waiting_for: str, lines: list[str]) -> None:
        """Show a question, and wait for Enter, Esc, Shift+Tab or Ctrl-C."""
        self._presence.say("waiting", waiting_for)
        self._screen.dialog = lines
        self._screen.draw()
        while self._screen.listen(None) is None:
            pass
        self._screen.dialog = []
        self._presence.say("busy")

    def _hear(self, text: str) -> None:
        join(self._messages, {"role": "user", "content": text})

    def _tool_id(self, place: int) -> str:
        return f"toolu_{self._flags.session_id[:8]}_{self._number:04}_{place}"

    def _call(self, event: str, **fields: Any) -> Verdict:
        return self._hooks.call(event, {**self._common(), **fields})

    def _common(self) -> dict[str, Any]:
        return {
            "session_id": self._flags.session_id,
            "transcript_path": str(self._record.path),
            "cwd": str(Path.cwd()),
            "prompt_id": self._prompt_id,
            "permission_mode": self._mode,
        }

    def _say_status(self) -> None:
        if "lineless" in self._behaviour.faults:
            return
        tokens, window = self._tokens, self._behaviour.window
        usage = None
        if tokens is not None:
            usage = {
                "input_tokens": tokens.input,
                "output_tokens": tokens.output,
                "cache_creation_input_tokens": tokens.cache_creation,
                "cache_read_input_tokens": tokens.cache_read,
            }
        payload = {
            **self._common(),
            "model": {"id": self._flags.model, "display_name": "stand-in"},
            "workspace": {"current_dir": str(Path.cwd()), "project_dir": str(Path.cwd())},
            "version": "2.1.330",
            "cost": {"total_cost_usd": round(self._cost, 6)},
            "context_window": {
                "context_window_size": window,
                "current_usage": usage,
                "used_percentage": round(100 * tokens.context / window) if tokens else None,
            },
        }
        self._screen.status = self._hooks.status_line(payload)
        self._screen.draw()


def reminder(event: str, text: str) -> str:
    """Return a hook's text in the CLI's format for the model."""
    return f"<system-reminder>\n{event} hook additional context: {text}\n</system-reminder>"


def reported(call: ToolCall, outcome: Outcome, tool_id: str) -> dict[str, Any]:
    payload = {"tool_name": call.name, "tool_input": dict(call.input), "tool_use_id": tool_id}
    if outcome.failed:
        return {**payload, "error": outcome.text}
    return {**payload, "tool_response": outcome.response}
