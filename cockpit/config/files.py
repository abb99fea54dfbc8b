"""The configuration files that apply, and changes to the settings in them.

A change is tested by loading the changed text exactly as a file would be loaded. Only `write` and
`add` write files. The writing code is imported when a method needs it, because every screen imports
this module at startup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit.config.aliases import with_current_names
from cockpit.config.file import ConfigFile, config_file_of, read_config_file, shown_path
from cockpit.config.lines import Lines
from cockpit.config.loaded import Loaded, Source
from cockpit.config.paths import Places
from cockpit.config.project import FILE_NAME, project_file, repository_root
from cockpit.config.read import load
from cockpit.config.schema import AgentSettings
from cockpit.config.trust import is_trusted, trust
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import NotNow

Changes = Mapping[tuple[str, ...], Any]
"""Maps key paths (`("defaults", "context", "act")`) to new values; None removes the key from the
file."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a setting in a file."""

    key: tuple[str, ...]
    file: Path
    line: int | None
    """The line of the key before the change; None if the edit adds the key."""
    removed: bool
    then: Source | None
    """For a removed key: the source of the value that applies afterwards; None for a default. For
    any other key: None."""


@dataclass(frozen=True, slots=True)
class Files:
    """The user's own file and the project's file, with the content that was read."""

    places: Places
    cwd: Path
    environment: Mapping[str, str]
    named: bool
    """Whether the user named the project file on the command line. cockpit trusts such a file."""
    own: ConfigFile | None
    project: ConfigFile | None
    project_path: Path | None
    trusted: bool
    loaded: Loaded

    @classmethod
    def read(
        cls, places: Places, config: Path | None, cwd: Path, environment: Mapping[str, str]
    ) -> Files:
        """Read the files. Raises `BadConfig`.

        `config` is the file from the command line; None for the file of the project in `cwd`.
        """
        loaded = load(places, config, cwd, environment)
        config_file = cwd / config if config is not None else project_file(cwd)
        read = {file: _read(file) for file in loaded.files}
        own = read.get(places.user_file)
        project = next((file for path, file in read.items() if path != places.user_file), None)
        trusted = project is not None and (config is not None or is_trusted(places, project))
        path = None if config_file is None else config_file.absolute()
        return cls(
            places, cwd, environment, config is not None, own, project,
            None if path == places.user_file else path, trusted, loaded,
        )  # fmt: skip

    def file_for(self, key: tuple[str, ...]) -> Path:
        """Return the file to change for this setting: the file whose value applies.

        If no file sets the setting, a setting of `[defaults]` goes to the project's file, if there
        is one, and every other setting to the user's own file.
        """
        source = self.loaded.sources.get(".".join(key))
        for file in (self.project, self.own):
            if file is not None and source and source.where == shown_path(file.path):
                return file.path
        if key[0] == "defaults" and self.project is not None:
            return self.project.path
        return self.places.user_file

    def key_path(self, action: str) -> tuple[str, ...]:
        """Return the key path of an action in `[keys]`, in the form that the files use.

        An id with a dot is one key if quoted (`"review.edit"`); unquoted, it is a key in a table.
        """
        inner = action.split(".")
        for file in (self.project, self.own):
            table: Any = file.data.get("keys", {}) if file else {}
            if action not in table and isinstance(table.get(inner[0]), Mapping) and inner[1:]:
                return ("keys", *inner)
        return ("keys", action)

    def agents_file(self, directory: Path) -> Path:
        """Return the file to which a new agent in this directory is added.

        This is the file that the user named on the command line, else the `cockpit.toml` of the
        directory's project, else a new file at the root of the directory's repository. Outside a
        repository, it is the user's own file.
        """
        if self.project_path is not None and self.named:
            return self.project_path
        file = project_file(directory)
        if file is not None:
            return file.absolute()
        root = repository_root(directory)
        return self.places.user_file if root is None else root / FILE_NAME

    def standing(self, path: Path) -> str:
        """Return a note for the user about a file that will be written: `a new file` or `not
        trusted yet`; empty for any other file."""
        if not path.exists():
            return "a new file"
        if self.project is not None and path == self.project.path and not self.trusted:
            return "not trusted yet"
        return ""

    def why_not_out(self, key: tuple[str, ...]) -> str | None:
        """Return why a setting cannot be removed from a file; None if the setting can be
        removed."""
        source = self.loaded.sources.get(".".join(key))
        known = self._known(self.file_for(key))
        if known is not None and known.exact_line(key) is not None:
            return None
        if source is not None and source.where == "environment":
            return f"{key[-1]} is set by the environment, not in a file."
        return f"{key[-1]} is the default; no file sets it."

    def edits(self, changes: Changes, tried: Loaded) -> list[Edit]:
        """Return the edits for these changes; `tried` is the configuration after the changes.

        A change that removes a key gives no edit if the file does not have the key. Raises `Failed`
        for a file that cannot be written.
        """
        from cockpit.config.write import check_writable

        edits = []
        for key, value in changes.items():
            path = self.file_for(key)
            known = self._known(path)
            line = known.exact_line(key) if known else None
            if value is None and line is None:
                continue
            check_writable(path)
            then = tried.sources.get(".".join(key)) if value is None else None
            edits.append(Edit(key, path, line, value is None, then))
        return edits

    def tried(self, changes: Changes) -> Loaded:
        """Return the configuration that would apply after these changes.

        Writes nothing. Raises `BadConfig` if that configuration is invalid, and `Failed` if a text
        cannot be changed.
        """
        pages = {
            path: self._page(path, self._changed(path, inside))
            for path, inside in self._by_file(changes).items()
        }
        config = self.project_path if self.named else None
        return load(self.places, config, self.cwd, self.environment, pages=pages)

    def write(self, changes: Changes) -> tuple[Path, ...]:
        """Write the changes, keeping comments and order; return the changed files.

        Before anything is written, raises `BadConfig` for an invalid result, `NotNow` if a file
        changed since it was read, and `Failed` if a file cannot be changed.
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
        """Add an agent to a file; a trusted file stays trusted.

        Raises the same errors as `config.write.add_agent`.
        """
        from cockpit.config.write import add_agent

        trusted = path.exists() and is_trusted(
            self.places, read_config_file(path, follow_links=True)
        )
        add_agent(path, agent)
        if trusted:
            trust(self.places, path)

    def _by_file(self, changes: Changes) -> dict[Path, dict[tuple[str, ...], Any]]:
        by_file: dict[Path, dict[tuple[str, ...], Any]] = {}
        for key, value in changes.items():
            by_file.setdefault(self.file_for(key), {})[key] = value
        return by_file

    def _known(self, path: Path) -> ConfigFile | None:
        return next((f for f in (self.own, self.project) if f and f.path == path), None)

    def _changed(self, path: Path, inside: Changes) -> str:
        """Return the file's text with these changes; an alias of a changed setting gets its current
        name."""
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
        """Return the changed file with the hash of the old file, so that the new file is trusted
        only if the old file was."""
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
                f"{shown_path(path)} has changed on disk",
                "Nothing was written.",
                "Reload the file, then make the change again.",
            )

    def _trust_again(self, path: Path) -> None:
        """Trust the changed project file if it was trusted before the change."""
        if self.project is not None and path == self.project.path and self.trusted:
            trust(self.places, path)


def _read(path: Path) -> ConfigFile:
    return with_current_names(read_config_file(path, follow_links=True))[0]
