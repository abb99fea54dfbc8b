"""Write configuration: a first file, a new agent, or a whole file.

Uses tomlkit, so that values are always quoted correctly and comments are kept. Files are replaced
atomically.
"""

from __future__ import annotations

import os
import stat
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, Table

from cockpit.config.file import LARGEST_FILE, read_config_file, shown_path
from cockpit.config.schema import AgentSettings
from cockpit.core.errors import BadConfig, Failed
from cockpit.core.ids import suggested_name


def spelled(value: Any) -> str:
    """Format a value as TOML on one line; tables inline."""
    if isinstance(value, dict):
        pairs = (f"{tomlkit.key(key).as_string()} = {spelled(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(spelled(item) for item in value)}]"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(tomlkit.item(value).as_string())


def first_file(repository: str, branch: str | None) -> str:
    """Return the text of a first `cockpit.toml`: one agent, and the most common settings.

    The agent has the name of the repository. `branch` is the base of an example worktree; for None,
    the example is left out.
    """
    document = tomlkit.document()
    for line in (
        f"Agents of {suggested_name(repository)}.",
        "`cockpit config check` validates this file;",
        "`cockpit config show` prints every setting.",
    ):
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    document["defaults"] = _first_defaults()
    agents = tomlkit.aot()
    agents.append(_first_agent(suggested_name(repository), branch))
    document["agents"] = agents
    return tomlkit.dumps(document)


def _first_defaults() -> Table:
    defaults = tomlkit.table()
    defaults.add("runtime", _noted("claude", "or command: any program"))
    defaults.add(
        "mode",
        _noted("prompt", "observe: only show · prompt: ask before a handoff · auto: hand off"),
    )
    defaults.add(tomlkit.nl())
    context = tomlkit.table()
    context.add(tomlkit.comment('"70%", "130k" and "30% left" all work'))
    context.add("warn", _noted("60%", "show a warning on the row"))
    context.add("act", _noted("70%", "hand off"))
    context.add(tomlkit.nl())
    defaults.add("context", context)
    return defaults


def _first_agent(name: str, branch: str | None) -> Table:
    agent = tomlkit.table()
    agent.add("name", _noted(name, f"cockpit start {name}"))
    agent.add("prompt", _noted("", "the task; or use prompt_file, or send a prompt later"))
    agent.add("directory", _noted(".", "relative to this file"))
    agent.add(tomlkit.comment('start = "auto"     # start together with the supervisor'))
    if branch is not None:
        agent.add(tomlkit.nl())
        agent.add(tomlkit.comment("For a worktree and a branch of its own:"))
        agent.add(tomlkit.comment("[agents.worktree]"))
        agent.add(tomlkit.comment('strategy = "git_worktree"'))
        agent.add(tomlkit.comment(f"base = {spelled(branch)}"))
        agent.add(tomlkit.comment('work_item = "first"     # branch agent/{agent}/{work_item}'))
    return agent


def _noted(value: str, comment: str) -> Any:
    return tomlkit.item(value).comment(comment)


def write_first_file(path: Path, text: str) -> None:
    """Create a new file. Raises `Failed` if the file exists or cannot be written."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, 0o644)
    except FileExistsError:
        raise Failed(
            f"{shown_path(path)} already exists",
            "cockpit did not change the file.",
            "Edit the file by hand, then validate it: cockpit config check",
        ) from None
    except OSError as error:
        raise _unwritten(path, error.strerror or str(error)) from None
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)


def add_agent(path: Path, agent: AgentSettings) -> None:
    """Add an agent to a file, creating the file if needed. Comments and order are kept.

    Writes only the settings that are set on `agent`, and its directory. Raises `BadConfig` for a
    name that is taken or an invalid file, and `Failed` when the file cannot be written.
    """
    document = tomlkit.document()
    if path.exists():
        read_config_file(path, follow_links=True)
        document = tomlkit.parse(path.read_text(encoding="utf-8"))
    agents = document.get("agents")
    if agents is None:
        agents = tomlkit.aot()
        if document:
            document.add(tomlkit.nl())
        document["agents"] = agents
    if not isinstance(agents, AoT):
        raise BadConfig(
            f"{shown_path(path)}: agents are not written as [[agents]] tables",
            hint="Write each agent as its own [[agents]] table; then try again.",
        )
    if any(table.get("name") == agent.name for table in agents):
        raise BadConfig(
            f'{shown_path(path)}: agent "{agent.name}" already exists',
            hint="Choose another name, or change the existing agent's table.",
        )
    agents.append(_as_table(agent, path.parent))
    replace_file(path, tomlkit.dumps(document))


def _as_table(agent: AgentSettings, folder: Path) -> Table:
    settings = agent.model_dump(mode="json", exclude_unset=True)
    if agent.prompt_file is not None:
        settings.pop("prompt", None)
    settings["directory"] = _beside(agent.directory, folder)
    if agent.prompt_file is not None:
        settings["prompt_file"] = _beside(agent.prompt_file, folder)
    table = tomlkit.table()
    for key in ("name", *(key for key in settings if key != "name")):
        table.add(key, _over_lines(settings[key]))
    return table


def _over_lines(value: Any) -> Any:
    """Return a multi-line text as a multi-line TOML string, if that preserves the text exactly.

    Returns any other value unchanged.
    """
    if not isinstance(value, str) or "\n" not in value:
        return value
    written = tomlkit.string(value, multiline=True)
    same = tomllib.loads(f"text = {written.as_string()}") == {"text": value}
    return written if same else value


def _beside(path: Path, folder: Path) -> str:
    """Return a path as it is written in a configuration file in `folder`: relative if it is below
    `folder`."""
    absolute = folder.absolute()
    return str(path.relative_to(absolute)) if path.is_relative_to(absolute) else str(path)


def check_writable(path: Path) -> None:
    """Raise `Failed` if a file cannot be written. Writes nothing.

    A read-only file counts as not writable, even for root.
    """
    target = path.resolve()
    if target.exists() and not target.stat().st_mode & stat.S_IWUSR:
        raise Failed(
            f"{shown_path(path)} is read-only",
            "cockpit did not change the file.",
            f"To allow changes: chmod u+w {shown_path(target)}",
        )
    there = next(folder for folder in target.parents if folder.exists())
    if not os.access(there, os.W_OK | os.X_OK) or (
        target.exists() and not os.access(target, os.W_OK)
    ):
        raise _unwritten(path, "Permission denied")


def _unwritten(path: Path, why: str) -> Failed:
    return Failed(
        f"Cannot write {shown_path(path)}",
        f"{why}.",
        f"Check permissions and disk space: ls -ld {shown_path(path.resolve().parent)}",
    )


def replace_file(path: Path, text: str) -> None:
    """Write a file atomically, keeping its mode. Creates its folder if needed.

    Raises `Failed` if the file cannot be written, and `BadConfig` for a text that is too large.
    """
    if len(text.encode()) > LARGEST_FILE:
        raise BadConfig(
            f"{shown_path(path)} would be too large",
            f"The limit is {LARGEST_FILE // 1024} KiB; nothing was written.",
            "Move long prompts to files and use prompt_file.",
        )
    check_writable(path)
    target = path.resolve()
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".cockpit-", suffix=".toml")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                os.fchmod(stream.fileno(), mode)
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(target)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritten(path, error.strerror or str(error)) from None
