"""Rules between settings, in one file and in merged files; errors name file and line.

The types in `config.values` check single values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from cockpit.config.file import ConfigFile
from cockpit.config.hooks import Hook
from cockpit.config.key_names import (
    DEFAULT_KEYS,
    by_action,
    clash,
    reserved_key,
    selected_by_digits,
)
from cockpit.config.lines import KeyPath
from cockpit.config.own_runtimes import BUILT_IN, OwnRuntime, installed_runtimes
from cockpit.config.problems import nearest
from cockpit.config.schema import AgentDefaults, AgentSettings, ContextSettings, Settings
from cockpit.config.thresholds import check_marks
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.safetext import quoted
from cockpit.core.slack_bot import METHOD

_CHANNEL = re.compile(r"[CDGU][A-Z0-9]{2,30}")
"""Matches the id of a Slack channel, or of a Slack user (U), who gets direct messages."""

Runtimes = Mapping[str, OwnRuntime]

Origin = tuple[ConfigFile, KeyPath]
"""The file that configures an agent, and the agent's key path in it."""


def check_file(file: ConfigFile, settings: Settings) -> None:
    """Check the rules between the settings of one file. Raises `BadConfig`."""
    _check_names(file, ("agents",), [agent.name for agent in settings.agents], "agents")
    _check_names(file, ("hosts",), [host.name for host in settings.hosts], "hosts")
    _check_hooks(file, ("defaults",), settings.defaults)
    check_keys(file, settings.keys)
    _check_runtimes(file, settings.runtimes)
    for place, agent in enumerate(settings.agents):
        at: KeyPath = ("agents", place)
        if agent.prompt and agent.prompt_file:
            raise file.refusal(
                (*at, "prompt_file"),
                "prompt and prompt_file are both set",
                "Remove prompt or prompt_file.",
            )
        _check_hooks(file, at, agent)


def check_agent(origin: Origin, agent: AgentSettings) -> None:
    """Check one agent with its inherited settings. Raises `BadConfig`."""
    file, at = origin
    if agent.runtime == "command" and not agent.command:
        raise file.refusal(
            (*at, "runtime"),
            'runtime = "command" needs a command',
            'Add a command, as a list: command = ["./my-agent"]',
        )
    check_context(file, at, agent.context)


def check_runtimes_named(file: ConfigFile, settings: Settings, own: Runtimes) -> None:
    """Check that a file's runtimes exist, and that those for successors can take over a job.

    A runtime can be built in, installed by a package, or defined in the file or in `own`. Raises
    `BadConfig`.
    """
    runtimes = {**own, **settings.runtimes}
    _check_runtimes_of(file, ("defaults",), settings.defaults, runtimes)
    for place, agent in enumerate(settings.agents):
        _check_runtimes_of(file, ("agents", place), agent, runtimes)


def _check_runtimes_of(
    file: ConfigFile, at: KeyPath, agent: AgentDefaults, runtimes: Runtimes
) -> None:
    check_runtime_name(agent.runtime, runtimes, partial(file.refusal, (*at, "runtime")))
    for name in agent.handoff.successor:
        refuse = partial(file.refusal, (*at, "handoff", "successor"))
        check_runtime_name(name, runtimes, refuse)
        own = runtimes.get(name)
        if name == "command" or (own is not None and not own.record):
            raise refuse(
                f"cockpit cannot hand off a job to the runtime {name}",
                'Choose another CLI: successor = "codex"',
                "" if own is None else "cockpit cannot observe a runtime without a record.",
            )


def check_runtime_name(
    name: str, runtimes: Runtimes, refuse: Callable[[str, str], CockpitError]
) -> None:
    """Raise the error that `refuse` creates from a problem and a hint, if no runtime has this name.

    A runtime can be built in, installed by a package, or in `runtimes`.
    """
    if name in BUILT_IN or name in runtimes:
        return
    known = [*BUILT_IN, *runtimes, *(installed := installed_runtimes())]
    if name not in installed:
        close = nearest(name, known)
        hint = f'Did you mean "{close}"?' if close else f"Known runtimes: {', '.join(known)}."
        raise refuse(f"there is no runtime {quoted(name)}", hint)


