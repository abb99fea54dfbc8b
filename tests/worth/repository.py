"""A small real git repository, in which a session of the corpus works."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

_IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "Corpus",
    "GIT_AUTHOR_EMAIL": "corpus@example.org",
    "GIT_COMMITTER_NAME": "Corpus",
    "GIT_COMMITTER_EMAIL": "corpus@example.org",
}


class Repository:
    """Runs git in a new folder. The same calls make the same hashes."""

    def __init__(self, folder: Path, files: Sequence[str], branch: str) -> None:
        self.folder = folder
        self._minutes = 0
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        for file in files:
            self.append(file, "first line")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Begin")
        remote = folder.parent / f"{folder.name}.git"
        self.git("clone", "-q", "--bare", ".", str(remote))
        self.git("remote", "add", "origin", str(remote))
        self.git("checkout", "-q", "-b", branch)
        self.git("push", "-q", "-u", "origin", branch)

    def append(self, file: str, line: str) -> None:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as opened:
            opened.write(line + "\n")

    def commit(self, subject: str, *more: str) -> str:
        """Commit everything; return what git prints about it."""
        self.git("add", "-A")
        return self.git("commit", "-m", subject, *more)

    def head(self) -> str:
        return self.git("rev-parse", "--short=7", "HEAD").strip()

    def git(self, *words: str) -> str:
        self._minutes += 1
        date = f"2026-11-03T{8 + self._minutes // 60:02d}:{self._minutes % 60:02d}:00Z"
        environment = {
            **os.environ,
            **_IDENTITY,
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
        }
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout
