"""Push a branch, and open a pull request with the `gh` program.

Pushes without force, without hooks, and without programs of the repository's own configuration. If
that configuration contains such a program, nothing is pushed and the user gets the command.
Programs of the user's own configuration (a credential helper, an ssh command) are used. Never asks
for a password.

A remote that is a folder on this machine must have no hooks, because git would run them here, as
the user.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from cockpit.adapters.git.command import NO_REPLACEMENTS, QUIET, GitAnswer, GitCommand
from cockpit.adapters.git.creation import read_note
from cockpit.core.errors import Failed, ProgramMissing
from cockpit.core.git_settings import (
    Setting,
    configured_hooks,
    deciding_push,
    hooks_path,
    own_value,
)
from cockpit.core.safetext import safe_line

DEADLINE = 180.0
CARRIED = ("https", "http", "ssh")
FOLDER = ("file",)
TRANSPORT_SETTINGS = ("core.sshCommand", "protocol.allow")
"""The settings of `QUIET` that disable every transport."""
BY_HAND = "To do it manually: "
REMOTE_ADDRESS = re.compile(
    r"(?:https?|ssh|git\+ssh|ssh\+git)://|(?!\w+::)[^/:]+:(?!//)", re.IGNORECASE
)
"""The beginning of another machine's URL, including the form `user@host:path`."""
HOOKS = (
    "pre-receive", "update", "post-receive", "post-update", "reference-transaction",
    "proc-receive", "push-to-checkout",
)  # fmt: skip
"""Hooks that git would run in the receiving repository."""
RECEIVING = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.alternateRefsCommand": "true",
    "receive.autogc": "false",
    "receive.denyCurrentBranch": "refuse",
}
"""Settings for git in a receiving repository on this machine: no programs, no worktree changes."""
ADDRESS = re.compile(r"https?://\S+")


