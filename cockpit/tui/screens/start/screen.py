"""The form for starting a stopped or new agent, with a preview of the result.

The supervisor computes the preview (`Plan`): directory, branch, or why the agent cannot start.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea
from textual.widgets.input import Selection

from cockpit.client.client import Client
from cockpit.core.errors import BadUsage, CockpitError, ProgramMissing
from cockpit.core.far_names import LOCAL, host_and_name
from cockpit.core.ids import agent_name
from cockpit.core.safetext import safe_line
from cockpit.tui.keys.reasons import has_ended
from cockpit.tui.present.paths import far_home_refusal, short_path
from cockpit.tui.screens.form import Form, row
from cockpit.tui.screens.requests import in_one_line
from cockpit.tui.screens.start.order import Filled, kept_settings, order
from cockpit.tui.state.background import in_background
from cockpit.tui.widgets.choice import Choice, Option
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.field import Field, PromptArea
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Done, Plan, Start

if TYPE_CHECKING:
    from cockpit.config.files import Files
    from cockpit.config.schema import AgentSettings

MODES = (
    Option("prompt", "prompt", "ask me before a handoff"),
    Option("auto", "auto", "hand off automatically"),
    Option("observe", "observe", "only watch"),
)
RUNTIMES = (
    Option("claude", "claude", "Claude Code"),
    Option("codex", "codex", "Codex"),
    Option("gemini", "gemini", "Gemini CLI"),
    Option("opencode", "opencode", "opencode"),
    Option("copilot", "copilot", "GitHub Copilot CLI"),
    Option("command", "command", "the program below"),
)
SHARED = Option("none", "no", "use the directory itself")
OWN_WORKTREE = Option("git_worktree", "yes", "its own checkout and branch")
ONCE = Option("", "no", "only this time")
KEPT = Option("yes", "yes", "to the file shown below")
COMMAND = "program and arguments"
JOB = "the agent's job (optional)"
"""What the fields for the command and the prompt show while they are empty."""
PAUSE = 0.1
"""Seconds between the last typed letter and the request to the supervisor."""


class StartScreen(Form[Start]):
    """The form for starting an agent; for an existing agent, the name is enough.

    Its result is the `Start` request, once the agent has been started; None if cancelled.
    """

    EXPLAINED = (
        (
            "name",
            "1 to 32 of a-z, 0-9, dot, underscore, dash; a letter or digit first. On another host: "
            "HOST/NAME.",
        ),
        (
            "directory",
            "The working directory. A relative path starts where you started cockpit; on another "
            "host, in the directory of an agent there, and `~` is not expanded.",
        ),
        ("prompt", "The first prompt. Enter starts the agent, Ctrl-J adds a line."),
        ("runtime", "The CLI to run. CLIs that cannot run are last, with the reason."),
        ("command", "Only for the runtime `command`: the program and its arguments."),
        ("mode", "observe only watches, prompt asks you before a handoff, auto hands off."),
        ("worktree", "Give the agent its own checkout and branch, which are shown below."),
        ("save", "Save the agent in the configuration file that is shown below."),
    )

    def __init__(
        self,
        agents: Sequence[AgentStatus],
        selected: str | None,
        directory: Path,
        client: Client,
        read_files: Callable[[], Files] | None = None,
        home: str = "",
        *,
        like: AgentStatus | None = None,
        main: str = LOCAL,
    ) -> None:
        """`like`: an agent whose settings fill the form; the form suggests a new name. `main`: the
        main host.

        `selected` is suggested as the name if that agent has ended. `directory` is the default
        directory. `read_files` is None on a screen that cannot save agents.
        """
        super().__init__()
        self._agents = {agent.name: agent for agent in agents}
        self._directory = directory
        self._client = client
        self._read_files = read_files
        self._files: Files | None = None
        self._home = home if main == LOCAL else ""
        self._main = main
        self._touched: set[str] = set()
        """The ids of the choices that the user changed."""
        self._saved_in: Path | None = None
        """The file in which this form has saved the agent; None if not saved."""
        self._busy = False
        stopped = [agent.name for agent in agents if has_ended(agent)]
        first = selected if selected in stopped and selected else ""
        if like is not None:
            first = _free_name(like.name, self._agents)
        self._is_copy = like is not None
        self._unavailable: dict[str, str] = {}
        """The runtimes that cannot run, each with the reason."""
        self._asked_runtimes = False
        self.named = Field(
            first, placeholder="a-z 0-9 . _ -", suggester=SuggestFromList(stopped), id="name"
        )
        self.where = Field(placeholder=short_path(str(directory), self._home), id="where")
        self.prompt = PromptArea(id="prompt", placeholder=JOB)
        self.command = Field(placeholder=COMMAND, id="command")
        self._command_row = row("command", self.command)
        self._runtimes = list(RUNTIMES)
        self._usual_mode, self._usual_runtime = MODES[0].value, RUNTIMES[0].value
        """The configured defaults, for an agent that does not exist yet."""
        self._worktrees = [SHARED, OWN_WORKTREE]
        """The options for a worktree of an agent that is not configured."""
        self.runtime = Choice(RUNTIMES, RUNTIMES[0].value, id="runtime")
        self.mode = Choice(MODES, MODES[0].value, id="mode")
        self.worktree = Choice(self._worktrees, SHARED.value, id="worktree")
        self.keep = Choice([ONCE, KEPT], ONCE.value, id="keep")
        self.status_line = Static("", classes="dialog--words", markup=False)
        if like is not None:
            self._fill_like(like)

    def _fill_like(self, like: AgentStatus) -> None:
        """Fill the fields with the settings of another agent."""
        self._offer_runtimes([like.configured_runtime or like.runtime])
        self.runtime.value = like.configured_runtime or like.runtime
        self.mode.value = like.mode
        if like.worktree:
            self.worktree.value = OWN_WORKTREE.value
        place = like.configured_directory or like.directory
        self.where.value = short_path(place, "" if host_and_name(like.name)[0] else self._home)
        self._touched |= {"runtime", "mode", "worktree"}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -form"):
            yield Static("Start an agent", classes="dialog--title", markup=False)
            with VerticalScroll(classes="form", can_focus=False):
                yield row("name", self.named)
                yield row("directory", self.where)
                yield row("prompt", self.prompt)
                yield row("runtime", self.runtime)
                yield self._command_row
                yield row("mode", self.mode)
                yield row("worktree", self.worktree)
                if self._read_files is not None:
                    yield row("save", self.keep)
            yield self.status_line
            yield DialogKeys("Enter start  Tab next  Esc back  ←→ change  F1 help")

    def on_mount(self) -> None:
        super().on_mount()
        if self.named.value and not self._is_copy:
            # Typing replaces the suggested name; Enter accepts the name.
            self.named.selection = Selection(0, len(self.named.value))
        self._judge()
        if self._read_files is not None:
            in_background(self, partial(self._learn_defaults, self._read_files), group="files")

    def first_field(self) -> Widget:
        return self.named

    def fields(self) -> list[Widget]:
        kept = [] if self._read_files is None else [self.keep]
        command = [self.command] if self._command_row.display else []
        choices = (self.mode, self.worktree)
        return [self.named, self.where, self.prompt, self.runtime, *command, *choices, *kept]

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Choice.Changed)
    def _changed(self, message: Input.Changed | TextArea.Changed | Choice.Changed) -> None:
        changed = message.control
        if isinstance(changed, Choice) and changed.id:
            self._touched.add(changed.id)
        if changed is self.runtime:
            self._ask_runtimes()
        self._judge()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_submit()

    async def _learn_defaults(self, read: Callable[[], Files]) -> None:
        """Set mode and runtime to the configured defaults, and offer the configured runtimes.

        Keeps a mode or runtime that the user chose. Keeps both if the name is an existing agent's.
        If every agent gets a worktree, the form offers no other choice.
        """
        try:
            self._files = await asyncio.to_thread(read)
        except CockpitError:
            return  # the supervisor and `cockpit config check` report the error
        settings = self._files.loaded.settings
        usual = settings.defaults
        self._offer_runtimes(settings.runtimes)
        if usual.worktree.strategy == "git_worktree":
            self._worktrees = [OWN_WORKTREE]
        self._usual_mode, self._usual_runtime = usual.mode, usual.runtime
        self._show_what_is_known(self._agents.get(self.named.value))
        self._command_row.display = self.runtime.value == "command"

    def _judge(self) -> None:
        """Show an invalid name or command at once; let the supervisor check the other fields."""
        known = self._agents.get(self.named.value)
        self._show_what_is_known(known)
        self._command_row.display = self.runtime.value == "command"
        if (wrong := self._wrong()) is not None:
            self.show_status(wrong, wrong=True)
        # Also run for an invalid form, to cancel an older request.
        in_background(self, partial(self._ask_what_would_be, wrong), group="plan", exclusive=True)

    def _wrong(self) -> str | None:
        place = far_home_refusal(self.where.value, self._far_host)
        return self._wrong_name() or place or self._wrong_command()

    def _wrong_name(self) -> str | None:
        name = self.named.value
        if not name:
            return "Enter a name: a-z, 0-9, dot, underscore, dash."
        try:
            agent_name(host_and_name(name)[1])
        except BadUsage as error:
            return f"{error.detail} {error.hint}"
        known = self._agents.get(name)
        return f"{name} is already running." if known and not has_ended(known) else None

    @property
    def _host(self) -> str | None:
        """The host in the agent's name; None for a name on the main host."""
        return host_and_name(self.named.value)[0]

    @property
    def _far_host(self) -> str | None:
        """The host on which the agent starts; None for this machine."""
        return self._host or (self._main if self._main != LOCAL else None)

    @property
    def _base(self) -> Path:
        """The base of relative paths. On another host, this is the directory of the host's first
        agent, or `/` if the host has no agents."""
        if self._host is None:
            return self._directory
        theirs = (a for name, a in self._agents.items() if host_and_name(name)[0] == self._host)
        places = (Path(agent.configured_directory or agent.directory) for agent in theirs)
        return next(places, Path("/"))

    @property
    def _is_saved(self) -> bool:
        """Whether to save the agent to a file; never for an agent on another host."""
        return bool(self.keep.value) and self._host is None

    def _show_what_is_known(self, known: AgentStatus | None) -> None:
        """Show directory, mode and runtime of the existing agent `known`, else the defaults.

        Keeps a mode or runtime that the user chose. Changes only the placeholder of a text field,
        because the user may be typing.
        """
        place = (known.configured_directory or known.directory) if known else str(self._base)
        if known:
            self._offer_runtimes([known.runtime])
        self.where.placeholder = short_path(place, "" if self._host else self._home)
        for field, value in (
            (self.mode, known.mode if known else self._usual_mode),
            (self.runtime, known.runtime if known else self._usual_runtime),
        ):
            if field.id not in self._touched:
                field.value = value
        self._show_configured(self._configured(known) if known else None)

    def _configured(self, known: AgentStatus) -> AgentSettings | None:
        """Return the configuration of an existing agent; None if it is not in the read files."""
        if self._files is None or self._far_host is not None:
            return None
        place = known.configured_directory
        for agent in self._files.loaded.settings.agents:
            if agent.name == known.name and place in (None, str(agent.directory)):
                return agent
        return None

    def _show_configured(self, agent: AgentSettings | None) -> None:
        """Show the command, the prompt and the worktree of a configured agent; None for another.

        A request cannot switch off the configured worktree, so there is no other choice then.
        """
        command = shlex.join(agent.command) if agent else ""
        self.command.placeholder = safe_line(command, 200) or COMMAND
        self.prompt.placeholder = safe_line((agent and agent.prompt) or "", 200) or JOB
        has_own = agent is not None and agent.worktree.strategy == OWN_WORKTREE.value
        self.worktree.offer([OWN_WORKTREE] if has_own else self._worktrees)
        if "worktree" not in self._touched:
            self.worktree.value = OWN_WORKTREE.value if has_own else SHARED.value

    def _offer_runtimes(self, names: Iterable[str]) -> None:
        """Add runtimes to the options. Runtimes that cannot run come last, with the reason."""
        for name in names:
            if name and name not in [option.value for option in self._runtimes]:
                self._runtimes.append(Option(name, name, "a custom runtime"))
        can = [runtime for runtime in self._runtimes if runtime.value not in self._unavailable]
        cannot = [
            Option(runtime.value, runtime.word, f"cannot run: {self._unavailable[runtime.value]}")
            for runtime in self._runtimes
            if runtime.value in self._unavailable
        ]
        self.runtime.offer([*can, *cannot])

    def _ask_runtimes(self) -> None:
        """Check once which runtimes can run on the agent's host."""
        if not self._asked_runtimes:
            self._asked_runtimes = True
            in_background(self, self._learn_runtimes, group="runtimes")

    async def _learn_runtimes(self) -> None:
        host = self._host
        name = _free_name(f"{host}/agent" if host else "agent", self._agents)
        place = str(self._base)
        for option in list(self._runtimes):
            if option.value == "command":
                continue
            try:
                await self._client.ask(Plan(name=name, runtime=option.value, directory=place))
            except ProgramMissing as missing:
                self._unavailable[option.value] = safe_line(missing.title, 200)
            except CockpitError:
                continue  # a problem with the directory or host, which the status line reports
        self._offer_runtimes(())

    def _filled(self) -> Filled:
        return Filled(
            name=self.named.value,
            known=self.named.value in self._agents,
            directory=self._place(),
            prompt=self.prompt.text if self.prompt.text.strip() else None,
            mode=self.mode.value,
            runtime=self.runtime.value,
            worktree=self.worktree.value == "git_worktree",
            command=self._command(),
            touched=frozenset(self._touched | ({"where"} if self.where.value else set())),
        )

    def _command(self) -> tuple[str, ...]:
        if self.runtime.value != "command":
            return ()
        try:
            return tuple(shlex.split(self.command.value))
        except ValueError:  # reported by `_wrong_command`
            return ()

    def _wrong_command(self) -> str | None:
        try:
            shlex.split(self.command.value if self.runtime.value == "command" else "")
        except ValueError:
            return "The command has an unclosed quote, or ends with a backslash."
        return None

    def _place(self) -> Path:
        if self._far_host is not None:
            return self._base / self.where.value  # without `~`, see `far_home_refusal`
        try:
            written = Path(self.where.value).expanduser()
        except RuntimeError:  # no home directory for a `~name`
            written = Path(self.where.value)
        return (self._directory / written).absolute()

    async def _ask_what_would_be(self, wrong: str | None) -> None:
        if wrong is not None:
            return
        await asyncio.sleep(PAUSE)
        request = order(self._filled()).model_dump()
        try:
            done = await self._client.ask(Plan(**request))
            text, bad = done.message, False
            if self._home and self._host is None:
                text = text.replace(f" {self._home}/", " ~/")
        except CockpitError as error:
            text, bad = in_one_line(error), True
        if self.keep.value and self._host is not None:
            text += f" Not saved: {self._host} has its own configuration files."
        if self._is_saved and not bad and self._files is not None:
            file = await asyncio.to_thread(_file_for, self._files, self._place())
            standing = await asyncio.to_thread(self._files.standing, file)
            known = f" ({standing})" if standing else ""
            text += f" Saves to {short_path(str(file), self._home)}{known}."
        self.show_status(text, wrong=bad)

    def submit(self) -> None:
        if (wrong := self._wrong()) is not None:
            self.show_status(wrong, wrong=True)
        elif not self._busy:
            self._busy = True
            self.workers.cancel_group(self, "plan")  # the plan's text would hide an error
            in_background(self, self._start, group="start")

    async def _start(self) -> None:
        filled = self._filled()
        asked = order(filled)
        try:
            if self._is_saved and self._read_files is not None:
                files = self._files
                if files is None:
                    files = await asyncio.to_thread(self._read_files)
                asked = await asyncio.to_thread(self._save, filled, files)
            done = await self._client.ask(asked)
        except CockpitError as error:
            saved = f"Saved, but not started: {error.title}" if self._saved_in else ""
            self.show_status(saved or in_one_line(error), wrong=True)
            self._busy = False
        else:
            self._done(asked, done)

    def _done(self, asked: Start, done: Done) -> None:
        self.app.notify(safe_line(done.message, 300), markup=False, timeout=4)
        self.dismiss(asked)

    def _save(self, filled: Filled, files: Files) -> Start:
        """Save the agent to the file unless it is already saved; return the start request."""
        if self._saved_in is None:
            filled = replace(filled, directory=_normalized(filled.directory))
            file = files.agents_file(filled.directory)
            files.add(file, kept_settings(filled))
            self._saved_in = file
        named = files.named and self._saved_in == files.project_path
        config = None if self._saved_in == files.places.user_file else str(self._saved_in)
        return Start(name=filled.name, config=config, named=named)


def _free_name(name: str, taken: Container[str]) -> str:
    """Return the name with a number at the end that makes the name unique."""
    host, own = host_and_name(name)
    stem = re.sub(r"-\d+$", "", own)
    for number in count(2):
        ending = f"-{number}"
        free = stem[: 32 - len(ending)] + ending
        if (far := f"{host}/{free}" if host else free) not in taken:
            return far
    raise AssertionError  # unreachable: there is always a next number


def _normalized(path: Path) -> Path:
    """Resolve a path that contains `..`, including symlinks; return any other path unchanged."""
    return path.resolve() if ".." in path.parts else path


def _file_for(files: Files, place: Path) -> Path:
    return files.agents_file(_normalized(place))
