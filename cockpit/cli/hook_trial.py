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
from cockpit.cli.inside import refuse_inside_agent
from cockpit.cli.places import our_places
from cockpit.cli.speech import say
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


def trial(name: str, event: str, config: Path | None) -> int:
    """Run the matching hooks; return 1 if any failed. Raises `BadUsage` for an unknown hook or
    event.

    Raises `NotAllowed` inside an agent: hooks are the user's programs.
    """
    refuse_inside_agent("run a hook")
    wanted = _event(event)
    loaded = load(our_places(), config, Path.cwd(), os.environ)
    found = list(_candidates(loaded))
    chosen = [one for one in found if one.event == wanted and name in _names(one)]
    if not chosen:
        raise _nobody(name, wanted, found, loaded)
    return asyncio.run(_run_all(chosen))


def _event(text: str) -> str:
    known = {setting_of(event): event for event in EVENTS} | {event: event for event in EVENTS}
    if text not in known:
        close = difflib.get_close_matches(text, known, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Events: {', '.join(EVENTS)}"
        raise BadUsage(f"Unknown event {quoted(text)}", hint=hint)
    return known[text]


def _candidates(loaded: Loaded) -> Iterator[Candidate]:
    """Yield each hook once per agent that has it; without agents, those of [defaults]."""
    for agent in loaded.settings.agents:
        yield from _of(agent.name, Path(agent.directory), agent.hooks)
    if not loaded.settings.agents:
        yield from _of("sample", Path.cwd(), loaded.settings.defaults.hooks)


def _of(agent: str, directory: Path, hooks: Hooks) -> Iterator[Candidate]:
    for setting, hook in hooks.written():
        event = next(each for each in EVENTS if setting_of(each) == setting)
        yield Candidate(agent, directory, event, hook)


def _names(one: Candidate) -> tuple[str, str]:
    return hook_name(one.hook), one.agent


def _nobody(name: str, event: str, found: list[Candidate], loaded: Loaded) -> BadUsage:
    known = sorted({f"{hook_name(one.hook)} ({setting_of(one.event)})" for one in found})
    held = [each for each in loaded.held if "hooks" in each.key]
    hint = f"Hooks: {safe_line(', '.join(known), 400)}" if known else "No hooks are configured."
    if held:
        hint = f"Read the file, then run: cockpit config trust {safe_line(str(held[0].file))}"
    return BadUsage(
        f"No hook {quoted(name)} for {setting_of(event)}",
        "\n".join(safe_line(str(each)) for each in held),
        hint,
    )


async def _run_all(chosen: list[Candidate]) -> int:
    processes = LocalProcesses()
    shell = ShellHooks(processes, os.environ)
    sender = Sender(os.environ, processes, Path.cwd())
    try:
        return 0 if await _each(chosen, shell, sender) else 1
    finally:
        await shell.close()
        await sender.close()


async def _each(chosen: list[Candidate], shell: ShellHooks, sender: Sender) -> bool:
    """Run hooks in order; a failure without continue_on_error skips that agent's other hooks."""
    all_went, ended = True, dict[str, str]()
    for one in chosen:
        if one.agent in ended:
            say(f"{hook_name(one.hook)} ({one.hook.type}) of {one.agent}, {setting_of(one.event)}")
            say(f"  not run: {ended[one.agent]} failed with continue_on_error = false")
            continue
        went = await _run(one, shell, sender)
        all_went = all_went and went
        # Messages are sent through the outbox, so later hooks never wait for them.
        if not went and one.hook.type == "shell" and not one.hook.continue_on_error:
            ended[one.agent] = hook_name(one.hook)
    return all_went


async def _run(one: Candidate, shell: ShellHooks, sender: Sender) -> bool:
    payload = sample(one.event, one.agent, str(one.directory))
    say(f"{hook_name(one.hook)} ({one.hook.type}) of {one.agent}, {setting_of(one.event)}")
    if why := passed_over(one.event, payload, one.hook.on_events, one.hook.when):
        say(f"  this event would skip the hook ({safe_line(why)}); running it anyway")
    if one.hook.type == "shell":
        return await _run_shell(one, payload, shell)
    return await _send(one, payload, sender)


async def _run_shell(one: Candidate, payload: dict[str, Any], shell: ShellHooks) -> bool:
    places = our_places()
    home = {"COCKPIT_HOME": str(places.home)} if places.home is not None else {}
    run = await shell.run(
        one.hook.command,
        Happening(one.event, payload).line(),
        directory=one.directory,
        more={
            **home,
            "COCKPIT_AGENT": one.agent,
            "COCKPIT_SOCKET": str(places.socket),
            "COCKPIT_HOOK": one.event,
        },
        timeout=one.hook.timeout,
    )
    output = run.output.decode("utf-8", "replace")
    say(f"  {run.problem or 'exited with 0'} after {run.seconds:.2f} s")
    if output:
        print(safe_text(output), end="" if output.endswith("\n") else "\n")
    if run.complaint:
        say(safe_text(run.complaint.decode("utf-8", "replace")).rstrip())
    return _tell_answer(one, output) and not run.problem


def _tell_answer(one: Candidate, output: str) -> bool:
    """Print the decision of an on_context_threshold hook; False for an invalid answer."""
    if one.event != "context_threshold":
        return True
    try:
        found = decision(output)
    except ValueError as wrong:
        say(f"  invalid answer: {wrong}")
        return False
    silent = "continue" if one.hook.mode == "replace" else "none; the built-in handoff goes on"
    say(f"  decision: {found.verdict.value if found else silent}")
    if found and found.document:
        say(f"  document: {safe_line(found.document)}")
    return True


async def _send(one: Candidate, payload: dict[str, Any], sender: Sender) -> bool:
    written = one.hook.model_dump(mode="json", exclude_defaults=True)
    went = True
    for url in one.hook.urls if one.hook.type == "notify" else (one.hook.url,):
        told = {**written, "url": url}
        answer = await sender.send(one.hook.type, told, payload, payload["id"], time.time())
        outcome = after(answer, 1, 0.0, 1.0)
        went = went and isinstance(outcome, Delivered)
        words = "delivered" if isinstance(outcome, Delivered) else answer.problem
        say(f"  {words}" + (f" ({answer.status})" if answer.status else ""))
    return went