class GitPush:
    """Pushes branches and opens pull requests."""

    def __init__(self, command: GitCommand) -> None:
        self.command = command

    async def push(self, directory: Path, branch: str) -> str:
        """Push a branch to its own remote, or else to `remote.pushDefault`, `origin` or the only
        remote; return the remote. Raises `Failed`."""
        remote = await self._remote(directory, branch)
        name = f"refs/heads/{branch}"
        plain = ["git", "-C", str(directory), "push", remote, branch]
        settings = await self._allowed(directory, plain)
        local = await self._is_folder(directory, remote, plain)
        carried = FOLDER if local else CARRIED
        quiet = [word for pair in RECEIVING.items() for word in ("-c", "=".join(pair))]
        receiver = shlex.join([self.command.program, *quiet, "receive-pack"])
        answer = await self.command.run(
            directory,
            "push",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--no-signed",
            "--recurse-submodules=no",
            *([f"--receive-pack={receiver}"] if local else []),
            "--",
            remote,
            f"{name}:{name}",
            deadline=DEADLINE,
            settings=_ssh_settings(settings, carried),
            variables={"GIT_ALLOW_PROTOCOL": ":".join(carried)},
        )
        if not answer.ok:
            raise Failed(
                f"{safe_line(branch)} was not pushed to {remote}", _reason(answer), by_hand(plain)
            )
        return remote

    async def _remote(self, directory: Path, branch: str) -> str:
        listed = os.fsdecode((await self.command.run(directory, "remote")).output).split("\n")
        remotes = [name for name in listed if name and not name.startswith("-")]
        for setting in (f"branch.{branch}.remote", "remote.pushDefault"):
            answer = await self.command.run(directory, "config", "--get", "--", setting)
            if answer.ok and answer.line in remotes:
                return answer.line
        if "origin" in remotes or len(remotes) == 1:
            return "origin" if "origin" in remotes else remotes[0]
        title = f"No remote to push {safe_line(branch)} to"
        shown = ", ".join(safe_line(name) for name in remotes) or "none"
        hint = by_hand(["git", "-C", str(directory), "push", "REMOTE", branch])
        raise Failed(title, f"Remotes: {shown}.", hint)

    async def _allowed(self, directory: Path, plain: Sequence[str]) -> tuple[Setting, ...]:
        """Return the git settings that apply to the directory. Raises `Failed` if the repository's
        own settings could run programs or redirect the push."""
        snapshot = await self.command.snapshot(directory)
        if snapshot is None:
            raise Failed(
                "Nothing was pushed",
                f"{directory} is not in a git repository.",
                hint="Start the agent in a repository, or set push_on_success = false.",
            )
        if named := deciding_push(snapshot.settings):
            key = safe_line(os.fsdecode(named[0]), 200)
            raise Failed(
                "Nothing was pushed",
                f"The repository's own configuration sets {key}, which can run programs or redirect"
                f" the push. To allow {key}, set it in your own configuration (git config --global"
                f" {key} …).",
                by_hand(plain),
            )
        return snapshot.settings

    async def _is_folder(self, directory: Path, remote: str, plain: Sequence[str]) -> bool:
        """Return whether the remote is a folder on this machine. Raises `Failed` if the folder has
        hooks, or if the remote also has URLs on other machines."""
        listed = await self.command.run(directory, "remote", "get-url", "--push", "--all", remote)
        addresses = [line for line in os.fsdecode(listed.output).split("\n") if line]
        folders = [address for address in addresses if not REMOTE_ADDRESS.match(address)]
        if not folders:
            return False
        if len(folders) != len(addresses):
            raise Failed(
                "Nothing was pushed",
                f"{safe_line(remote)} has URLs on this machine and on other machines; cockpit "
                "pushes only to one kind.",
                by_hand(plain),
            )
        for folder in folders:
            hooks = [await self._hook(directory / path) for path in self._paths(folder)]
            if hook := next(filter(None, hooks), ""):
                raise Failed(
                    "Nothing was pushed",
                    f"{safe_line(remote)} is a folder on this machine, and a push could run a hook"
                    f" here: {safe_line(hook)}",
                    by_hand(plain),
                )
        return True

    def _paths(self, address: str) -> list[str]:
        """Return the paths to which git may resolve the address of a folder: git decodes `file://`
        URLs and expands `~/`."""
        plain = address.removeprefix("file://")
        return [self._expand_home(path) for path in dict.fromkeys((plain, unquote(plain)))]

    async def _hook(self, remote: Path) -> str:
        """Return the description of a hook that a push to this folder could run; "" for none."""
        for place in (remote, remote.with_name(f"{remote.name}.git")):
            if await asyncio.to_thread(place.is_file):
                return f"{place} is a file, which may refer to any folder"
            if not await asyncio.to_thread(place.is_dir):
                continue
            folders = [place / "hooks", place / ".git" / "hooks"]
            snapshot = await self.command.snapshot(place)
            if snapshot is not None:
                if named := configured_hooks(snapshot.settings):
                    return f"hook.{os.fsdecode(named[0])} in its configuration"
                if path := hooks_path(snapshot.settings):
                    text = self._expand_home(os.fsdecode(path))
                    folders += [place / text, place / ".git" / text]
                folders.append(snapshot.places.common / "hooks")
            if hook := await asyncio.to_thread(_executable_hook, folders):
                return str(hook)
        return ""

    def _expand_home(self, text: str) -> str:
        """Expand `~/` as git does, to the home folder of git's user."""
        home = self.command.environment.get("HOME", "")
        return f"{home}{text[1:]}" if text.startswith("~/") and home else text

    async def open_pull_request(self, directory: Path, branch: str, base: str) -> str:
        """Open a pull request; return its URL. Raises `ProgramMissing` or `Failed`.

        Title and text are commit subjects, because prompts are private.
        """
        arguments = await self._request(directory, branch, base)
        if not arguments:
            raise Failed(
                "No pull request was opened",
                f"{safe_line(branch)} has no commits of its own.",
                hint="Commit on the branch first, or set create_pr = false.",
            )
        program = shutil.which("gh", path=self.command.environment.get("PATH", os.defpath))
        shown = by_hand(["gh", *arguments], directory)
        if program is None:
            raise ProgramMissing("No pull request was opened: gh is not installed", "", shown)
        status, printed, errors = await asyncio.to_thread(
            self._gh, [program, *arguments], directory
        )
        match = ADDRESS.search(printed)
        if status == 0:
            return safe_line(match[0] if match else printed, 300)
        raise Failed("No pull request was opened", safe_line(errors or printed, 300), shown)

    async def pull_request_by_hand(self, directory: Path, branch: str, base: str) -> str:
        """Return the shell command that opens a pull request; "" without new commits."""
        arguments = await self._request(directory, branch, base)
        return by_hand(["gh", *arguments], directory).removeprefix(BY_HAND) if arguments else ""

    async def _request(self, directory: Path, branch: str, base: str) -> list[str]:
        """Return the arguments for `gh`; empty for a branch without commits of its own."""
        subjects = await self._subjects(directory, branch, base)
        if not subjects:
            return []
        arguments = ["pr", "create", "--head", branch, "--title", subjects[0]]
        arguments += ["--body", "\n".join(f"- {subject}" for subject in subjects)]
        return arguments + (["--base", base] if base else [])

    async def _subjects(self, directory: Path, branch: str, base: str) -> list[str]:
        """Return the subjects of the newest 50 commits that are not in the base, oldest first."""
        own = f"refs/heads/{branch}"
        apart = await self._compare_base(directory, own, base)
        which = [own, *(["--not", apart] if apart else [])]
        listed = await self.command.run(
            directory, "log", "-z", "--reverse", "--format=%s", "--max-count=50", *which, "--"
        )
        if not listed.ok:
            raise Failed(
                "Cannot list the commits for the pull request",
                listed.error,
                hint="Check the branch, and base under [agents.worktree].",
            )
        subjects = listed.output.decode("utf-8", "replace").split("\0")[
            : listed.output.count(b"\0")
        ]
        return [safe_line(subject, 200).strip() or branch for subject in subjects]

    async def _compare_base(self, directory: Path, own: str, base: str) -> str:
        """Return the commit with which the branch `own` is compared; empty if it is unknown.

        The first of these that exists is used: `base`, then the base and the start commit in
        cockpit's note about the worktree.
        """
        folder = await self.command.run(directory, "rev-parse", "--absolute-git-dir")
        made = await asyncio.to_thread(read_note, Path(folder.line)) if folder.ok else None
        noted = (made.base, made.commit) if made is not None else ()
        asked = (f"refs/heads/{base}", base) if base else ()
        for name in (*asked, *noted):
            arguments = ("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}")
            answer = await self.command.run(directory, *arguments)
            if name and name != own and answer.ok:
                return answer.line
        return ""

    def _gh(self, argv: Sequence[str], directory: Path) -> tuple[int, str, str]:
        # `gh` runs `git status`, which enters submodules with their own settings.
        with self.command.sealed(directory, bare=True) as seal:
            return _call(argv, directory, {**self._environment(), **seal})

    def _environment(self) -> dict[str, str]:
        """Return the environment for `gh`, whose git has the same restrictions as cockpit's git."""
        kept = {
            name: value
            for name, value in self.command.environment.items()
            if not name.startswith("GIT_")
        }
        quiet = {name: value for name, value in QUIET.items() if name not in TRANSPORT_SETTINGS}
        quiet |= {f"protocol.{name}.allow": "always" for name in CARRIED}
        quiet |= {"protocol.allow": "never"}
        numbered = {"GIT_CONFIG_COUNT": str(len(quiet))}
        for place, (name, value) in enumerate(quiet.items()):
            numbered |= {f"GIT_CONFIG_KEY_{place}": name, f"GIT_CONFIG_VALUE_{place}": value}
        asks_nobody = {"GH_PROMPT_DISABLED": "1", "GIT_TERMINAL_PROMPT": "0", "NO_COLOR": "1"}
        return {**kept, **NO_REPLACEMENTS, **numbered, **asks_nobody}


