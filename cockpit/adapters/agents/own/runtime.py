"""A runtime from the table `[runtimes.NAME]`: a user's program, observed through its record."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cockpit.adapters.agents.command import Command, resolved_program
from cockpit.adapters.agents.own.record import parse
from cockpit.adapters.files.foreign_files import is_file, read_file
from cockpit.adapters.process.launch_order import LONGEST_ARGUMENT
from cockpit.adapters.process.prompt_files import PROMPTS, TO_PASTE, make_private_folder
from cockpit.config.own_runtimes import OwnRuntime
from cockpit.core.capabilities import Answer, Capabilities, No, SessionIds, Source, Yes
from cockpit.core.errors import BadUsage, NotNow, OsProblem
from cockpit.core.own_record import MARK
from cockpit.core.permission import Rights
from cockpit.core.prompt_files import IN_A_FILE
from cockpit.core.reading import Confidence, Window, resolve_window
from cockpit.core.session import Identified, SessionEvent, Skipped
from cockpit.core.tool_names import ToolNames
from cockpit.ports.panes import Launch
from cockpit.ports.runtimes import CompactionRule, Program, SessionOrder

FOLDER = "own-runtimes"
"""The folder for the files of all custom runtimes, below the state folder."""
ANSWERS = "answers"
"""The folder for the output of a runtime's reader, below the runtime's folder."""
COMPANION = Path(__file__).with_name("companion.py")

_SESSION_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FIRST_LINE = 65_536
"""Maximum bytes of a record's first line."""
_NO_HOOKS = No("the program does not run cockpit's hooks")
_UNKNOWN = No("`record` is not configured")