def _check_runtimes(file: ConfigFile, runtimes: Runtimes) -> None:
    """Check the rules between the fields of each `[runtimes.NAME]`. Raises `BadConfig`."""
    for name, runtime in runtimes.items():
        arguments = (*runtime.arguments, *runtime.session)
        in_arguments = any("{record}" in word for word in runtime.arguments)
        names_record = any("{record}" in word for word in arguments)
        names_session = any("{session}" in word for word in arguments)
        if runtime.reader and not runtime.record:
            raise file.refusal(
                ("runtimes", name, "reader"),
                "a reader needs a record",
                'Add a record: record = "{directory}/.agent/{session}.jsonl"',
            )
        if runtime.ready and runtime.prompt:
            raise file.refusal(
                ("runtimes", name, "ready"),
                "`prompt` already passes the first prompt to the program",
                "Remove ready or prompt.",
            )
        if runtime.ready and not runtime.takes_paste:
            raise file.refusal(
                ("runtimes", name, "ready"),
                "cockpit pastes the first prompt only into a program that accepts pasted prompts",
                "Add takes_paste = true, if the program accepts pasted prompts.",
            )
        if names_record and not runtime.record:
            raise file.refusal(
                ("runtimes", name, "arguments" if in_arguments else "session"),
                "{record} needs a record",
                'Add a record: record = "{state}/{session}.jsonl"',
            )
        if runtime.record and not (names_session or names_record):
            raise file.refusal(
                ("runtimes", name, "record"),
                "nothing passes the record's path to the program",
                'Add session = ["--session-id", "{session}"], or '
                'arguments = ["--record", "{record}"]',
            )


def check_context(file: ConfigFile, at: KeyPath, context: ContextSettings) -> None:
    """Raise `BadConfig` if thresholds of an agent or of the defaults are out of order."""
    try:
        check_marks(context)
    except BadUsage as error:
        lower = error.title.split()[0]
        cap = ("cap", lower.removeprefix("cap_")) if lower.startswith("cap_") else (lower,)
        hint = f'{error.hint} Or set window = "1M", if the window has that size.'
        raise file.refusal((*at, "context", *cap), error.title, hint, error.detail) from None


def check_branches(agents: Iterable[tuple[Origin, AgentSettings]]) -> None:
    """Raise `BadConfig` if the worktrees of two agents in one directory would use the same branch.

    Branches with `{job}`, or with `{work_item}` while no work item is set, are unique.
    """
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
                f'agents "{agent.name}" and "{other}" would both use branch {branch!a}',
                "Use {agent} in the branch: git allows a branch in one worktree only.",
            )


def check_keys(file: ConfigFile, own: Mapping[str, str]) -> None:
    """Check the `[keys]` table of one file, or of merged files. Raises `BadConfig`.

    `file` is the only file, or the last one merged; errors name this file.
    """
    here = by_action(file.data.get("keys", {}))
    # This file's keys come first, so that the error can point at them.
    own = {action: own[action] for action in here if action in own} | dict(own)
    for action in own:
        if action not in DEFAULT_KEYS:
            close = nearest(action, list(DEFAULT_KEYS))
            hint = f'Did you mean "{close}"?' if close else "List all actions: cockpit keys"
            raise file.refusal(place_of_key(file, action), "unknown action", hint)
    if (wrong := reserved_key(own)) is not None:
        action, why = wrong
        raise file.refusal(place_of_key(file, action), why, "Choose another key.")
    if (conflict := clash(own)) is not None:
        key, action, other = conflict
        digits = f"the digits select {selected_by_digits(action)}"
        taken = f'"{other}" uses the key too' if other else digits
        raise file.refusal(
            place_of_key(file, action),
            f"{key} is already taken: {taken}",
            f'Choose another key here or for "{other}".' if other else "Choose another key.",
        )


