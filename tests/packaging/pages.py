"""The pages of the documentation site: the Markdown files of the repository, and the commands."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import click

from cockpit.cli.commands import cockpit

CHECKOUT = Path(__file__).parent.parent.parent
COMMANDS = Path("cockpit", "docs", "commands.md")
"""The page that exists only on the site: every command's `--help`."""
_WIDTH = 80


def sources(checkout: Path = CHECKOUT) -> list[Path]:
    """Return the Markdown files that users and contributors read, relative to the repository."""
    files = [*checkout.glob("*.md"), *(checkout / "cockpit").glob("*.md")]
    files += (checkout / "cockpit" / "docs").glob("*.md")
    return sorted(file.relative_to(checkout) for file in files)


def write(folder: Path, checkout: Path = CHECKOUT) -> None:
    """Copy the pages to `folder` in the layout of the repository, and add the commands."""
    linked = [Path("LICENSE"), Path("cockpit.toml.example")]
    for file in [*sources(checkout), *linked]:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(checkout / file, folder / file)
    pictures = Path("cockpit", "docs", "pictures")
    shutil.copytree(checkout / pictures, folder / pictures)
    (folder / COMMANDS).write_text(commands_page(), encoding="utf-8")


def commands_page() -> str:
    """Format the help of every command, with one heading for each."""
    parts = ["# Commands\n\nWhat `--help` prints for each command.\n"]
    for name, text in helps(cockpit, "cockpit"):
        parts.append(f"## {name}\n\n```text\n{text.rstrip()}\n```\n")
    return "\n".join(parts)


def helps(
    command: click.Command, name: str, above: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """Yield name and help of a command, then of each command below it that is not hidden."""
    context = click.Context(
        command, info_name=name, parent=above, terminal_width=_WIDTH, **command.context_settings
    )
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None and not found.hidden:
                yield from helps(found, below, context)