class OwnProgram(Command):
    """Runs the program of one `[runtimes.NAME]` table; requests can only be pasted into the
    program's pane."""

    def __init__(self, name: str, definition: OwnRuntime, state: Path) -> None:
        super().__init__(state)
        self.name = name
        self.definition = definition
        self.capabilities = capabilities_of(definition)
        self.tools = ToolNames(
            cli=name, read="any tool that reads files", write="any tool that writes files", all=()
        )
        self.folder = state.absolute() / FOLDER / name

    def program(self, environment: Mapping[str, str]) -> Program:
        """Return the program, without running it to check it. Raises `ProgramMissing`."""
        word, *_ = self._filled(self.definition.program, {"home": _home(environment)})
        owner = f'runtime "{self.name}"'
        return Program(Path(resolved_program(owner, word, None, environment)), version="")

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """Return how to launch the program for a new or resumed session; see `Runtime.launch`.

        Raises `BadUsage` for a model, mode or prompt without configured arguments, `NotNow` if the
        session cannot be reopened, and `OsProblem` if the record's folder cannot be created.
        """
        arguments = [
            str(program.path),
            *self._filled(self.definition.program[1:], self._values(order)),
            *self._arguments(order),
        ]
        folder = self._state.absolute() / PROMPTS / order.run
        prompt, file = self._prompt(order, folder)
        if self.definition.record:
            self._make_folders(order.agent)
        return Launch(
            argv=(*self._companion(order), *arguments, *prompt),
            directory=order.directory,
            environment={
                **order.environment,
                "COCKPIT_AGENT": order.agent,
                "COCKPIT_RUN": order.run,
            },
            prompt=order.prompt if file else None,
            prompt_folder=folder,
            prompt_file=file,
        )

    def _arguments(self, order: SessionOrder) -> list[str]:
        own = self.definition
        if order.resume and not own.resume:
            self.resumable(order)
        arguments = [*own.arguments, *(own.resume if order.resume else own.session)]
        if order.model:
            if not own.model:
                raise self._lacks(order, f"the model {order.model!a}", "model")
            arguments += [word.replace("{model}", order.model) for word in own.model]
        if order.permission_mode:
            if order.permission_mode not in own.permission_modes:
                known = ", ".join(own.permission_modes) or "none"
                raise BadUsage(
                    f'The runtime "{self.name}" has no permission mode {order.permission_mode!a}',
                    f"Known modes: {known}.",
                    f"Add the mode to [runtimes.{self.name}.permission_modes], or use another mode "
                    '(permission_mode = "" for none).',
                )
            arguments += own.permission_modes[order.permission_mode]
        return [*self._filled(arguments, self._values(order)), *order.arguments]

    def _prompt(self, order: SessionOrder, folder: Path) -> tuple[list[str], Path | None]:
        """Return the arguments for the first prompt, and the prompt's file if the arguments contain
        its path, or if cockpit will paste the prompt."""
        if not order.prompt:
            return [], None
        if self.definition.ready:
            return [], folder / TO_PASTE
        if not self.definition.prompt:
            raise self._lacks(order, "a first prompt", "prompt", " or `ready`")
        file = folder / "prompt.md"
        by_file = any("{prompt_file}" in word for word in self.definition.prompt)
        prompt = order.prompt.replace("\0", "")
        # A prompt that begins with a dash could be read as an option.
        unfit = prompt.startswith("-") or len(prompt.encode("utf-8", "replace")) > LONGEST_ARGUMENT
        if unfit:
            prompt = IN_A_FILE.format(file)
        arguments = self._filled(self.definition.prompt, {"prompt_file": str(file)})
        arguments = [word.replace("{prompt}", prompt) for word in arguments]
        return arguments, file if by_file or unfit else None

    def _lacks(self, order: SessionOrder, what: str, key: str, other: str = "") -> BadUsage:
        return BadUsage(
            f"cockpit cannot give {order.agent} {what}",
            f'The runtime "{self.name}" has no arguments for this.',
            f"Set `{key}`{other} in [runtimes.{self.name}], "
            f"or remove `{key}` from the agent's settings.",
        )

    def _companion(self, order: SessionOrder) -> list[str]:
        """Return the words before the program's own command, which make `companion` start the
        program; empty without a configured reader."""
        own = self.definition
        if not (own.reader and own.record):
            return []
        answers = self._answers(order)
        home = _home(order.environment)
        reader = self._filled(own.reader, {"home": home})
        spec = {
            "record": str(self._record(order)),
            "reader": reader,
            "answers": str(answers),
            "first_line": json.dumps(
                {
                    "record": MARK,
                    "session": order.session_id,
                    "directory": str(order.directory),
                }
            ),
        }
        return [sys.executable, "-I", "-S", str(COMPANION), json.dumps(spec)]

    def _make_folders(self, agent: str) -> None:
        try:
            make_private_folder(self.folder)
            make_private_folder(self.folder / ANSWERS)
        except OSError as error:
            raise OsProblem(
                f"Cannot create the folder for {agent}'s record",
                f"{error.filename}: {error.strerror}",
                "Free some space, or make the folder writable.",
            ) from error

    def transcript(self, order: SessionOrder) -> Path | None:
        if not self.definition.record:
            return None
        return self._answers(order) if self.definition.reader else self._record(order)

    def _record(self, order: SessionOrder) -> Path:
        pattern, home = self.definition.record, _home(order.environment)
        if pattern.startswith("~/"):
            pattern = home + pattern[1:]
        values = {
            "session": order.session_id,
            "directory": str(order.directory),
            "home": home,
            "state": str(self.folder),
        }
        return Path(self._filled([pattern], values)[0])

    def _answers(self, order: SessionOrder) -> Path:
        return self.folder / ANSWERS / f"{order.session_id}.jsonl"

    def _values(self, order: SessionOrder) -> dict[str, str]:
        return {
            "session": order.session_id,
            "record": str(self._record(order)) if self.definition.record else "",
            "directory": str(order.directory),
            "home": _home(order.environment),
            "state": str(self.folder),
        }

    def _filled(self, arguments: Sequence[str], values: Mapping[str, str]) -> list[str]:
        """Replace the placeholders in these words. A placeholder inside a value is not replaced."""
        return [_replaced(word, values) for word in arguments]

    def parse(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        return parse(line)

    def window(self, model: str | None, environment: Mapping[str, str]) -> Window:
        if not self.definition.record:
            return Window(0, Confidence.UNKNOWN)
        size = self.definition.window
        return Window(size, Confidence.DERIVED) if isinstance(size, int) else resolve_window()

    def compaction_rule(self, environment: Mapping[str, str]) -> CompactionRule:
        tokens = self.definition.compacts_at or None
        return CompactionRule(lambda window: tokens)

    def nearest_mode(self, mode: str, rights: Rights) -> str:
        """Return the mode with the same name; without one, "" for the program's default.

        The mode's rights are unknown, so cockpit asks the user before a job of another CLI
        continues in this mode.
        """
        return mode if mode in self.definition.permission_modes else ""

    def resumable(self, order: SessionOrder) -> None:
        if not self.definition.resume:
            raise NotNow(
                f"Cannot reopen {order.agent}'s session",
                f'The runtime "{self.name}" has no arguments to reopen sessions.',
                f"Set `resume` in [runtimes.{self.name}], in cockpit.toml.",
            )
        if not _SESSION_ID.fullmatch(order.session_id):
            raise BadUsage(
                f"{order.session_id!a} is not a session id",
                hint="Session ids are UUIDs in lower case.",
            )
        path = self.transcript(order)
        if path is None:
            return
        if not is_file(path):
            raise BadUsage(
                f"There is no session {order.session_id}",
                f"There is no record at {path}.",
                "To list an agent's sessions: cockpit history",
            )
        was = _directory(path)
        if was is not None and os.path.realpath(was) != os.path.realpath(order.directory):
            raise BadUsage(
                f"Session {order.session_id} belongs to another directory",
                f"The session's directory is {was!a}.",
                "Start the agent in the session's directory.",
            )


def capabilities_of(definition: OwnRuntime) -> Capabilities:
    """Return what cockpit can do with a program that has this definition."""
    if not definition.record:
        by_record: Answer = _UNKNOWN
    else:
        by_record = Yes("if the record contains this value")
    return Capabilities(
        session_ids=SessionIds.GIVEN if definition.session else SessionIds.NONE,
        readings=by_record,
        window=by_record,
        activity=(Source.TRANSCRIPT,) if definition.record else (),
        mid_turn=_NO_HOOKS,
        turn_end=_NO_HOOKS,
        dialogs=No("the record format has no dialogs"),
        answers=No("the record format has no dialogs"),
        api_errors=by_record,
        compactions=by_record,
        held_compactions=_NO_HOOKS,
        drafts=No("cockpit does not know the program's permissions"),
        copies=No("cockpit cannot copy a session of this program"),
        cost=by_record,
        reopening=Yes() if definition.resume else No("`resume` is not configured"),
        tools=No("register `cockpit mcp` in the program yourself"),
        background=No("the record format has no background tasks"),
        session_ends=No("the record format has no such event"),
        end_signal=definition.end_signal,
        end_keys=definition.end_keys,
        pastes_at=definition.ready.strip(),
        prompts=Yes() if definition.takes_paste else No("`takes_paste` is not configured"),
    )


def _directory(record: Path) -> str | None:
    line = read_file(record, _FIRST_LINE, cut=True).partition(b"\n")[0]
    events = parse(line)
    if isinstance(events, Skipped):
        return None
    return next((event.cwd for event in events if isinstance(event, Identified)), None)


def _replaced(word: str, values: Mapping[str, str]) -> str:
    parts = word.split("{")
    out = parts[0]
    for part in parts[1:]:
        name, closed, rest = part.partition("}")
        out += values[name] + rest if closed and name in values else "{" + part
    return out


def _home(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or str(Path.home())
