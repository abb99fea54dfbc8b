"""Starting an agent: a stopped one by its name, or a new one. Says what would be, as you type.

What would be is the supervisor's word (`Plan`): where, on which branch, and why not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from cockpit.client.client import Client
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.far_names import host_and_name
from cockpit.core.ids import agent_name
from cockpit.core.safetext import safe_line
from cockpit.tui.background import in_background
from cockpit.tui.present.paths import short_path
from cockpit.tui.reasons import has_ended
from cockpit.tui.screens.errands import in_one_line
from cockpit.tui.screens.form import Form, row
from cockpit.tui.screens.start_order import Filled, kept_settings, order
from cockpit.tui.widgets.choice import Choice, Option
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.field import Field, PromptArea
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Done, Plan, Start

if TYPE_CHECKING:
    from cockpit.config.files import Files

MODES = (
    Option("prompt", "prompt", "ask me before a handoff"),
    Option("auto", "auto", "hand off by itself"),
    Option("observe", "observe", "only show"),
)
RUNTIMES = (
    Option("claude", "claude", "Claude Code"),
    Option("command", "command", "any program; the file has to say which"),
    Option("codex", "codex", "not flown yet"),
    Option("gemini", "gemini", "not flown yet"),
)
SHARED = Option("none", "no", "works in the directory itself")
OF_ITS_OWN = Option("git_worktree", "yes", "a checkout and a branch of its own")
ONCE = Option("", "no", "for this time")
KEPT = Option("yes", "yes", "into the file that is named below")
PAUSE = 0.1
"""Seconds without a letter before the supervisor is asked."""


class StartScreen(Form[Start]):
    """A form. A name that is configured needs nothing else; the rest is for a new agent."""

    EXPLAINED = (
        ("name", "What the agent is called: 1 to 32 of a-z, 0-9, dot, underscore, dash."),
        ("directory", "Where it works; a path that is not absolute starts where you stood."),
        ("prompt", "Its job, as it is told it. Enter starts, Ctrl-J is a new line."),
        ("runtime", "The program. What this version does not fly yet says so."),
        ("mode", "observe only shows, prompt asks you before a handoff, auto does it."),
        ("worktree", "Whether it gets a checkout and a branch of its own; the names stand below."),
        ("save", "Whether it is added to a cockpit.toml; which one stands below."),
    )

    def __init__(
        self,
        agents: Sequence[AgentStatus],
        selected: str | None,
        directory: Path,
        client: Client,
        read_files: Callable[[], Files] | None = None,
        home: str = "",
    ) -> None:
        super().__init__()
        self._agents = {agent.name: agent for agent in agents}
        self._directory = directory
        self._client = client
        self._read_files = read_files
        self._files: Files | None = None
        self._home = home
        self._touched: set[str] = set()
        """The choices that the pilot made."""
        self._kept_in: Path | None = None
        """The file that this very agent was written to already."""
        self._busy = False
        stopped = [agent.name for agent in agents if has_ended(agent)]
        first = selected if selected in stopped else ""
        self.named = Field(
            first, placeholder="a-z 0-9 . _ -", suggester=SuggestFromList(stopped), id="name"
        )
        self.where = Field(placeholder=short_path(str(directory), home), id="where")
        self.prompt = PromptArea(id="prompt", placeholder="its job, or empty")
        self.runtime = Choice(RUNTIMES, RUNTIMES[0].value, id="runtime")
        self.mode = Choice(MODES, MODES[0].value, id="mode")
        self.worktree = Choice([SHARED, OF_ITS_OWN], SHARED.value, id="worktree")
        self.keep = Choice([ONCE, KEPT], ONCE.value, id="keep")
        self.verdict = Static("", classes="dialog--words", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -form"):
            yield Static("Start an agent", classes="dialog--title", markup=False)
            with VerticalScroll(classes="form", can_focus=False):
                yield row("name", self.named)
                yield row("directory", self.where)
                yield row("prompt", self.prompt)
                yield row("runtime", self.runtime)
                yield row("mode", self.mode)
                yield row("worktree", self.worktree)
                if self._read_files is not None:
                    yield row("save", self.keep)
            yield self.verdict
            yield DialogKeys("Tab next  Ctrl-S start  Ctrl-G back  ←→ change")

    def on_mount(self) -> None:
        super().on_mount()
        self._judge()
        if self._read_files is not None:
            in_background(self, partial(self._learn_defaults, self._read_files), group="files")

    def first_field(self) -> Widget:
        return self.named

    def fields(self) -> list[Widget]:
        kept = [] if self._read_files is None else [self.keep]
        choices = (self.runtime, self.mode, self.worktree)
        return [self.named, self.where, self.prompt, *choices, *kept]

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Choice.Changed)
    def _changed(self, message: Input.Changed | TextArea.Changed | Choice.Changed) -> None:
        changed = message.control
        if isinstance(changed, Choice) and changed.id:
            self._touched.add(changed.id)
        self._judge()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_submit()

    async def _learn_defaults(self, read: Callable[[], Files]) -> None:
        """What a new agent inherits, from the files that hold here."""
        try:
            self._files = await asyncio.to_thread(read)
        except CockpitError:
            return  # told where it matters: by the supervisor, and by `cockpit config check`
        usual = self._files.loaded.settings.defaults
        if usual.worktree.strategy == "git_worktree":
            self.worktree.offer([OF_ITS_OWN])
        for field, value in ((self.mode, usual.mode), (self.runtime, usual.runtime)):
            if field.id not in self._touched and self.named.value not in self._agents:
                field.value = value

    def _judge(self) -> None:
        """Say at once what is wrong with the name; for the rest ask."""
        known = self._agents.get(self.named.value)
        self._show_what_is_known(known)
        if (wrong := self._wrong_name()) is not None:
            self.say(wrong, wrong=True)
        # Asked also for a name that is wrong, so that an older answer never comes after.
        in_background(self, partial(self._ask_what_would_be, wrong), group="plan", alone=True)

    def _wrong_name(self) -> str | None:
        name = self.named.value
        if not name:
            return "A name: a-z, 0-9, dot, underscore, dash."
        try:
            agent_name(host_and_name(name)[1])
        except BadUsage as error:
            return f"{error.detail} {error.hint}"
        known = self._agents.get(name)
        return f"{name} is running already." if known and not has_ended(known) else None

    @property
    def _host(self) -> str | None:
        """The other machine that the name leads to; None for this one."""
        return host_and_name(self.named.value)[0]

    @property
    def _base(self) -> Path:
        """Where a path begins that is not absolute; there, where one that is known works."""
        if self._host is None:
            return self._directory
        theirs = (a for name, a in self._agents.items() if host_and_name(name)[0] == self._host)
        return next((Path(agent.directory) for agent in theirs), Path("/"))

    @property
    def _is_kept(self) -> bool:
        """It is to be added to a file, which can only be one of this machine."""
        return bool(self.keep.value) and self._host is None

    def _show_what_is_known(self, known: AgentStatus | None) -> None:
        """What the pilot has not changed says how the agent of this name would start.

        No text is put where the pilot may be writing: that would be a race with the keys.
        """
        place = known.directory if known else str(self._base)
        self.where.placeholder = short_path(place, "" if self._host else self._home)
        for field, value in (
            (self.mode, known.mode if known else None),
            (self.runtime, known.runtime if known else None),
        ):
            if known and value and field.id not in self._touched:
                field.value = value

    def _filled(self) -> Filled:
        return Filled(
            name=self.named.value,
            known=self.named.value in self._agents,
            directory=self._place(),
            prompt=self.prompt.text if self.prompt.text.strip() else None,
            mode=self.mode.value,
            runtime=self.runtime.value,
            worktree=self.worktree.value == "git_worktree",
            touched=frozenset(self._touched | ({"where"} if self.where.value else set())),
        )

    def _place(self) -> Path:
        if self._host is not None:
            return self._base / self.where.value  # whose `~` is not ours
        try:
            written = Path(self.where.value).expanduser()
        except RuntimeError:  # `~nobody`
            written = Path(self.where.value)
        return (self._directory / written).absolute()

    async def _ask_what_would_be(self, wrong: str | None) -> None:
        if wrong is not None:
            return
        await asyncio.sleep(PAUSE)
        said = order(self._filled()).model_dump()
        try:
            done = await self._client.ask(Plan(**said))
            words, bad = done.message, False
            if self._home and self._host is None:
                words = words.replace(f" {self._home}/", " ~/")
        except CockpitError as error:
            words, bad = in_one_line(error), True
        if self.keep.value and self._host is not None:
            words += f" It is not saved: the files of {self._host} are there."
        if self._is_kept and not bad and self._files is not None:
            file = await asyncio.to_thread(_file_for, self._files, self._place())
            standing = await asyncio.to_thread(self._files.standing, file)
            known = f" ({standing})" if standing else ""
            words += f" Saved to {short_path(str(file), self._home)}{known}."
        self.say(words, wrong=bad)

    def submit(self) -> None:
        if (wrong := self._wrong_name()) is not None:
            self.say(wrong, wrong=True)
        elif not self._busy:
            self._busy = True
            self.workers.cancel_group(self, "plan")  # its answer would hide a refusal
            in_background(self, self._start, group="start")

    async def _start(self) -> None:
        filled = self._filled()
        asked = order(filled)
        try:
            if self._is_kept and self._read_files is not None:
                files = self._files
                if files is None:
                    files = await asyncio.to_thread(self._read_files)
                asked = await asyncio.to_thread(self._keep, filled, files)
            done = await self._client.ask(asked)
        except CockpitError as error:
            saved = f"It is saved, but not started. {error.title}" if self._kept_in else ""
            self.say(saved or in_one_line(error), wrong=True)
            self._busy = False
        else:
            self._done(asked, done)

    def _done(self, asked: Start, done: Done) -> None:
        self.app.notify(safe_line(done.message, 300), markup=False, timeout=4)
        self.dismiss(asked)

    def _keep(self, filled: Filled, files: Files) -> Start:
        """Write the agent into the file, once, and have it started from there."""
        if self._kept_in is None:
            filled = replace(filled, directory=_straight(filled.directory))
            file = files.agents_file(filled.directory)
            files.add(file, kept_settings(filled))
            self._kept_in = file
        named = files.named and self._kept_in == files.project_path
        config = None if self._kept_in == files.places.user_file else str(self._kept_in)
        return Start(name=filled.name, config=config, named=named)


def _straight(path: Path) -> Path:
    """Without `..`; looks at the disk, as links have to be followed for that."""
    return path.resolve() if ".." in path.parts else path


def _file_for(files: Files, place: Path) -> Path:
    return files.agents_file(_straight(place))
