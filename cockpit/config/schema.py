"""Every setting of `cockpit.toml`: its name, its default, and a sentence that says what it does.

The same models describe one file (most fields absent) and the settings that come out of all
files. What concerns two fields at once is checked in `config.checks`, after merging, where the
file and line of each are known. The example file, the reference page and the JSON Schema are
made from here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from cockpit.config.hooks import Hooks, Host, Notifications
from cockpit.config.values import (
    Arguments,
    BranchPattern,
    Distinct,
    EnvironmentTable,
    FolderInside,
    GitName,
    KeyTable,
    Line,
    Location,
    Mark,
    Marker,
    NameText,
    OwnFile,
    Seconds,
    Section,
    Text,
    ThemeName,
    WindowSize,
)

RuntimeName = Literal["claude", "codex", "gemini", "command"]
Mode = Literal["observe", "prompt", "auto"]
Strategy = Literal["handoff", "compact", "hybrid"]
Writer = Literal["agent", "sdk", "facts"]
Form = Literal["structured", "narrative"]


class CockpitSettings(Section):
    """The screen."""

    theme: ThemeName = Field(
        default="night",
        description="A file in themes/, a file in the config folder's themes/, or a Textual theme.",
    )
    refresh: Literal["auto", "low"] = Field(
        default="auto", description="low: fewer frames, no animation; over SSH auto means low."
    )
    glyphs: Literal["auto", "unicode", "ascii"] = Field(
        default="auto",
        description="ascii: no other characters are drawn; auto: so where LANG says C or POSIX.",
    )
    colours: Literal["auto", "all", "16", "none"] = Field(
        default="auto", description="auto: as TERM and COLORTERM say; none where NO_COLOR is set."
    )


class Caps(Section):
    """Absolute marks for windows of 500,000 tokens and more, where a share comes too late."""

    notice: Mark = Field(default="200k", description="In place of a later notice.")
    warn: Mark = Field(default="250k", description="In place of a later warn.")
    act: Mark = Field(default="300k", description="In place of a later act.")
    force: Mark = Field(default="400k", description="In place of a later force.")


class ContextSettings(Section):
    """When a context counts as filling: "70%", "130k", 130000 and "30% left" all work."""

    notice: Mark = Field(default="50%", description="The bar changes colour.")
    warn: Mark = Field(default="60%", description="The row says so.")
    act: Mark = Field(
        default="70%",
        description="The handoff; as all before it at least 20k below the CLI's compaction.",
    )
    force: Mark = Field(default="80%", description="No more waiting for a good moment.")
    cap: Caps = Field(default=Caps(), description="For windows of 500k and more; the lowest wins.")
    window: WindowSize = Field(
        default="auto", description="The window in tokens, where the CLI or its model misleads."
    )
    fallback_tool_calls: int = Field(
        default=500,
        ge=0,
        le=1_000_000,
        description="Warn after this many when no reading can be had.",
    )

    @property
    def override(self) -> int | None:
        """The window in tokens if the pilot said one."""
        return self.window if isinstance(self.window, int) else None


class HandoffSettings(Section):
    """How a job moves to a fresh session."""

    writers: Annotated[tuple[Writer, ...], Field(strict=False, min_length=1), Distinct] = Field(
        default=("agent", "sdk", "facts"),
        description="Who writes the document: in turn, until one gives a valid one.",
    )
    deadline: Seconds = Field(
        default=180.0, ge=1, le=86_400, description="How long the agent has to write it."
    )
    directory: FolderInside = Field(
        default=".cockpit/handoffs",
        description="Where in the worktree; kept out of git through .git/info/exclude.",
    )
    max_per_job: int = Field(
        default=3, ge=0, le=1000, description="Handoffs of one job after which auto becomes prompt."
    )
    max_chain_cost_usd: float = Field(
        default=0.0,
        ge=0,
        le=1_000_000,
        description="Cost of a job after which auto becomes prompt; 0: no cap.",
    )
    completion_marker: Marker = Field(
        default="HANDOFF: COMPLETE", description="What an agent says when the whole job is done."
    )
    cooldown: Seconds = Field(
        default=60.0, le=86_400, description="Rest after a swap; a first session has none."
    )
    retention_days: int = Field(
        default=90,
        ge=0,
        le=36_500,
        description="How long documents of finished jobs are kept; 0: for ever.",
    )
    compactions: int = Field(
        default=2, ge=0, le=1000, description="hybrid: compactions to allow before a handoff."
    )
    concurrent: int = Field(default=2, ge=1, le=64, description="Handoffs at once, of all agents.")
    template: OwnFile = Field(
        default=None, description="A Jinja2 file of your own for the document."
    )
    format: Form = Field(
        default="structured",
        description="How facts are given back after a compaction: structured or narrative.",
    )


class LimitSettings(Section):
    """When a session has lasted long enough, whatever its context holds; 0: no limit."""

    turns: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Turns of the model (replies) in one session, then a handoff.",
    )
    session_time: Seconds = Field(
        default=0.0, description='Time of one session, then a handoff: "24h".'
    )


class LoopSettings(Section):
    """A fresh session each time one ends without its marker."""

    enabled: bool = Field(default=False, description="Whether to loop.")
    max_iterations: int = Field(default=20, ge=1, le=100_000, description="Sessions at most.")
    completion_marker: Marker = Field(
        default="LOOP_COMPLETE", description="What the agent says when the loop is done."
    )


class WorktreeSettings(Section):
    """A checkout of its own for each agent."""

    strategy: Literal["none", "git_worktree"] = Field(
        default="none", description="git_worktree makes one; none works in the directory itself."
    )
    directory: Location = Field(
        default=Path(".worktrees"),
        description="Where worktrees are made; the default is in the agent's repository.",
    )
    branch: BranchPattern = Field(
        default="agent/{agent}/{work_item}",
        description="Its branch, of {agent}, {work_item} and {job}.",
    )
    work_item: GitName = Field(
        default="", description="What {work_item} stands for; empty: the job's id."
    )
    base: GitName = Field(default="", description="Where the branch starts; empty: where HEAD is.")
    copy_files: Annotated[tuple[FolderInside, ...], Field(strict=False)] = Field(
        default=(),
        description="What a new worktree gets of the checkout besides: files or folders that"
        ' git does not have, such as ".env".',
    )
    setup: Arguments = Field(
        default=(),
        description="Run in a new worktree before the agent starts: an argument vector,"
        ' such as ["npm", "ci"].',
    )
    setup_timeout: Seconds = Field(
        default=600.0, ge=1, le=86_400, description="How long the setup may take."
    )
    push_on_success: bool = Field(
        default=False, description="Push the branch when the job is done; never by force."
    )
    create_pr: bool = Field(
        default=False,
        description="Push it, and open a pull request with gh, when the job is done.",
    )


class AgentDefaults(Section):
    """What every agent inherits; each [[agents]] table may say otherwise."""

    runtime: RuntimeName = Field(
        default="claude", description="claude or command; not flown yet: codex, gemini."
    )
    mode: Mode = Field(
        default="prompt", description="observe: only show. prompt: ask me. auto: do it."
    )
    strategy: Strategy = Field(
        default="handoff",
        description="handoff; compact: let the CLI, then give facts back; "
        "hybrid: some compactions, then a handoff.",
    )
    model: Line = Field(default="", description="Empty: the CLI's own default.")
    permission_mode: Line = Field(
        default="", description="Passed to the CLI at start; a successor never gets a wider one."
    )
    arguments: Arguments = Field(
        default=(), description="More arguments for the CLI, before the prompt."
    )
    command: Arguments = Field(
        default=(),
        description='For runtime = "command": the argument vector; a pane, but no reading.',
    )
    env: EnvironmentTable = Field(default={}, description="For the agent's pane and nothing else.")
    start: Literal["manual", "auto"] = Field(
        default="manual", description="auto: together with the supervisor."
    )
    context: ContextSettings = Field(default=ContextSettings(), description=ContextSettings.__doc__)
    handoff: HandoffSettings = Field(default=HandoffSettings(), description=HandoffSettings.__doc__)
    limits: LimitSettings = Field(default=LimitSettings(), description=LimitSettings.__doc__)
    loop: LoopSettings = Field(default=LoopSettings(), description=LoopSettings.__doc__)
    worktree: WorktreeSettings = Field(
        default=WorktreeSettings(), description=WorktreeSettings.__doc__
    )
    hooks: Hooks = Field(default=Hooks(), description=Hooks.__doc__)


class AgentSettings(AgentDefaults):
    """One agent, with everything it inherits."""

    name: NameText = Field(description="1 to 32 of a-z, 0-9, dot, underscore, dash.")
    prompt: Text = Field(default="", description="The job, as the agent is told it.")
    prompt_file: OwnFile = Field(default=None, description="A file that holds the job, instead.")
    directory: Location = Field(
        default=Path(), description="Where it works; relative to this file."
    )


class Settings(Section):
    """Everything that can be chosen."""

    cockpit: CockpitSettings = Field(default=CockpitSettings(), description=CockpitSettings.__doc__)
    defaults: AgentDefaults = Field(default=AgentDefaults(), description=AgentDefaults.__doc__)
    agents: Annotated[tuple[AgentSettings, ...], Field(strict=False)] = Field(
        default=(), description="One table for each agent."
    )
    hosts: Annotated[tuple[Host, ...], Field(strict=False)] = Field(
        default=(), description="Other machines, each with a supervisor of its own."
    )
    notifications: Notifications = Field(default=Notifications(), description=Notifications.__doc__)
    keys: KeyTable = Field(default={}, description="Action id = keys; `cockpit keys` lists them.")
