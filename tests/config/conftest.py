"""A place for a cockpit and a project, with real files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cockpit.config.loaded import Loaded
from cockpit.config.paths import Places
from cockpit.config.read import load
from tests.repositories import lay_repository


@dataclass
class Project:
    """A folder with a `.git`, beside a cockpit home of its own."""

    folder: Path
    places: Places
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.folder / "cockpit.toml"

    def write(self, text: str) -> Path:
        self.file.write_text(text)
        return self.file

    def write_user(self, text: str) -> Path:
        self.places.config.mkdir(exist_ok=True)
        self.places.user_file.write_text(text)
        return self.places.user_file

    def load(self, *, config: Path | None = None, cwd: Path | None = None) -> Loaded:
        """As a user in the folder would; the project's file is not trusted."""
        environment: Mapping[str, str] = {"HOME": str(self.folder.parent), **self.environment}
        return load(self.places, config, cwd or self.folder, environment)

    def load_named(self, text: str | None = None) -> Loaded:
        """With the file named on the command line."""
        if text is not None:
            self.write(text)
        return self.load(config=self.file)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    lay_repository(tmp_path / "project")
    home = {"COCKPIT_HOME": str(tmp_path / "home")}
    return Project(tmp_path / "project", Places.of(home))
