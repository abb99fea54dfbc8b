"""The temporary folder of a demo run: a home, a CLI, a repository and a configuration.

The demo's programs write only in this folder, so that the user's files are not changed, and nothing
remains after the folder is removed.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cockpit.adapters.agents.claude.program import INSTALL, bundled_path
from cockpit.adapters.agents.probe import probed_version
from cockpit.config.kernel import PORTABLE_VARIABLE
from cockpit.config.paths import DEMO_VARIABLE, Places
from cockpit.core.errors import BadUsage, CockpitError, ProgramMissing
from cockpit.demo.clis import OTHERS, find_programs, prepare
from cockpit.demo.job import EVERYTHING, Job
from cockpit.demo.jobs import Jobs
from cockpit.demo.repository import make_repository
from cockpit.demo.standin.program import install
from cockpit.ports.runtimes import Program

MODEL = "claude-sonnet-4-6"
"""A model that has a window of 200,000 tokens for every account."""
WINDOW = 200_000
SHORT_PARENT = "/tmp"
"""Where the folder is created if TMPDIR is too long for sockets."""
PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "COLORTERM", "TZ", "NO_COLOR", PORTABLE_VARIABLE,
)  # fmt: skip
"""The variables that the demo takes from the user's environment."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """The folder of one demo run, and the paths in it."""

    folder: Path
    cli: str
    """The version of the real Claude Code, or why the stand-in is used."""
    real: bool
    """Whether the agents run the real Claude Code, not the stand-in."""
    uses_claude: bool
    """Whether any agent runs Claude Code or its stand-in."""
    others: Mapping[str, str]
    """The versions of the other CLIs that the agents run, by runtime."""

    @property
    def home(self) -> Path:
        """The demo's home directory, shown as `~`."""
        return self.folder / "home"

    @property
    def repository(self) -> Path:
        return self.home / "tally"

    @property
    def config(self) -> Path:
        return self.home / "cockpit.toml"

    @property
    def places(self) -> Places:
        """The paths of the demo's supervisor."""
        return _places(self.folder)

    def environment(self) -> dict[str, str]:
        """Return the whole environment of the demo's programs."""
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        path = f"{self.folder / 'bin'}{os.pathsep}{passed.get('PATH', os.defpath)}"
        return {
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **passed,
            "PATH": path,
            "HOME": str(self.home),
            "TMPDIR": str(self.folder / "tmp"),
            "CLAUDE_CONFIG_DIR": str(self.folder / "claude"),
            "COCKPIT_HOME": str(self.folder / "ck"),
            DEMO_VARIABLE: "1",
        }

    def documents(self) -> list[Path]:
        """Return all handoff documents of this run, sorted by agent, then oldest first."""
        return sorted(self.repository.glob(".worktrees/*/.cockpit/handoffs/handoff-*.md"))

    def remove(self) -> None:
        """Remove the folder. Idempotent."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _places(folder: Path) -> Places:
    return Places.of({"COCKPIT_HOME": str(folder / "ck")})


def make_scratch(
    jobs: Jobs,
    model_url: str,
    *,
    standin: bool = False,
    clis: Mapping[str, str] | None = None,
) -> Scratch:
    """Create the folder for these agents; `model_url` is the URL of their model.

    With `standin`, the stand-in is used even if the real CLI is available. `clis`: the runtime of
    each agent that runs another CLI, by the agent's name. Raises `ProgramMissing` if git, tmux or
    one of these CLIs is not installed.
    """
    for program in ("git", "tmux"):
        if shutil.which(program) is None:
            hint = f"On Debian: apt-get install {program}"
            raise ProgramMissing(f"The demo needs {program}", f"{program} is not installed.", hint)
    programs = find_programs(set((clis or {}).values()), os.environ)
    # The path has no links, because the CLI and git use real paths.
    folder = _temporary_folder()
    try:
        return furnished(folder, jobs, model_url, programs, standin=standin, clis=clis or {})
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _temporary_folder() -> Path:
    """Create a folder in TMPDIR, or in /tmp if socket paths below TMPDIR would be too long.

    Raises `BadUsage` if they would be too long below /tmp too: /tmp may be a symlink to a long
    path.
    """
    detail = ""
    for parent in (None, SHORT_PARENT):
        folder = Path(tempfile.mkdtemp(prefix="ckdemo-", dir=parent)).resolve()
        try:
            _places(folder).check_sockets()
        except BadUsage as error:
            folder.rmdir()
            detail = error.detail
        else:
            return folder
    raise BadUsage(
        "The demo's folder has too long a path",
        detail,
        "Set TMPDIR to an existing folder with a shorter path: TMPDIR=/FOLDER cockpit demo",
    )


def furnished(
    folder: Path,
    jobs: Jobs,
    model_url: str,
    programs: Mapping[str, Program],
    *,
    standin: bool,
    clis: Mapping[str, str],
) -> Scratch:
    for name in ("home", "tmp", "claude", "bin", "ck", "home/tally"):
        (folder / name).mkdir(mode=0o700)
    cli, real = (
        put_standin(folder / "bin", "the stand-in was requested")
        if standin
        else put_cli(folder / "bin")
    )
    versions = {name: program.version for name, program in programs.items()}
    scratch = Scratch(folder, cli, real, len(clis) < len(jobs), versions)
    make_repository(scratch.repository, scratch.environment())
    key = f"sk-ant-simulated-{secrets.token_hex(16)}"
    put_onboarding(folder / "claude", key, scratch.repository)
    environments = prepare(
        programs, folder, scratch.repository, model_url, scratch.places, scratch.environment()
    )
    own = {name: OTHERS[cli].table(environments[cli]) for name, cli in clis.items()}
    text = configuration(jobs, agent_environment(key, model_url), scratch.repository, own)
    scratch.config.write_text(text, encoding="utf-8")
    scratch.config.chmod(0o600)
    return scratch


def put_cli(folder: Path) -> tuple[str, bool]:
    """Install a `claude` in the folder: the bundled CLI if it starts, else the stand-in.

    Returns the version, or why the stand-in is used, and whether `claude` is the real CLI.
    """
    bundled = bundled_path()
    if bundled is None:
        return put_standin(folder, "claude-agent-sdk contains no CLI for this platform")
    try:
        version = probed_version(bundled, {**os.environ, "DISABLE_AUTOUPDATER": "1"}, INSTALL)
    except CockpitError as error:
        return put_standin(folder, f"{error.title}. {error.detail}")
    (folder / "claude").symlink_to(bundled)
    return version, True


def put_standin(folder: Path, reason: str) -> tuple[str, bool]:
    install(folder)
    return reason, False


def put_onboarding(folder: Path, key: str, repository: Path) -> None:
    answers = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
        "projects": {str(repository): {"hasTrustDialogAccepted": True}},
    }
    (folder / ".claude.json").write_text(json.dumps(answers), encoding="utf-8")


def agent_environment(key: str, model_url: str) -> dict[str, str]:
    """Return the environment with which the CLI contacts only the simulated model."""
    return {
        "ANTHROPIC_API_KEY": key,
        "ANTHROPIC_BASE_URL": model_url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # Without the next two, the task tools are hidden behind a search, and the CLI compacts only
        # when the API refuses a request.
        "ENABLE_TOOL_SEARCH": "false",
        "CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(WINDOW),
        # For the stand-in: the pace of a model, so that the screen shows the agent working.
        "STANDIN_PACE": "1",
    }


def configuration(
    jobs: Jobs,
    environment: Mapping[str, str],
    repository: Path,
    own: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the text of the demo's `cockpit.toml`.

    `environment` is that of agents with Claude Code. `own`: the lines of each agent with another
    CLI, by the agent's name.
    """
    lines = [
        "[defaults]",
        'runtime = "claude"',
        f"model = {quoted(MODEL)}",
        'permission_mode = "acceptEdits"',
        f'arguments = ["--allowedTools", {quoted(EVERYTHING)}]',
        f"env = {table(environment)}",
        "",
        "[defaults.handoff]",
        'writers = ["agent", "facts"]',
        'deadline = "60s"',
        # A session of the demo is full within seconds.
        'cooldown = "0s"',
        "",
        "[defaults.worktree]",
        'strategy = "git_worktree"',
        'branch = "agent/{agent}"',
        'base = "main"',
    ]
    for name, job in jobs.items():
        lines += [*agent_table(name, job, repository), *(own or {}).get(name, ())]
    return "\n".join(lines) + "\n"


def agent_table(name: str, job: Job, repository: Path) -> Sequence[str]:
    own = () if job.allowed == EVERYTHING else (job.allowed,)
    return (
        "",
        "[[agents]]",
        f"name = {quoted(name)}",
        f"mode = {quoted(job.mode)}",
        f"directory = {quoted(str(repository))}",
        f"prompt = {quoted(job.prompt)}",
        *(f'arguments = ["--allowedTools", {quoted(tools)}]' for tools in own),
    )


def quoted(text: str) -> str:
    """Format a TOML basic string; TOML has the same escapes as JSON."""
    return json.dumps(text)


def table(values: Mapping[str, str]) -> str:
    """Format an inline table of strings."""
    return "{ " + ", ".join(f"{name} = {quoted(text)}" for name, text in values.items()) + " }"
