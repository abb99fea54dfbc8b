"""`cockpit hooks test`: run real hooks with a sample event and print the results."""

from __future__ import annotations

import asyncio
import difflib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cockpit.adapters.process.hook_shell import ShellHooks
from cockpit.adapters.process.processes import LocalProcesses
from cockpit.cli.agent_guard import refuse_inside_agent
from cockpit.cli.output import say
from cockpit.cli.places import our_places
from cockpit.config.hooks import Hook, Hooks
from cockpit.config.loaded import Loaded
from cockpit.config.read import load
from cockpit.core.deliveries import Delivered, after
from cockpit.core.errors import BadUsage
from cockpit.core.hook_events import EVENTS, Happening, decision, passed_over, setting_of
from cockpit.core.hook_payload import sample
from cockpit.core.safetext import quoted, safe_line, safe_text
from cockpit.supervisor.outbound.hooks import hook_name
from cockpit.supervisor.outbound.sender import Sender


@dataclass(frozen=True, slots=True)
class Candidate:
    """A hook, and the agent it would run for."""

    agent: str
    directory: Path
    event: str
    hook: Hook


def run_trial(name: str, event: str, config: Path | None) -> int:
    """Run the hook `name`, or the agent `name`'s hooks, for `event`; return 1 if any failed, else
    0.

    Raises `BadUsage` for an unknown hook or event, and `NotAllowed` inside an agent, because hooks
    are the user's programs.
    """
    refuse_inside_agent("run a hook")
    wanted = _event(event)
    loaded = load(our_places(), config, Path.cwd(), os.environ)
    candidates = list(_candidates(loaded))
    chosen = [
        candidate
        for candidate in candidates
        if candidate.event == wanted and name in _names(candidate)
    ]
    if not chosen:
        raise _no_such_hook(name, wanted, candidates, loaded)
    return asyncio.run(_run_all(chosen))


