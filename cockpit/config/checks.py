"""What must hold between settings, once they are laid together; refusals point at the file.

A single value is checked by its kind in `config.values`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cockpit.config.file import ConfigFile
from cockpit.config.hooks import Hook
from cockpit.config.key_names import DEFAULT_KEYS, by_action, clash, not_to_have
from cockpit.config.lines import KeyPath
from cockpit.config.problems import nearest
from cockpit.config.schema import AgentDefaults, AgentSettings, ContextSettings, Settings
from cockpit.config.thresholds import check_marks
from cockpit.core.errors import BadUsage

NOT_FLOWN = frozenset({"codex", "gemini"})
"""Runtimes that a file may name and that nothing starts yet."""

Origin = tuple[ConfigFile, KeyPath]
"""The file an agent is written in, and where in it."""


def check_file(file: ConfigFile, said: Settings) -> None:
    """What one file must not say, whatever the others say. Raises `BadConfig`."""
    _check_names(file, ("agents",), [agent.name for agent in said.agents], "agents")
    _check_names(file, ("hosts",), [host.name for host in said.hosts], "hosts")
    _check_hooks(file, ("defaults",), said.defaults)
    check_keys(file, said.keys)
    for place, agent in enumerate(said.agents):
        at: KeyPath = ("agents", place)
        if agent.prompt and agent.prompt_file:
            raise file.refusal(
                (*at, "prompt_file"), "both prompt and prompt_file", "Leave one of them out."
            )
        _check_hooks(file, at, agent)


def check_agent(origin: Origin, agent: AgentSettings) -> None:
    """One agent, with all that it inherits. Raises `BadConfig`."""
    file, at = origin
    if agent.runtime == "command" and not agent.command:
        raise file.refusal(
            (*at, "runtime"),
            'runtime = "command" needs a command',
            'Add the argument vector: command = ["./my-agent"]',
        )
    check_context(file, at, agent.context)


def check_context(file: ConfigFile, at: KeyPath, context: ContextSettings) -> None:
    """The order of marks, for an agent or for the defaults. Raises `BadConfig`."""
    try:
        check_marks(context)
    except BadUsage as error:
        lower = error.title.split()[0]
        cap = ("cap", lower.removeprefix("cap_")) if lower.startswith("cap_") else (lower,)
        hint = f'{error.hint} Or say window = "1M", if that is its size.'
        raise file.refusal((*at, "context", *cap), error.title, hint, error.detail) from None


def check_branches(agents: Iterable[tuple[Origin, AgentSettings]]) -> None:
    """Two agents that would share a worktree's branch. Raises `BadConfig`."""
    seen: dict[tuple[str, str], str] = {}
    for (file, at), agent in agents:
        worktree = agent.worktree
        if worktree.strategy == "none" or "{job}" in worktree.branch:
            continue
        if "{work_item}" in worktree.branch and not worktree.work_item:
            continue
        branch = worktree.branch.format(agent=agent.name, work_item=worktree.work_item)
        other = seen.setdefault((str(agent.directory), branch), agent.name)
        if other != agent.name:
            raise file.refusal(
                (*at, "worktree", "branch"),
                f'agent "{agent.name}" would be on branch {branch!a}, as "{other}" is',
                "Put {agent} into the branch: a branch can be in one worktree only.",
            )


def check_keys(file: ConfigFile, own: Mapping[str, str]) -> None:
    """The `[keys]` of a file, or of all files of which this is the last. Raises `BadConfig`."""
    here = by_action(file.data.get("keys", {}))
    # What this file says comes first, so that the refusal can point at it.
    own = {action: own[action] for action in here if action in own} | dict(own)
    for action in own:
        if action not in DEFAULT_KEYS:
            close = nearest(action, list(DEFAULT_KEYS))
            hint = f'Did you mean "{close}"?' if close else "All of them: cockpit keys"
            raise file.refusal(_place_of(file, action), "there is no such action", hint)
    if (wrong := not_to_have(own)) is not None:
        action, why = wrong
        raise file.refusal(_place_of(file, action), why, "Choose another key.")
    if (found := clash(own)) is not None:
        key, action, other = found
        taken = f'"{other}" has it too' if other else "the digits select agents"
        raise file.refusal(
            _place_of(file, action),
            f"{key} would do two things: {taken}",
            f'Choose another key, or give "{other}" another one.' if other else "",
        )


def _place_of(file: ConfigFile, action: str) -> KeyPath:
    """Where an action's keys are written: TOML takes an id with a dot for a table."""
    whole = action in file.data.get("keys", {})
    return ("keys", action) if whole else ("keys", *action.split("."))


def _check_names(file: ConfigFile, at: KeyPath, names: Sequence[str], what: str) -> None:
    for place, name in enumerate(names):
        if (first := names.index(name)) != place:
            line = file.line_of((*at, first, "name"))
            raise file.refusal(
                (*at, place, "name"),
                f'two {what} are called "{name}"',
                f"The first is on line {line}.",
            )


def _check_hooks(file: ConfigFile, at: KeyPath, agent: AgentDefaults) -> None:
    for event in type(agent.hooks).model_fields:
        for place, hook in enumerate(getattr(agent.hooks, event)):
            where: KeyPath = (*at, "hooks", event, place)
            _check_hook(file, where, hook)
            if hook.mode == "replace" and event != "on_context_threshold":
                raise file.refusal(
                    (*where, "mode"), "only a hook of on_context_threshold can replace anything"
                )


def _check_hook(file: ConfigFile, at: KeyPath, hook: Hook) -> None:
    needs = {"shell": "command", "notify": "urls"}.get(hook.type, "url")
    if not getattr(hook, needs):
        raise file.refusal((*at, "type"), f'a hook of type "{hook.type}" needs {needs}')
    if needs == "url" and not hook.url.startswith(("http://", "https://", "${")):
        raise file.refusal((*at, "url"), "expected an http:// or https:// address")
    if hook.threads and hook.type != "discord":
        raise file.refusal(
            (*at, "threads"),
            "only a hook of type discord can open threads",
            "Slack's incoming webhooks do not say where a message went, so none can follow it.",
        )


def not_run_yet(settings: Settings) -> Iterator[str]:
    """One line for each setting that is read and not acted on."""
    agents: list[tuple[str, AgentDefaults]] = [
        (f"agents.{agent.name}", agent) for agent in settings.agents
    ]
    for name, agent in agents or [("defaults", settings.defaults)]:
        if agent.runtime in NOT_FLOWN:
            yield f'{name}.runtime: "{agent.runtime}" is accepted, not yet flown by this version'
        for key in ("copy_files", "setup", "push_on_success", "create_pr"):
            if agent.worktree.strategy == "none" and getattr(agent.worktree, key):
                yield f'{name}.worktree.{key}: does nothing without strategy = "git_worktree"'
