"""`cockpit history` and `show`: the sessions of each job in order, and their documents."""

from __future__ import annotations

import json
from typing import Any

import click

from cockpit.cli.options import agent_names, everywhere
from cockpit.core.safetext import safe_line, safe_text


@click.command(
    epilog="""\b
Examples:
  cockpit history
  cockpit history api --json"""
)
@everywhere
@click.argument("name", required=False, shell_complete=agent_names)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def history(name: str | None, as_json: bool) -> int:
    """The sessions of each job, and their documents."""
    from cockpit.cli.asking import with_client
    from cockpit.core.ids import agent_name

    wanted = None if name is None else agent_name(name)
    chains = with_client(lambda client: client.history(wanted))
    if as_json:
        print(json.dumps(chains, indent=2, ensure_ascii=False))
        return 0
    for chain in chains:
        _print_chain(chain)
    return 0


@click.command(
    epilog="""\b
Example:
  cockpit show 5f0c0f0e-6b1b-4a57-9f43-1d1f1f7f8a10 | less"""
)
@everywhere
@click.argument("handoff", metavar="ID")
def show(handoff: str) -> int:
    """Print the document of a handoff.

    `status --json` and `history` name the ids.
    """
    from cockpit.cli.asking import with_client

    print(safe_text(with_client(lambda client: client.document(handoff))), end="")
    return 0


def _print_chain(chain: dict[str, Any]) -> None:
    print(f"{safe_line(str(chain['agent']))}  job {safe_line(str(chain['job']))}")
    for session in chain["sessions"]:
        cost = session.get("cost_usd")
        words = [
            f"  {session['number']}.",
            str(session["state"]),
            str(session["id"]),
            "" if cost is None else f"${cost:.2f}",
            str(session.get("document") or ""),
        ]
        print(safe_line(" ".join(word for word in words if word), 400))