def _event(text: str) -> str:
    known = {setting_of(event): event for event in EVENTS} | {event: event for event in EVENTS}
    if text not in known:
        close = difflib.get_close_matches(text, known, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Events: {', '.join(EVENTS)}"
        raise BadUsage(f"Unknown event {quoted(text)}", hint=hint)
    return known[text]


def _candidates(loaded: Loaded) -> Iterator[Candidate]:
    """Yield each hook once per agent that has it. Without agents, yields the hooks of
    [defaults]."""
    for agent in loaded.settings.agents:
        yield from _of(agent.name, Path(agent.directory), agent.hooks)
    if not loaded.settings.agents:
        yield from _of("sample", Path.cwd(), loaded.settings.defaults.hooks)


def _of(agent: str, directory: Path, hooks: Hooks) -> Iterator[Candidate]:
    for setting, hook in hooks.written():
        event = next(name for name in EVENTS if setting_of(name) == setting)
        yield Candidate(agent, directory, event, hook)


def _names(candidate: Candidate) -> tuple[str, str]:
    return hook_name(candidate.hook), candidate.agent


def _no_such_hook(name: str, event: str, candidates: list[Candidate], loaded: Loaded) -> BadUsage:
    known = sorted(
        {f"{hook_name(candidate.hook)} ({setting_of(candidate.event)})" for candidate in candidates}
    )
    held = [setting for setting in loaded.held if "hooks" in setting.key]
    hint = f"Hooks: {safe_line(', '.join(known), 400)}" if known else "No hooks are configured."
    if held:
        hint = f"Read the file, then run: cockpit config trust {safe_line(str(held[0].file))}"
    return BadUsage(
        f"No hook {quoted(name)} for {setting_of(event)}",
        "\n".join(safe_line(str(setting)) for setting in held),
        hint,
    )


async def _run_all(chosen: list[Candidate]) -> int:
    processes = LocalProcesses()
    shell = ShellHooks(processes, os.environ)
    sender = Sender(os.environ, processes, Path.cwd())
    try:
        return 0 if await _run_in_order(chosen, shell, sender) else 1
    finally:
        await shell.close()
        await sender.close()


async def _run_in_order(chosen: list[Candidate], shell: ShellHooks, sender: Sender) -> bool:
    """Run the hooks one after the other; return whether all succeeded.

    After a failed shell hook without continue_on_error, skips the agent's remaining hooks.
    """
    all_succeeded, failed_hooks = True, dict[str, str]()
    for candidate in chosen:
        if candidate.agent in failed_hooks:
            say(_title(candidate))
            say(f"  not run: {failed_hooks[candidate.agent]} failed with continue_on_error = false")
            continue
        succeeded = await _run(candidate, shell, sender)
        all_succeeded = all_succeeded and succeeded
        # The supervisor sends messages through its outbox, so a failed message stops no other hook.
        if (
            not succeeded
            and candidate.hook.type == "shell"
            and not candidate.hook.continue_on_error
        ):
            failed_hooks[candidate.agent] = hook_name(candidate.hook)
    return all_succeeded


def _title(candidate: Candidate) -> str:
    hook = candidate.hook
    return f"{hook_name(hook)} ({hook.type}) of {candidate.agent}, {setting_of(candidate.event)}"


async def _run(candidate: Candidate, shell: ShellHooks, sender: Sender) -> bool:
    payload = sample(candidate.event, candidate.agent, str(candidate.directory))
    say(_title(candidate))
    if reason := passed_over(
        candidate.event, payload, candidate.hook.on_events, candidate.hook.when
    ):
        say(f"  a real event would skip this hook ({safe_line(reason)}); running it anyway")
    if candidate.hook.type == "shell":
        return await _run_shell(candidate, payload, shell)
    return await _send(candidate, payload, sender)


async def _run_shell(candidate: Candidate, payload: dict[str, Any], shell: ShellHooks) -> bool:
    places = our_places()
    home = {"COCKPIT_HOME": str(places.home)} if places.home is not None else {}
    run = await shell.run(
        candidate.hook.command,
        Happening(candidate.event, payload).line(),
        directory=candidate.directory,
        more={
            **home,
            "COCKPIT_AGENT": candidate.agent,
            "COCKPIT_SOCKET": str(places.socket),
            "COCKPIT_HOOK": candidate.event,
        },
        timeout=candidate.hook.timeout,
    )
    output = run.output.decode("utf-8", "replace")
    say(f"  {run.problem or 'exited with 0'} after {run.seconds:.2f} s")
    if output:
        print(safe_text(output), end="" if output.endswith("\n") else "\n")
    if run.complaint:
        say(safe_text(run.complaint.decode("utf-8", "replace")).rstrip())
    return _print_decision(candidate, output) and not run.problem


def _print_decision(candidate: Candidate, output: str) -> bool:
    """Print the decision of an on_context_threshold hook; return False for invalid output."""
    if candidate.event != "context_threshold":
        return True
    try:
        decided = decision(output)
    except ValueError as error:
        say(f"  invalid response: {error}")
        return False
    no_answer = (
        "continue" if candidate.hook.mode == "replace" else "none; the built-in handoff continues"
    )
    say(f"  decision: {decided.verdict.value if decided else no_answer}")
    if decided and decided.document:
        say(f"  document: {safe_line(decided.document)}")
    return True


async def _send(candidate: Candidate, payload: dict[str, Any], sender: Sender) -> bool:
    written = candidate.hook.model_dump(mode="json", exclude_defaults=True)
    succeeded = True
    for url in candidate.hook.urls if candidate.hook.type == "notify" else (candidate.hook.url,):
        target = {**written, "url": url}
        answer = await sender.send(candidate.hook.type, target, payload, payload["id"], time.time())
        outcome = after(answer, 1, 0.0, 1.0)
        succeeded = succeeded and isinstance(outcome, Delivered)
        result = "delivered" if isinstance(outcome, Delivered) else answer.problem
        say(f"  {result}" + (f" ({answer.status})" if answer.status else ""))
    return succeeded