def by_hand(arguments: Sequence[str], directory: Path | None = None) -> str:
    """Return the hint to run this command manually, quoted for a shell."""
    place = f"cd {shlex.quote(str(directory))} && " if directory else ""
    return safe_line(f"{BY_HAND}{place}{shlex.join(arguments)}", 1000)


def _ssh_settings(settings: Sequence[Setting], carried: Sequence[str]) -> dict[str, str]:
    """Return settings with which git uses the user's own ssh command, or else ssh in batch mode."""
    allowed = {f"protocol.{name}.allow": "always" for name in carried}
    quiet = {name: value for name, value in QUIET.items() if name not in TRANSPORT_SETTINGS}
    own = own_value(settings, b"core.sshcommand")
    ssh = os.fsdecode(own) if own else "ssh -o BatchMode=yes"
    return {**quiet, **allowed, "protocol.allow": "never", "core.sshCommand": ssh}


def _executable_hook(folders: Sequence[Path]) -> Path | None:
    """Return the first hook in these folders that git would run."""
    for folder in folders:
        for name in HOOKS:
            if os.access(folder / name, os.X_OK):
                return folder / name
    return None


def _reason(answer: GitAnswer) -> str:
    """Return git's lines about rejected references, and git's error, as one line."""
    lines = os.fsdecode(answer.output).split("\n")
    refused = [line for line in lines if line.startswith("!")]
    return safe_line(" ".join([*refused, answer.error]), 400)


def _call(
    argv: Sequence[str], directory: Path, environment: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run `gh` with a deadline; return exit code, stdout and stderr."""
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=directory,
            env=dict(environment),
            start_new_session=True,
        )
    except OSError as error:
        return -1, "", f"cannot run gh: {error.strerror}"
    with process:
        try:
            printed, errors = process.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return -1, "", f"gh took longer than {DEADLINE:g} s"
    return process.returncode, printed.decode("utf-8", "replace"), errors.decode("utf-8", "replace")
