"""`cockpit setup`: install cockpit's hooks in an agent's CLI, after asking."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from cockpit.cli.options import common_options, with_common_options
from cockpit.core.errors import NotNow
from cockpit.core.safetext import safe_line

WAYS = {
    "claude": "A hook shows a pending handoff in sessions that you start yourself with `claude`.",
    "gemini": "Gemini CLI reads hooks only from its settings and from extensions.",
}


@click.command(
    short_help="Install cockpit's hooks in an agent's CLI.",
    epilog="""\b
Examples:
  cockpit setup gemini             list the files to write, ask, and link the extension
  cockpit setup gemini --yes       do not ask
  cockpit setup gemini --remove    remove the extension again
  cockpit setup claude             show pending handoffs in your own sessions""",
)
@with_common_options
@click.argument("runtime", type=click.Choice(sorted(WAYS)))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--remove", is_flag=True, help="Undo the setup.")
def setup(runtime: str, yes: bool, remove: bool) -> int:
    """Install cockpit's hooks in an agent's CLI, once per machine.

    gemini: links cockpit's extension with `gemini extensions link`. In sessions that you start
    yourself, the extension records the session, so that cockpit can list the session. The
    extension shows a pending handoff too. Agents work without the extension, with the limits that
    `cockpit doctor` lists.

    claude: for sessions that you start yourself; agents need no setup. A hook in your Claude Code
    settings shows a pending handoff when you start `claude`, and how to continue the job.
    """
    from cockpit.cli.agent_guard import refuse_inside_agent
    from cockpit.cli.doctor_setup import agents_environment
    from cockpit.cli.places import our_places
    from cockpit.cli.requests import remote_host

    refuse_inside_agent("change the setup of a CLI", nested=False)
    if host := remote_host():
        from cockpit.cli.hosts import exec_remote

        flags = [*(["--yes"] if yes else []), *(["--remove"] if remove else [])]
        exec_remote(host.command("setup", runtime, *flags))
    if runtime == "claude":
        return _remove_hook(yes=yes) if remove else _add_hook(yes=yes)
    environment = agents_environment(os.environ, common_options().config)
    folder = our_places().state / "gemini-extension"
    return _remove(environment, folder, yes=yes) if remove else _link(environment, folder, yes=yes)


def _add_hook(*, yes: bool) -> int:
    from cockpit.adapters.agents.claude import offer_hook
    from cockpit.cli.output import say

    state, file = offer_hook.state_of(os.environ), offer_hook.settings_file(os.environ)
    if state is offer_hook.Setup.YES:
        say("The hook is already set up.")
        return 0
    if state is offer_hook.Setup.OFF:
        raise NotNow(
            "The hook is set up, but all hooks are switched off",
            f"{safe_line(str(file), 4096)} has disableAllHooks.",
            "To switch the hooks on, remove disableAllHooks from the file.",
        )
    offer_hook.check(os.environ)
    say(f"{WAYS['claude']} The setup writes")
    say(f"  {file}")
    say("and adds only this SessionStart hook to the file:")
    say(f"  {json.dumps(offer_hook.entry())}")
    _ask("Add the hook?", yes=yes)
    offer_hook.install(os.environ)
    say("Added. New sessions use the hook. To undo: cockpit setup claude --remove")
    return 0


def _remove_hook(*, yes: bool) -> int:
    from cockpit.adapters.agents.claude import offer_hook
    from cockpit.cli.output import say

    if offer_hook.state_of(os.environ) is offer_hook.Setup.NO:
        say("The hook is not set up.")
        return 0
    say("This removes cockpit's SessionStart hook from")
    say(f"  {offer_hook.settings_file(os.environ)}")
    _ask("Remove the hook?", yes=yes)
    offer_hook.remove(os.environ)
    say("Removed.")
    return 0


def _link(environment: dict[str, str], folder: Path, *, yes: bool) -> int:
    from cockpit.adapters.agents.gemini import extension
    from cockpit.adapters.agents.gemini.program import find_program
    from cockpit.adapters.agents.gemini.settings import settings_file
    from cockpit.cli.output import say

    program = find_program(environment)
    state, hooks_off = extension.state_of(environment), extension.Linked.HOOKS_OFF
    if state is extension.Linked.YES:
        say("cockpit's extension is already linked and up to date.")
        return 0
    if state is hooks_off:
        raise NotNow(
            "cockpit's extension is linked, but all hooks are switched off in Gemini",
            f"hooksConfig.enabled is false in {safe_line(str(settings_file(environment)), 4096)}.",
            "Set hooksConfig.enabled to true in the file.",
        )
    say(f"{WAYS['gemini']} The setup writes cockpit's extension to")
    say(f"  {folder}")
    say(f"and runs `{program.path} extensions link`, which writes")
    for path in extension.written_by(environment):
        say(f"  {path}")
    say("and the folders that Gemini CLI creates for every directory in which it runs.")
    say("Your settings and trusted folders are not changed.")
    say("In sessions that you start yourself, the extension writes only their ids, to")
    say(f"  {folder / extension.NOTES}")
    say("and shows a handoff that is pending in their directory.")
    _ask("Link the extension?", yes=yes)
    extension.link(program, environment, folder)
    if extension.state_of(environment) is hooks_off:
        say("Linked, but Gemini runs no hooks: set hooksConfig.enabled to true in")
        say(f"  {settings_file(environment)}")
        say("To undo: cockpit setup gemini --remove")
    else:
        say("Linked. New agents use the extension. To undo: cockpit setup gemini --remove")
    return 0


def _remove(environment: dict[str, str], folder: Path, *, yes: bool) -> int:
    from cockpit.adapters.agents.gemini import extension
    from cockpit.adapters.agents.gemini.program import find_program
    from cockpit.cli.output import say

    if extension.state_of(environment) is extension.Linked.NO:
        extension.remove_files(folder)
        say("cockpit's extension is not linked.")
        return 0
    program = find_program(environment)
    say(f"This runs `{program.path} extensions uninstall cockpit`, and removes {folder}.")
    _ask("Remove the extension?", yes=yes)
    extension.unlink(program, environment, folder)
    extension.remove_files(folder)
    say("Removed. Running agents continue without hooks.")
    return 0


def _ask(question: str, *, yes: bool) -> None:
    """Raise `NotNow` unless the user agrees, on the terminal or with `--yes`."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise NotNow("Cannot ask without a terminal", "Nothing was changed.", "Add --yes.")
    if not click.confirm(question, default=False, err=True):
        raise NotNow("Cancelled", "Nothing was changed.", hint="To skip the question: --yes")