def place_of_key(file: ConfigFile, action: str) -> KeyPath:
    """Return the key path of an action in the file's `[keys]` table.

    An id with a dot is one key if quoted (`"review.edit"`); unquoted, it is a key in a table.
    """
    is_one_key = action in file.data.get("keys", {})
    return ("keys", action) if is_one_key else ("keys", *action.split("."))


def _check_names(file: ConfigFile, at: KeyPath, names: Sequence[str], what: str) -> None:
    for place, name in enumerate(names):
        if (first := names.index(name)) != place:
            line = file.line_of((*at, first, "name"))
            raise file.refusal(
                (*at, place, "name"),
                f'two {what} are named "{name}"',
                f"The first is on line {line}.",
            )


def _check_hooks(file: ConfigFile, at: KeyPath, agent: AgentDefaults) -> None:
    for event in type(agent.hooks).model_fields:
        for place, hook in enumerate(getattr(agent.hooks, event)):
            where: KeyPath = (*at, "hooks", event, place)
            _check_hook(file, where, hook)
            if hook.mode == "replace" and event != "on_context_threshold":
                raise file.refusal(
                    (*where, "mode"), 'mode = "replace" only works for on_context_threshold hooks'
                )


def _check_hook(file: ConfigFile, at: KeyPath, hook: Hook) -> None:
    if hook.token or hook.channel_id:
        _check_slack_bot(file, at, hook)
        return
    needs = {"shell": "command", "notify": "urls"}.get(hook.type, "url")
    if not getattr(hook, needs):
        raise file.refusal((*at, "type"), f'a hook of type "{hook.type}" needs {needs}')
    if needs == "url":
        _check_address(file, at, hook.url)
    if hook.threads and hook.type == "slack":
        raise file.refusal(
            (*at, "threads"),
            "a Slack incoming webhook cannot open threads",
            "Slack does not return the message's ID. Use a bot: set token and channel_id.",
        )
    if hook.threads and hook.type != "discord":
        raise file.refusal(
            (*at, "threads"), "only hooks of type slack and discord can open threads"
        )


def _check_slack_bot(file: ConfigFile, at: KeyPath, hook: Hook) -> None:
    given, missing = ("token", "channel_id") if hook.token else ("channel_id", "token")
    if hook.type != "slack":
        raise file.refusal((*at, given), f'{given} only works with hooks of type "slack"')
    if not getattr(hook, missing):
        raise file.refusal((*at, given), f"a Slack bot also needs {missing}")
    if not _CHANNEL.fullmatch(hook.channel_id) and "${" not in hook.channel_id:
        raise file.refusal(
            (*at, "channel_id"),
            "expected the ID of a channel or user, such as C0123456789",
            "Slack shows the ID at the end of the channel's About tab.",
        )
    if hook.url:
        _check_address(file, at, hook.url)
    if hook.url and "${" not in hook.url and not hook.url.endswith(f"/{METHOD}"):
        raise file.refusal(
            (*at, "url"),
            f"with token, url must end with /{METHOD}",
            "Remove url to post to slack.com, or remove token to use an incoming webhook.",
        )


def _check_address(file: ConfigFile, at: KeyPath, url: str) -> None:
    if not url.startswith(("http://", "https://", "${")):
        raise file.refusal((*at, "url"), "expected an http:// or https:// URL")


def settings_without_effect(settings: Settings) -> Iterator[str]:
    """Yield one line per worktree setting that has no effect because the agent has no worktree."""
    agents: list[tuple[str, AgentDefaults]] = [
        (f"agents.{agent.name}", agent) for agent in settings.agents
    ]
    for name, agent in agents or [("defaults", settings.defaults)]:
        for key in ("copy_files", "setup", "push_on_success", "create_pr"):
            if agent.worktree.strategy == "none" and getattr(agent.worktree, key):
                yield f'{name}.worktree.{key}: has no effect without strategy = "git_worktree"'
