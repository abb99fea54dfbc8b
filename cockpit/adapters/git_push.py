"""Pushing one branch, and opening a pull request for it with the `gh` program.

Never by force, never a hook, and never a program that the repository's own configuration names:
where it names one, nothing is pushed and the pilot gets the command. What the pilot's own
configuration names (a credential helper, an ssh command) is used. Nobody is asked for a password.
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

from cockpit.adapters.git_command import QUIET, GitAnswer, GitCommand
from cockpit.adapters.git_worktrees import read_note
from cockpit.core.errors import Failed, ProgramMissing
from cockpit.core.safetext import safe_line

DEADLINE = 180.0
NAMES_A_PROGRAM = (
    r"^(core\.(sshcommand|gitproxy|askpass)|credential\..*helper|remote\..*\.(receivepack"
    r"|uploadpack|vcs)|push\.gpgsign|gpg\..*program)$"
)
CARRIED = ("https", "http", "ssh", "file")
WITHOUT = ("core.sshCommand", "protocol.allow")
"""What forbids to reach anybody."""
BY_HAND = "By hand: "
ADDRESS = re.compile(r"https?://\S+")


class GitPush:
    """What leaves this machine of a repository."""

    def __init__(self, command: GitCommand) -> None:
        self.command = command

    async def push(self, directory: Path, branch: str) -> str:
        """The remote is the branch's own, `remote.pushDefault`, `origin`, or the only one."""
        remote = await self._remote(directory, branch)
        name = f"refs/heads/{branch}"
        plain = ["git", "-C", str(directory), "push", remote, branch]
        await self._refuse_programs(directory, plain)
        answer = await self.command.run(
            directory,
            "push",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--recurse-submodules=no",
            "--",
            remote,
            f"{name}:{name}",
            deadline=DEADLINE,
            settings=await self._settings(directory),
        )
        if not answer.ok:
            raise Failed(
                f"{safe_line(branch)} was not pushed to {remote}", _why(answer), by_hand(plain)
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
        title = f"It is not known where {safe_line(branch)} is to be pushed"
        shown = ", ".join(safe_line(name) for name in remotes) or "none"
        hint = by_hand(["git", "-C", str(directory), "push", "REMOTE", branch])
        raise Failed(title, f"Remotes: {shown}.", hint)

    async def _refuse_programs(self, directory: Path, plain: Sequence[str]) -> None:
        answer = await self.command.run(
            directory,
            "config",
            "--show-scope",
            "-z",
            "--name-only",
            "--get-regexp",
            NAMES_A_PROGRAM,
        )
        fields = os.fsdecode(answer.output).split("\0")
        named = [
            key
            for scope, key in zip(fields[::2], fields[1::2], strict=False)
            if scope in ("local", "worktree")
        ]
        if named:
            raise Failed(
                "Nothing was pushed",
                f"The repository's own configuration names a program: {safe_line(named[0])}."
                " cockpit does not run it.",
                by_hand(plain),
            )

    async def _settings(self, directory: Path) -> dict[str, str]:
        own = await self.command.run(directory, "config", "--get", "core.sshCommand")
        carried = {f"protocol.{name}.allow": "always" for name in CARRIED}
        quiet = {name: value for name, value in QUIET.items() if name not in WITHOUT}
        ssh = own.line if own.ok and own.line else "ssh -o BatchMode=yes"
        return {**quiet, **carried, "protocol.allow": "never", "core.sshCommand": ssh}

    async def open_pull_request(self, directory: Path, branch: str, base: str) -> str:
        """Title and text are the subjects of its commits; a prompt is nobody else's business."""
        words = await self._request(directory, branch, base)
        if not words:
            raise Failed(
                "No pull request was opened",
                f"{safe_line(branch)} has no commits of its own: there is nothing to propose.",
            )
        program = shutil.which("gh", path=self.command.environment.get("PATH", os.defpath))
        shown = by_hand(["gh", *words], directory)
        if program is None:
            raise ProgramMissing("No pull request was opened: gh is not installed", "", shown)
        status, printed, said = await asyncio.to_thread(
            _call, [program, *words], directory, self._environment()
        )
        found = ADDRESS.search(printed)
        if status == 0:
            return safe_line(found[0] if found else printed, 300)
        raise Failed("No pull request was opened", safe_line(said or printed, 300), shown)

    async def pull_request_by_hand(self, directory: Path, branch: str, base: str) -> str:
        """The command for a shell; empty where there is nothing to propose."""
        words = await self._request(directory, branch, base)
        return by_hand(["gh", *words], directory).removeprefix(BY_HAND) if words else ""

    async def _request(self, directory: Path, branch: str, base: str) -> list[str]:
        """What `gh` is to be told; nothing for a branch without commits of its own."""
        subjects = await self._subjects(directory, branch, base)
        if not subjects:
            return []
        words = ["pr", "create", "--head", branch, "--title", subjects[0]]
        words += ["--body", "\n".join(f"- {subject}" for subject in subjects)]
        return words + (["--base", base] if base else [])

    async def _subjects(self, directory: Path, branch: str, base: str) -> list[str]:
        """Oldest first, of the commits that are not in the base."""
        own = f"refs/heads/{branch}"
        apart = await self._beginning(directory, own, base)
        which = [own, *(["--not", apart] if apart else [])]
        listed = await self.command.run(
            directory, "log", "-z", "--reverse", "--format=%s", "--max-count=50", *which, "--"
        )
        if not listed.ok:
            raise Failed("It is not known what there is to propose", listed.error)
        found = listed.output.decode("utf-8", "replace").split("\0")[: listed.output.count(b"\0")]
        return [safe_line(subject, 200).strip() or branch for subject in found]

    async def _beginning(self, directory: Path, own: str, base: str) -> str:
        """What the branch is compared with: its base, or else where its worktree began."""
        folder = await self.command.run(directory, "rev-parse", "--absolute-git-dir")
        made = await asyncio.to_thread(read_note, Path(folder.line)) if folder.ok else None
        noted = (made.base, made.commit) if made is not None else ()
        asked = (f"refs/heads/{base}", base) if base else ()
        for name in (*asked, *noted):
            words = ("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}")
            answer = await self.command.run(directory, *words)
            if name and name != own and answer.ok:
                return answer.line
        return ""

    def _environment(self) -> dict[str, str]:
        """What `gh` gets: its git is as careful as ours where it looks at the worktree."""
        kept = {
            name: value
            for name, value in self.command.environment.items()
            if not name.startswith("GIT_")
        }
        quiet = {name: value for name, value in QUIET.items() if name not in WITHOUT}
        numbered = {"GIT_CONFIG_COUNT": str(len(quiet))}
        for place, (name, value) in enumerate(quiet.items()):
            numbered |= {f"GIT_CONFIG_KEY_{place}": name, f"GIT_CONFIG_VALUE_{place}": value}
        asks_nobody = {"GH_PROMPT_DISABLED": "1", "GIT_TERMINAL_PROMPT": "0", "NO_COLOR": "1"}
        return {**kept, **numbered, **asks_nobody}


def by_hand(words: Sequence[str], directory: Path | None = None) -> str:
    """The command as the pilot may paste it into a shell."""
    place = f"cd {shlex.quote(str(directory))} && " if directory else ""
    return safe_line(f"{BY_HAND}{place}{shlex.join(words)}", 1000)


def _why(answer: GitAnswer) -> str:
    """The last that git said, and what it said of the reference."""
    lines = os.fsdecode(answer.output).split("\n")
    refused = [line for line in lines if line.startswith("!")]
    return safe_line(" ".join([*refused, answer.error]), 400)


def _call(
    argv: Sequence[str], directory: Path, environment: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run `gh` to its end, within the deadline."""
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
        return -1, "", f"gh could not be run: {error.strerror}"
    with process:
        try:
            printed, said = process.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return -1, "", f"gh took longer than {DEADLINE:g} s"
    return process.returncode, printed.decode("utf-8", "replace"), said.decode("utf-8", "replace")
