"""Load settings. Precedence, highest first: flags, environment, project file, user file, defaults.

`load` only reads: it creates and writes nothing, and asks nothing. A caller that reloads and gets
`BadConfig` keeps its current settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cockpit.config.aliases import with_current_names
from cockpit.config.bounds import MOST_AGENTS
from cockpit.config.checks import check_file, check_runtimes_named
from cockpit.config.file import (
    LARGEST_FILE,
    LARGEST_FOUND,
    ConfigFile,
    read_config_file,
    shown_path,
)
from cockpit.config.held import without_held
from cockpit.config.layers import Layer, merge_layers
from cockpit.config.loaded import Loaded
from cockpit.config.own_runtimes import OwnRuntime
from cockpit.config.paths import Places
from cockpit.config.problems import checked
from cockpit.config.project import foreign_part, is_there, project_file, repository_root
from cockpit.config.rooted import rooted
from cockpit.config.schema import Settings
from cockpit.config.trust import is_trusted
from cockpit.core.errors import BadConfig


def load(
    places: Places,
    config: Path | None,
    cwd: Path,
    environment: Mapping[str, str],
    *,
    named: bool = True,
    again: bool = False,
    pages: Mapping[Path, ConfigFile] | None = None,
) -> Loaded:
    """Return the settings that apply in `cwd`.

    Raises `BadConfig`, and `BadUsage` for an invalid value in the environment.

    `config` replaces the project file. With `named`, the user named `config`, so the file is
    trusted; otherwise it needs trust like a project file. With `again`, the user named `config`
    earlier: the file is trusted only if the user has trusted its exact current bytes. `pages` maps
    paths to contents that are used instead of the files' contents; the files need not exist.
    """
    pages = pages or {}
    layers: list[Layer] = []
    user = places.user_file
    if user in pages or is_there(user):
        layers.append(_layer(user, environment, follow_links=True, page=pages.get(user)))
    if config is None:
        config, named = project_file(cwd), False
    else:
        config = cwd / config
    if config is not None and not (layers and _same(config, user)):
        page = pages.get(config.absolute())
        own = Settings.model_validate(layers[0].data) if layers else Settings()
        layers.append(
            _project_layer(places, config, environment, own, named=named, again=again, page=page)
        )
        if not named:
            # Links stay: the project's folder is compared with the directories of agents, which
            # have the client's paths.
            folder = config.absolute().parent
            project = repository_root(folder) or folder
            own_defaults = merge_layers(layers[:-1], environment).settings.defaults
            loaded = merge_layers(layers, environment)
            return replace(loaded, project=project, own_defaults=own_defaults)
    return merge_layers(layers, environment)


def _project_layer(
    places: Places,
    path: Path,
    environment: Mapping[str, str],
    own: Settings,
    *,
    named: bool,
    again: bool,
    page: ConfigFile | None,
) -> Layer:
    if not named:
        _refuse_foreign(path)
    layer = _layer(path, environment, follow_links=named, page=page, own=own.runtimes)
    if (named and not again) or is_trusted(places, layer.file):
        return layer
    if len(layer.data.get("agents", ())) > MOST_AGENTS:
        raise layer.file.refusal(
            ("agents", MOST_AGENTS, "name"),
            f"more than {MOST_AGENTS} agents in an untrusted file",
            f"To use this file: cockpit --config {shown_path(path)}",
        )
    repository = repository_root(path.parent) or path.parent
    data, held = without_held(layer.file, layer.data, repository, own)
    return Layer(layer.file, data, layer.notices, held)


def _refuse_foreign(path: Path) -> None:
    """Raise `BadConfig` for a file found in a folder that another user controls."""
    if (part := foreign_part(path.absolute())) is not None:
        raise BadConfig(
            f"{shown_path(path)}: {shown_path(part)} belongs to another user",
            "That user could replace the configuration, so cockpit does not read the file.",
            f"To use this file: cockpit --config {shown_path(path)}."
            " If the folder is yours, chown it.",
        )


def _layer(
    path: Path,
    environment: Mapping[str, str],
    *,
    follow_links: bool,
    page: ConfigFile | None = None,
    own: Mapping[str, OwnRuntime] | None = None,
) -> Layer:
    """Read and check one file; `own` are the runtimes of the user's own file."""
    largest = LARGEST_FILE if follow_links else LARGEST_FOUND
    written = page or read_config_file(path.absolute(), follow_links=follow_links, largest=largest)
    file, data, notices = with_current_names(written)
    settings = checked(file, data)
    check_file(file, settings)
    check_runtimes_named(file, settings, own or {})
    home = environment.get("HOME") or str(Path.home())
    return Layer(file, rooted(data, file.path.parent, home), notices)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
