"""The handoff settings of an agent as one line for the log."""

from __future__ import annotations

from cockpit.config.quantities import spelled_duration
from cockpit.config.schema import AgentSettings


def continuation_settings(settings: AgentSettings) -> str:
    """Return the mode, thresholds, writers and limits as one line.

    Leaves out the prompt and the environment, which may contain secrets.
    """
    handoff, context, limits, loop = (
        settings.handoff,
        settings.context,
        settings.limits,
        settings.loop,
    )
    parts = [
        f"settings of {settings.name}: mode={settings.mode} strategy={settings.strategy}",
        f"thresholds={context.notice}/{context.warn}/{context.act}/{context.force}",
        f"writers={','.join(handoff.writers)} deadline={spelled_duration(handoff.deadline)}",
        f"max_per_job={handoff.max_per_job} cooldown={spelled_duration(handoff.cooldown)}",
        f"max_chain_cost_usd={handoff.max_chain_cost_usd:g} resume={settings.resume}",
    ]
    if limits.turns or limits.session_time:
        time = spelled_duration(limits.session_time)
        parts.append(f"limits: turns={limits.turns} session_time={time}")
    if loop.enabled:
        parts.append(f"loop: max_iterations={loop.max_iterations}")
    return " ".join(parts)
