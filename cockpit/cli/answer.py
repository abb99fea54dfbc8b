"""`cockpit answer`: show the dialog that is open in an agent's pane, or answer it."""

from __future__ import annotations

import sys
import termios
from typing import TYPE_CHECKING

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import with_common_options
from cockpit.core.errors import BadUsage, NotNow

if TYPE_CHECKING:
    from cockpit.wire.dialogs import DialogStatus


@click.command(
    short_help="Show or answer an agent's permission dialog or question.",
    epilog="""\b
Examples:
  cockpit answer api                        show the dialog with its choices
  cockpit answer api --choice 1
  cockpit answer api --choice 3 --text "use make test"
  cockpit answer api --choice 1,3           check several checkboxes
  cockpit answer api --choice 1 --dialog ID   only if the open dialog has this ID; for scripts""",
)
@with_common_options
@click.argument("name", shell_complete=agent_names)
@click.option(
    "--choice",
    metavar="N",
    help="Number of the choice. For checkboxes: the numbers, such as 1,3, or the word none.",
)
@click.option("--text", default="", help="Text for a choice that takes text.")
@click.option(
    "--dialog",
    metavar="ID",
    help="Answer only if the open dialog has this ID.",
)
@click.option("--json", "as_json", is_flag=True, help="Without --choice: print the dialog as JSON.")
def answer(name: str, choice: str | None, text: str, dialog: str | None, as_json: bool) -> int:
    """Show the permission dialog or question in an agent's pane, or answer it.

    Without --choice, only shows the dialog, with its ID. With --choice, shows the dialog and asks
    you to confirm; this needs a terminal. With --choice and --dialog, answers without asking.
    Works for Claude Code; for other CLIs: cockpit attach.
    """
    from cockpit.cli.requests import ask, with_client
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Answer

    agent = agent_name(name)
    if choice is None:
        if text or dialog:
            raise BadUsage(
                "--text and --dialog need --choice",
                hint=f"List the choices: cockpit answer {agent}",
            )
        shown = with_client(lambda client: client.dialog(agent))
        if as_json:
            click.echo(shown.model_dump_json(indent=2))
            return 0
        _refuse_unknown(shown, agent)
        click.echo(described(shown, agent))
        return 0
    if as_json:
        raise BadUsage(
            "--json only shows the dialog",
            "--choice answers the dialog.",
            "Leave out --json or --choice.",
        )
    numbers = _numbers(choice)
    identity = dialog or _confirmed(agent, numbers, with_client(lambda c: c.dialog(agent)))
    if identity is None:
        click.echo("Not answered.", err=True)
        return 0
    ask(Answer(name=agent, dialog=identity, choices=numbers, text=text))
    return 0


def _confirmed(agent: str, numbers: list[int], shown: DialogStatus) -> str | None:
    """Show the dialog and ask whether to answer it; return its ID, or None if the user declines.

    Raises `NotNow` for a dialog that cannot be answered, and `BadUsage` without a terminal, because
    nobody could read the dialog.
    """
    _refuse_unknown(shown, agent)
    if not sys.stdin.isatty():
        raise BadUsage(
            "Without a terminal, --choice needs --dialog",
            "--dialog makes sure that the answer goes to the dialog that you read.",
            f"See the dialog and its ID: cockpit answer {agent}",
        )
    click.echo(described(shown, agent), err=True)
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # drop keys typed before the dialog was shown
    chosen = ", ".join(map(str, numbers)) or "no checkboxes"
    return shown.identity if click.confirm(f"Answer with {chosen}?", err=True) else None


def _refuse_unknown(shown: DialogStatus, agent: str) -> None:
    """Raise `NotNow` for a dialog that can only be answered in the agent's pane."""
    if shown.identity is None:
        raise NotNow(
            f"This command cannot answer the dialog of {agent}",
            f"{shown.refusal or 'cockpit does not recognise this dialog'}.",
            f"Answer the dialog in the agent's pane: cockpit attach {agent}",
        )


def described(shown: DialogStatus, agent: str) -> str:
    """Format a known dialog with its choices, for a terminal."""
    head = " ".join(filter(None, (shown.title, shown.subject)))
    lines = [head, *(f"  {line}" for line in shown.text.split("\n")), ""]
    lines += filter(None, (shown.notice, shown.question))
    for number, choice in enumerate(shown.choices, 1):
        box = "" if choice.checked is None else "[x] " if choice.checked else "[ ] "
        takes = {"may": "  (takes text)", "must": "  (needs text)"}.get(choice.text, "")
        lines.append(f"  {number}. {box}{choice.label}{takes}")
        lines += [f"     {choice.note}"] if choice.note else []
    lines += ["", f"Answer: cockpit answer {agent} --choice N --dialog {shown.identity}"]
    return "\n".join(lines)


def _numbers(written: str) -> list[int]:
    """Return the numbers in `1` or `1,3`; empty for `none`, which unchecks every box.

    Raises `BadUsage` for any other text.
    """
    if written.strip() == "none":
        return []
    try:
        return [int(part) for part in written.split(",")]
    except ValueError:
        raise BadUsage(
            "--choice takes the number of a choice",
            hint="Try: --choice 1. For several checkboxes: --choice 1,3",
        ) from None
