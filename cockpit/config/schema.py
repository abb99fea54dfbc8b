"""The schema of `cockpit.toml`: every setting with its default and description.

The same models describe one file (most fields absent) and the merged settings. `config.checks`
checks the rules between fields. The example file, the reference page and the JSON Schema are
generated from these models.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from cockpit.config.hooks import Hooks, Host, Notifications
from cockpit.config.own_runtimes import NAME_SCHEMA, OwnRuntimes, RuntimeName
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
    ModelName,
    NameText,
    OneOrMany,
    OwnFile,
    Seconds,
    Section,
    Text,
    ThemeName,
    WindowSize,
)

Successors = Annotated[
    tuple[RuntimeName, ...],
    OneOrMany,
    Field(strict=False, max_length=16),
    WithJsonSchema({"anyOf": [NAME_SCHEMA, {"items": NAME_SCHEMA, "type": "array"}]}),
]
Mode = Literal["observe", "prompt", "auto"]
Strategy = Literal["handoff", "compact", "hybrid"]
Writer = Literal["agent", "sdk", "facts"]
Form = Literal["structured", "narrative"]
AgentVerb = Literal[
    "look", "start", "stop", "send", "handoff", "approve", "refuse", "snooze", "undo", "done",
    "continue", "remove_worktree",
]  # fmt: skip


class CockpitSettings(Section):
    """The screen."""

    theme: ThemeName = Field(
        default="night",
        description="A theme from themes/, from themes/ in your config folder, or a Textual theme.",
    )
    refresh: Literal["auto", "low", "full"] = Field(
        default="auto",
        description="low: for slow connections; draws less, and less often. auto: low over SSH.",
    )
    glyphs: Literal["auto", "unicode", "ascii"] = Field(
        default="auto",
        description="ascii: draw only ASCII characters. auto: ascii if the locale is not UTF-8.",
    )
    colours: Literal["auto", "all", "16", "none"] = Field(
        default="auto", description="auto: use TERM and COLORTERM; none if NO_COLOR is set."
    )


class ElsewhereSettings(Section):
    """Sessions that cockpit did not start, of any supported CLI."""

    show: bool = Field(
        default=True,
        description="Show sessions that cockpit did not start, so that you can adopt one: key E, "
        "or cockpit status --elsewhere.",
    )


class Caps(Section):
    """Upper limits for thresholds in windows of 500,000 tokens or more, where a percentage is
    too many tokens.
    """

    notice: Mark = Field(default="200k", description="Upper limit for notice.")
    warn: Mark = Field(default="250k", description="Upper limit for warn.")
    act: Mark = Field(default="300k", description="Upper limit for act.")
    force: Mark = Field(default="400k", description="Upper limit for force.")


class ContextSettings(Section):
    """Thresholds of context use: "70%", "130k", 130000 and "30% left" all work."""

    notice: Mark = Field(default="50%", description="Threshold at which the bar changes colour.")
    warn: Mark = Field(default="60%", description="Threshold at which the row shows a warning.")
    act: Mark = Field(
        default="70%",
        description="Threshold of a handoff. Like notice and warn, at least 20k tokens below the "
        "CLI's compaction.",
    )
    force: Mark = Field(
        default="80%", description="Threshold of a handoff in the middle of a turn."
    )
    cap: Caps = Field(default=Caps(), description="Upper limits for windows of 500k or more.")
    window: WindowSize = Field(
        default="auto", description="Window size in tokens, if the detected one is wrong."
    )
    fallback_tool_calls: int = Field(
        default=500,
        ge=0,
        le=1_000_000,
        description="Warn after this many tool calls if context use is unknown; 0: never.",
    )

    @property
    def override(self) -> int | None:
        """The window in tokens, if the user set one."""
        return self.window if isinstance(self.window, int) else None


class HandoffSettings(Section):
    """How a job moves to a new session."""

    writers: Annotated[tuple[Writer, ...], Field(strict=False, min_length=1), Distinct] = Field(
        default=("agent", "sdk", "facts"),
        description="Writers of the document, tried in order until one writes a valid document.",
    )
    deadline: Seconds = Field(
        default=180.0, ge=1, le=86_400, description="Time for the agent to write the document."
    )
    directory: FolderInside = Field(
        default=".cockpit/handoffs",
        description="Folder in the worktree for documents; ignored through .git/info/exclude.",
    )
    successor: Successors = Field(
        default=(),
        description='The CLI of the next session, such as "codex", or a list of CLIs to use in '
        "turn; empty: the CLI of the old session.",
    )
    on_limit: Literal["wait", "hand_over"] = Field(
        default="wait",
        description="What to do when a usage limit ends a turn. wait: wait until the limit resets. "
        "hand_over: hand off to the successor, if that is another CLI.",
    )
    max_per_job: int = Field(
        default=3,
        ge=0,
        le=1000,
        description="After this many handoffs of a job, cockpit asks before each further handoff, "
        "even in mode auto.",
    )
    max_chain_cost_usd: float = Field(
        default=0.0,
        ge=0,
        le=1_000_000,
        description="When a job has cost this many USD, cockpit asks before each automatic "
        "handoff, even in mode auto; 0: no limit.",
    )
    completion_marker: Marker = Field(
        default="HANDOFF: COMPLETE", description="Line that an agent prints when its job is done."
    )
    cooldown: Seconds = Field(
        default=60.0, le=86_400, description="Wait this long after a handoff before the next one."
    )
    retention_days: int = Field(
        default=90,
        ge=0,
        le=36_500,
        description="Days to keep cockpit's copies of the documents and transcripts of finished "
        "jobs; 0: forever.",
    )
    compactions: int = Field(
        default=2,
        ge=0,
        le=1000,
        description="For strategy hybrid: compactions to allow before a handoff.",
    )
    concurrent: int = Field(
        default=2, ge=1, le=64, description="Maximum handoffs at the same time, over all agents."
    )
    max_tokens: int = Field(
        default=6000,
        ge=500,
        le=60_000,
        description="Approximate maximum size of a document that no model writes, in tokens; the "
        "least important facts are left out.",
    )
    template: OwnFile = Field(
        default=None, description="Your own Jinja2 template for the document."
    )
    format: Form = Field(
        default="structured",
        description="Format of the facts given back after a compaction: structured or narrative.",
    )


class LimitSettings(Section):
    """Limits that do not depend on the context. 0 means no limit, except for grace."""

    turns: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Hand off after this many turns (model replies) in a session.",
    )
    session_time: Seconds = Field(
        default=0.0, description='Hand off when a session is this old, such as "24h".'
    )
    grace: Seconds = Field(
        default=600.0,
        le=86_400,
        description="How long a turn may run past session_time before cockpit interrupts it.",
    )
    cost: float = Field(
        default=0.0,
        ge=0,
        le=1_000_000,
        description="Budget of a job in US dollars; 0: none. At this cost cockpit notifies you "
        "once and marks the row and the inbox; the agent keeps running.",
    )


class DayLimits(Section):
    """Limits for all agents of this supervisor together."""

    cost_per_day: float = Field(
        default=0.0,
        ge=0,
        le=1_000_000,
        description="Budget of all agents for a day in US dollars; 0: none. At this cost cockpit "
        "notifies you once a day, and marks the screen and cockpit status; agents keep running.",
    )


class LoopSettings(Section):
    """Start a new session each time a turn or process ends without the completion marker."""

    enabled: bool = Field(default=False, description="Turn looping on.")
    max_iterations: int = Field(
        default=20, ge=1, le=100_000, description="Maximum number of sessions."
    )
    completion_marker: Marker = Field(
        default="LOOP_COMPLETE", description="Line that an agent prints when the loop is done."
    )


class WorktreeSettings(Section):
    """A separate checkout for each agent."""

    strategy: Literal["none", "git_worktree"] = Field(
        default="none",
        description="git_worktree: create a worktree. none: work in the directory itself.",
    )
    directory: Location = Field(
        default=Path(".worktrees"),
        description="Folder for worktrees; the default is in the agent's repository.",
    )
    branch: BranchPattern = Field(
        default="agent/{agent}/{work_item}",
        description="Branch name, from {agent}, {work_item} and {job}.",
    )
    work_item: GitName = Field(default="", description="Value of {work_item}; empty: the job's id.")
    base: GitName = Field(default="", description="Commit or branch to start from; empty: HEAD.")
    copy_files: Annotated[tuple[FolderInside, ...], Field(strict=False)] = Field(
        default=(),
        description="Files or folders to copy from the checkout to a new worktree because"
        ' they are not in git, such as ".env".',
    )
    setup: Arguments = Field(
        default=(),
        description="Command to run in a new worktree before the agent starts, as a list"
        ' such as ["npm", "ci"].',
    )
    setup_timeout: Seconds = Field(
        default=600.0, ge=1, le=86_400, description="Time limit of setup."
    )
    push_on_success: bool = Field(
        default=False, description="Push the branch when the job is done. Never force-pushes."
    )
    create_pr: bool = Field(
        default=False,
        description="Push the branch and open a pull request with gh when the job is done.",
    )


class MaySettings(Section):
    """Commands that an agent may give to cockpit. An agent may always read its own data."""

    itself: Annotated[tuple[AgentVerb, ...], Field(strict=False), Distinct] = Field(
        default=("handoff",),
        description="Commands that an agent may run on itself: handoff, approve, refuse, snooze, "
        "undo, done, stop, send, remove_worktree.",
    )
    others: Annotated[tuple[AgentVerb, ...], Field(strict=False), Distinct] = Field(
        default=(),
        description="Commands that an agent may run on other agents: all commands of `itself`, and "
        "start, continue, look (read the other agents' data).",
    )


class AgentDefaults(Section):
    """Defaults for every agent; each [[agents]] table can override them."""

    runtime: RuntimeName = Field(
        default="claude",
        description="claude, codex, gemini, opencode, copilot, command, or one of [runtimes].",
    )
    mode: Mode = Field(
        default="prompt",
        description="observe: only show context use. prompt: ask before a handoff. auto: hand off.",
    )
    strategy: Strategy = Field(
        default="handoff",
        description="handoff: hand off. compact: let the CLI compact, then give the agent the "
        "facts. hybrid: allow some compactions, then hand off.",
    )
    model: ModelName = Field(
        default="",
        description="Model to use; empty: the CLI's default. Not used for a successor in another "
        "CLI.",
    )
    permission_mode: Line = Field(
        default="",
        description="Passed to the CLI at start; a handoff never gives the next session a wider "
        "mode.",
    )
    arguments: Arguments = Field(
        default=(),
        description="Extra arguments for the CLI, before the prompt. Not used for a successor in "
        "another CLI.",
    )
    command: Arguments = Field(
        default=(),
        description='For runtime = "command": the command as a list. Commands have no context '
        "data. {prompt_file} in an argument becomes the path of a private file with the prompt.",
    )
    env: EnvironmentTable = Field(
        default={}, description="Environment variables for the agent and its setup command."
    )
    start: Literal["manual", "auto"] = Field(
        default="manual", description="auto: start together with the supervisor."
    )
    resume: Literal["ask", "always", "never"] = Field(
        default="ask",
        description="Reopen sessions that a reboot or a tmux exit interrupted: "
        "ask, always or never.",
    )
    on_warning: Literal["off", "tell"] = Field(
        default="off",
        description="tell: at the warn threshold, tell the agent how full its context is; not in "
        "mode observe.",
    )
    mcp: bool = Field(
        default=True,
        description="Offer the agent cockpit's tools over MCP, for this run only. Not possible in "
        "Gemini CLI.",
    )
    context: ContextSettings = Field(default=ContextSettings(), description=ContextSettings.__doc__)
    handoff: HandoffSettings = Field(default=HandoffSettings(), description=HandoffSettings.__doc__)
    limits: LimitSettings = Field(default=LimitSettings(), description=LimitSettings.__doc__)
    loop: LoopSettings = Field(default=LoopSettings(), description=LoopSettings.__doc__)
    worktree: WorktreeSettings = Field(
        default=WorktreeSettings(), description=WorktreeSettings.__doc__
    )
    may: MaySettings = Field(default=MaySettings(), description=MaySettings.__doc__)
    hooks: Hooks = Field(default=Hooks(), description=Hooks.__doc__)


class AgentSettings(AgentDefaults):
    """One agent, with everything it inherits."""

    name: NameText = Field(
        description="A letter or digit, then at most 31 of a-z, 0-9, dot, underscore, dash."
    )
    prompt: Text = Field(default="", description="The task, as the agent's first prompt.")
    prompt_file: OwnFile = Field(
        default=None, description="A file with the prompt, instead of prompt."
    )
    directory: Location = Field(
        default=Path(), description="Working directory, relative to this file."
    )


class Settings(Section):
    """The settings of one file, or of all files merged."""

    cockpit: CockpitSettings = Field(default=CockpitSettings(), description=CockpitSettings.__doc__)
    defaults: AgentDefaults = Field(default=AgentDefaults(), description=AgentDefaults.__doc__)
    limits: DayLimits = Field(default=DayLimits(), description=DayLimits.__doc__)
    agents: Annotated[tuple[AgentSettings, ...], Field(strict=False)] = Field(
        default=(), description="One table per agent."
    )
    hosts: Annotated[tuple[Host, ...], Field(strict=False)] = Field(
        default=(), description="Other machines, each with its own supervisor."
    )
    runtimes: OwnRuntimes = Field(
        default={}, description="Programs of your own as runtimes; one table each."
    )
    notifications: Notifications = Field(default=Notifications(), description=Notifications.__doc__)
    elsewhere: ElsewhereSettings = Field(
        default=ElsewhereSettings(), description=ElsewhereSettings.__doc__
    )
    keys: KeyTable = Field(
        default={}, description="Action id = keys; `cockpit keys` lists the ids."
    )
