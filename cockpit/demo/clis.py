"""The CLIs that the demo's agents can run, each with its own home in the demo's folder.

The CLIs' settings select the simulated model and trust the demo's repository. The user's own
settings are not read or written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cockpit.adapters.agents.codex.program import find_program as find_codex
from cockpit.adapters.agents.gemini import extension
from cockpit.adapters.agents.gemini.program import find_program as find_gemini
from cockpit.config.paths import Places
from cockpit.core.errors import ProgramMissing
from cockpit.demo.job import Job
from cockpit.demo.jobs import DURATIONS, ROUNDING, WEEKS, Jobs, jobs_for
from cockpit.ports.runtimes import Program

CLAUDE = "claude"
MIXED = "mixed"
CHOICES = (CLAUDE, "codex", "gemini", MIXED)
_KEY = "made-up-key-for-a-simulated-model"


@dataclass(frozen=True, slots=True)
class Ground:
    """The inputs of `OtherCli.prepare`: paths, the model's URL and the environment."""

    folder: Path
    """The CLI's home directory, which exists."""
    repository: Path
    model_url: str
    places: Places
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OtherCli:
    """A CLI other than Claude Code. It does not come with cockpit: the user must install it."""

    name: str
    """The name of the CLI's runtime."""
    title: str
    model: str
    find: Callable[[Mapping[str, str]], Program]
    """Finds the CLI's program. Raises `ProgramMissing`, with a hint how to install the CLI."""
    prepare: Callable[[Ground, Program], Mapping[str, str]]
    """Writes the CLI's settings; returns the environment variables for agents with this CLI."""

    def table(self, environment: Mapping[str, str]) -> Sequence[str]:
        """Return the configuration lines of an agent with this CLI.

        The CLI may use every tool without asking, because its model is a script and all files are
        in the demo's folder.
        """
        pairs = ", ".join(f"{key} = {json.dumps(text)}" for key, text in environment.items())
        return (
            f"runtime = {json.dumps(self.name)}",
            f"model = {json.dumps(self.model)}",
            'permission_mode = "bypassPermissions"',
            "arguments = []",
            f"env = {{ {pairs} }}",
        )


def _prepare_codex(ground: Ground, program: Program) -> Mapping[str, str]:
    (ground.folder / "config.toml").write_text(
        "model_provider = 'simulated'\nmodel_context_window = 200000\n"
        "check_for_update_on_startup = false\n"
        f"[model_providers.simulated]\nname = 'Simulated'\nbase_url = '{ground.model_url}/v1'\n"
        "wire_api = 'responses'\nenv_key = 'SIMULATED_KEY'\n"
        f"[projects.{json.dumps(str(ground.repository))}]\ntrust_level = 'trusted'\n",
        encoding="utf-8",
    )
    return {"CODEX_HOME": str(ground.folder), "SIMULATED_KEY": _KEY}


def _prepare_gemini(ground: Ground, program: Program) -> Mapping[str, str]:
    own = ground.folder / ".gemini"
    own.mkdir(mode=0o700)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    trusted = {str(ground.repository): "TRUST_FOLDER"}
    (own / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    (own / "trustedFolders.json").write_text(json.dumps(trusted), encoding="utf-8")
    home = {"GEMINI_CLI_HOME": str(ground.folder)}
    # As `cockpit setup gemini` does: Gemini reads cockpit's hooks only from an extension.
    folder = ground.places.state / "gemini-extension"
    extension.link(program, {**ground.environment, **home}, folder)
    return {**home, "GEMINI_API_KEY": _KEY, "GOOGLE_GEMINI_BASE_URL": ground.model_url}


OTHERS: Mapping[str, OtherCli] = {
    "codex": OtherCli("codex", "Codex", "simulated", find_codex, _prepare_codex),
    "gemini": OtherCli("gemini", "Gemini CLI", "gemini-2.5-pro", find_gemini, _prepare_gemini),
}
_MIXED_JOBS: Sequence[tuple[str, Job]] = (
    ("codex", ROUNDING), ("gemini", DURATIONS), (CLAUDE, WEEKS),
)  # fmt: skip
"""The jobs of a run with all CLIs. Only Claude Code gets the job that compacts: compactions of
other CLIs are tested elsewhere."""


def agents_for(agents: int, choice: str) -> tuple[Jobs, Mapping[str, str]]:
    """Return the jobs of this number of agents, and the CLIs of those that do not run Claude Code.

    Both mappings have the agents' names as keys. After the last job, the jobs repeat: `rounding-2`,
    ...
    """
    if choice == CLAUDE:
        return jobs_for(agents), {}
    order = _MIXED_JOBS if choice == MIXED else ((choice, ROUNDING), (choice, DURATIONS))
    jobs, clis = {}, {}
    for place in range(agents):
        turn, (cli, job) = place // len(order), order[place % len(order)]
        name = job.agent + (f"-{turn + 1}" if turn else "")
        jobs[name] = job
        if cli != CLAUDE:
            clis[name] = cli
    return jobs, clis


def find_programs(names: set[str], environment: Mapping[str, str]) -> dict[str, Program]:
    """Return the programs of these CLIs. Raises `ProgramMissing`, which names all missing CLIs."""
    programs, missing = {}, []
    for name in sorted(names):
        try:
            programs[name] = OTHERS[name].find(environment)
        except ProgramMissing as error:
            missing.append(error)
    if missing:
        raise ProgramMissing(
            ". ".join(error.title for error in missing),
            " ".join(error.detail for error in missing),
            "; ".join(error.hint for error in missing),
        )
    return programs


def prepare(
    programs: Mapping[str, Program],
    folder: Path,
    repository: Path,
    model_url: str,
    places: Places,
    environment: Mapping[str, str],
) -> dict[str, Mapping[str, str]]:
    """Write the homes of these CLIs below `folder`; return the variables for each CLI's agents."""
    prepared = {}
    for name, program in programs.items():
        home = folder / name
        home.mkdir(mode=0o700)
        ground = Ground(home, repository, model_url, places, environment)
        prepared[name] = OTHERS[name].prepare(ground, program)
    return prepared
