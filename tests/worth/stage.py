"""The ground of a session: a project, a language, a transcript and a repository that agree."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

from tests.worth.checks import STACKS
from tests.worth.items import Outdated, Planted
from tests.worth.records import Records
from tests.worth.repository import Repository

HERE = Path(__file__).parent
LANGUAGES = ("english", "german", "spanish")
PROJECTS: list[dict[str, Any]] = tomllib.loads((HERE / "projects.toml").read_text())["project"]
PHRASES: dict[str, dict[str, Any]] = tomllib.loads((HERE / "phrases.toml").read_text())
SESSIONS = len(PROJECTS) * len(LANGUAGES)


class Stage:
    """Says and does things in a session, and notes what is planted."""

    def __init__(self, folder: Path, number: int) -> None:
        self.number = number
        self.random = random.Random(number)
        self.language = LANGUAGES[(number - 1) % len(LANGUAGES)]
        self.project = PROJECTS[(number - 1) // len(LANGUAGES)]
        self.phrases = PHRASES[self.language]
        self.stack = STACKS[self.project["stack"]]
        project, choose = self.project, self.random
        self.branch = f"{project['name']}/{choose.choice(['work', 'next', 'try'])}-{number}"
        before = choose.randint(11, 49)
        answer, later = choose.sample(["opt_a", "opt_b", "opt_c"], 2)
        self.names: dict[str, Any] = {
            **project,
            "ticket": f"{project['name'][:3].upper()}-{choose.randint(200, 899)}",
            "code": choose.choice([204, 404, 409, 410, 422]),
            "before": before,
            "after": before + choose.randint(13, 40),
            "answer": project[answer],
            "later": project[later],
        }
        files = [*project["files"], project["often"], project["shellfile"], project["instruction"]]
        self.repository = Repository(folder / project["name"], files, self.branch)
        self.root = self.repository.folder
        self.records = Records(self.random, self.root, self.branch)
        self.planted: list[Planted] = []
        self.outdated: list[Outdated] = []
        self.notes: list[tuple[float, str]] = []
        self.transcript = folder / f"{self.records.session}.jsonl"
        self.number_of_pull = 30 + number * 7
        self.compacts = choose.random() < 0.5
        self.commits: list[str] = list(project["subjects"])
        choose.shuffle(self.commits)

    # What is said

    def say(self, phrase: str) -> str:
        variants = self.phrases[phrase]
        text = variants if isinstance(variants, str) else self.random.choice(variants)
        return str(text).format(**self.names)

    def plant(self, kind: int, name: str, *terms: str, kept: float = 0.0, note: str = "") -> None:
        """Plant an item; `kept` is how likely a compaction summary holds it, as `note`."""
        filled = tuple(term.format(**self.names) for term in terms)
        self.planted.append(Planted(kind, name, filled))
        if kept:
            self.notes.append((kept, note or " ".join(term.split("|")[0] for term in filled)))

    def outdate(self, kind: int, name: str, *terms: str, instead: str = "") -> None:
        filled = tuple(term.format(**self.names) for term in terms)
        self.outdated.append(Outdated(kind, name, filled, instead.format(**self.names)))

    # What is done

    def bash(self, command: str, description: str, output: str = "") -> str:
        if self.random.random() < 0.3:
            command = f"cd {self.root} && {command}"
        return self.records.call("Bash", {"command": command, "description": description}, output)

    def edit(self, file: str) -> None:
        line = f"line {self.records.calls}"
        self.repository.append(file, line)
        told = {"file_path": str(self.root / file), "old_string": "first line", "new_string": line}
        self.records.call("Edit", told, "The file has been updated.", filePath=told["file_path"])

    def read(self, file: str) -> None:
        told = {"file_path": str(self.root / file)}
        self.records.call("Read", told, "     1\tfirst line", type="text")

    def commit(self, subject: str) -> None:
        self.edit(self.random.choice(self.project["files"]))
        output = self.repository.commit(subject)
        self.bash(f"git add -A && git commit -m '{subject}'", "Commit", output)

    def wander(self, calls: int) -> None:
        """Look around, as an agent does between the things that matter."""
        files = self.project["files"]
        for _ in range(calls):
            step = self.random.random()
            file = self.random.choice(files)
            if step < 0.12:
                self.records.text(self.say("filler"))
            if step < 0.35:
                self.read(file)
            elif step < 0.55:
                told = {"pattern": f"def_{self.random.randint(1, 99)}", "path": str(self.root)}
                self.records.call("Grep", told, f"{file}:1:first line", mode="content", numFiles=1)
            elif step < 0.7:
                self.bash(f"sed -n 1,80p {file}", f"Show {file}", "first line")
            elif step < 0.85:
                self.bash("git status --short", "Show the status", "")
            else:
                told = {"pattern": f"**/*{self.random.randint(1, 99)}*"}
                self.records.call("Glob", told, "No files found", numFiles=0)
