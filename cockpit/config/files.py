"""The files that hold where a pilot stands, and what they would say with changes in them.

Changes are tried by reading the changed text exactly as the file would be read, so that what is
refused here is what would be refused there. Nothing is written before `write`, and what writes is
loaded then: every screen reads files at its start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cockpit.config.aliases import with_present_names
from cockpit.config.file import ConfigFile, config_file_of, read_config_file, shown_path
from cockpit.config.lines import Lines
from cockpit.config.loaded import Loaded, Source
from cockpit.config.paths import Places
from cockpit.config.project import FILE_NAME, project_file, repository_root
from cockpit.config.read import load
from cockpit.config.schema import AgentSettings
from cockpit.config.trust import is_trusted, trust
from cockpit.core.errors import NotNow

Changes = Mapping[tuple[str, ...], Any]
"""By path of keys (`("defaults", "context", "act")`); None takes the key out of the file."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change, as it would be made in a file."""

    key: tuple[str, ...]
    file: Path
    line: int | None
    """Where the key stands; None where it gets a line of its own."""
    removed: bool
    then: Source | None
    """Where what holds without it is written; None for the default. Of what is removed only."""


@dataclass(frozen=True, slots=True)
class Files:
    """The pilot's own file and the project's, as they were when they were read."""

    places: Places
    cwd: Path
    environment: Mapping[str, str]
    named: bool
    """The pilot named the project file, and so trusts it."""
    own: ConfigFile | None
    project: ConfigFile | None
    project_path: Path | None
    trusted: bool
    loaded: Loaded

    @classmethod
    def read(
        cls, places: Places, config: Path | None, cwd: Path, environment: Mapping[str, str]
    ) -> Files:
        """Read them. `config` is the file of the command line. Raises `BadConfig`."""
        loaded = load(places, config, cwd, environment)
        found = cwd / config if config is not None else project_file(cwd)
        read = {file: _read(file) for file in loaded.files}
        own = read.get(places.user_file)
        project = next((file for path, file in read.items() if path != places.user_file), None)
        trusted = project is not None and (config is not None or is_trusted(places, project))
        path = None if found is None else found.absolute()
        return cls(
            places, cwd, environment, config is not None, own, project,
            None if path == places.user_file else path, trusted, loaded,
        )  # fmt: skip

    def file_for(self, key: tuple[str, ...]) -> Path:
        """Where a change of this setting is written: where it stands now, else where it belongs.

        Marks belong into the project's file if there is one, everything else into the pilot's own.
        """
        source = self.loaded.sources.get(".".join(key))
        for file in (self.project, self.own):
            if file is not None and source and source.where == shown_path(file.path):
                return file.path
        if key[0] == "defaults" and self.project is not None:
            return self.project.path
        return self.places.user_file

    def key_path(self, action: str) -> tuple[str, ...]:
        """Where an action's keys are written: in TOML an id with a dot may stand as a table."""
        inner = action.split(".")
        for file in (self.project, self.own):
            table: Any = file.data.get("keys", {}) if file else {}
            if action not in table and isinstance(table.get(inner[0]), Mapping) and inner[1:]:
                return ("keys", *inner)
        return ("keys", action)

    def agents_file(self, directory: Path) -> Path:
        """Where an agent that works there is added: the project's file, or a first one at its root.

        Outside of any repository it is the pilot's own.
        """
        if self.project_path is not None and self.named:
            return self.project_path
        found = project_file(directory)
        if found is not None:
            return found.absolute()
        root = repository_root(directory)
        return self.places.user_file if root is None else root / FILE_NAME

    def standing(self, path: Path) -> str:
        """What a pilot should know of a file before it is written; empty for nothing special."""
        if not path.exists():
            return "a new file"
        if self.project is not None and path == self.project.path and not self.trusted:
            return "not trusted by you yet, and it stays so"
        return ""

    def why_not_out(self, key: tuple[str, ...]) -> str | None:
        """Why a setting cannot be taken out of a file, in words; None where it can."""
        source = self.loaded.sources.get(".".join(key))
        known = self._known(self.file_for(key))
        if known is not None and known.standing_line(key) is not None:
            return None
        if source is not None and source.where == "environment":
            return f"The environment says {key[-1]} for this terminal, and no file does."
        return f"{key[-1]} is at its default: no file says it."

    def edits(self, changes: Changes, tried: Loaded) -> list[Edit]:
        """What would be written where; `tried` is what would hold then. Raises `Failed`.

        It refuses what can be seen beforehand not to be writable.
        """
        from cockpit.config.write import check_writable

        found = []
        for key, value in changes.items():
            path = self.file_for(key)
            known = self._known(path)
            line = known.standing_line(key) if known else None
            if value is None and line is None:
                continue
            check_writable(path)
            then = tried.sources.get(".".join(key)) if value is None else None
            found.append(Edit(key, path, line, value is None, then))
        return found

    def tried(self, changes: Changes) -> Loaded:
        """What would hold with these changes. Raises `BadConfig`."""
        pages = {
            path: self._page(path, self._changed(path, inside))
            for path, inside in self._by_file(changes).items()
        }
        config = self.project_path if self.named else None
        return load(self.places, config, self.cwd, self.environment, pages=pages)

    def write(self, changes: Changes) -> tuple[Path, ...]:
        """Write the changes; comments and order of everything else stay. Answers where.

        Raises `BadConfig` for what would not be right, and `NotNow` when a file is not what it
        was when it was read; then nothing is written.
        """
        from cockpit.config.write import check_writable, replace_file

        self.tried(changes)
        by_file = self._by_file(changes)
        for path in by_file:
            self._check_unchanged(path)
            check_writable(path)
        for path, inside in by_file.items():
            replace_file(path, self._changed(path, inside))
            self._trust_again(path)
        return tuple(by_file)

    def add(self, path: Path, agent: AgentSettings) -> None:
        """Add an agent to a file. Raises as `config.write.add_agent`."""
        from cockpit.config.write import add_agent

        trusted = path.exists() and is_trusted(
            self.places, read_config_file(path, follow_links=True)
        )
        add_agent(path, agent)
        if trusted:
            trust(self.places, path)

    def _by_file(self, changes: Changes) -> dict[Path, dict[tuple[str, ...], Any]]:
        found: dict[Path, dict[tuple[str, ...], Any]] = {}
        for key, value in changes.items():
            found.setdefault(self.file_for(key), {})[key] = value
        return found

    def _known(self, path: Path) -> ConfigFile | None:
        return next((f for f in (self.own, self.project) if f and f.path == path), None)

    def _changed(self, path: Path, inside: Changes) -> str:
        """The file's text with changes; a founding name gives way to the present one."""
        from cockpit.config.changed import changed_text

        known = self._known(path)
        if known is None:
            return changed_text("", inside)
        text = known.text
        for key, value in inside.items():
            written = tuple(str(part) for part in known.written_as(key))
            text = changed_text(
                text, {written: None, key: value} if written != key else {key: value}
            )
        return text

    def _page(self, path: Path, text: str) -> ConfigFile:
        """The changed file with the old digest: it is trusted exactly if the file was."""
        page = config_file_of(path, text.encode())
        known = self._known(path)
        if known is None:
            return replace(page, on_disk=ConfigFile(path, {}, Lines({}), ""))
        return replace(page, digest=known.digest, on_disk=known)

    def _check_unchanged(self, path: Path) -> None:
        known = self._known(path)
        now = read_config_file(path, follow_links=True).digest if path.exists() else None
        if now != (known.digest if known else None):
            raise NotNow(
                f"{shown_path(path)} was changed by somebody else meanwhile",
                "Nothing is written.",
                "Read it again, and then change it.",
            )

    def _trust_again(self, path: Path) -> None:
        """What the pilot trusted and then changed here is trusted; the rest stays as it was."""
        if self.project is not None and path == self.project.path and self.trusted:
            trust(self.places, path)


def _read(path: Path) -> ConfigFile:
    """A file, and where it says things under their founding names."""
    return with_present_names(read_config_file(path, follow_links=True))[0]
