"""From files to settings: flag over environment over project file over user file over default.

`load` is pure but for reading: no folder is made, nothing is written, nobody is asked. A caller
that reloads and gets `BadConfig` simply keeps what it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cockpit.config.aliases import with_present_names
from cockpit.config.checks import check_file
from cockpit.config.file import ConfigFile, read_config_file
from cockpit.config.held import without_held
from cockpit.config.layers import Layer, laid_together
from cockpit.config.loaded import Loaded
from cockpit.config.paths import Places
from cockpit.config.problems import checked
from cockpit.config.project import is_there, project_file, repository_root
from cockpit.config.rooted import rooted
from cockpit.config.trust import is_trusted


def load(
    places: Places,
    config: Path | None,
    cwd: Path,
    environment: Mapping[str, str],
    *,
    named: bool = True,
    pages: Mapping[Path, ConfigFile] | None = None,
) -> Loaded:
    """Everything that holds for a pilot in `cwd`. Raises `BadConfig`.

    `config` takes the place of the project file. It is trusted, unless `named` is False: then
    it was found and not named, and what was trusted before decides, as for a project file.
    `pages` are read in place of the files of these paths, which need not be there.
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
        layers.append(_project_layer(places, config, environment, named=named, page=page))
    return laid_together(layers, environment)


def _project_layer(
    places: Places,
    path: Path,
    environment: Mapping[str, str],
    *,
    named: bool,
    page: ConfigFile | None,
) -> Layer:
    layer = _layer(path, environment, follow_links=named, page=page)
    if named or is_trusted(places, layer.file):
        return layer
    repository = repository_root(path.parent) or path.parent
    data, held = without_held(layer.file, layer.data, repository)
    return Layer(layer.file, data, layer.notices, held)


def _layer(
    path: Path,
    environment: Mapping[str, str],
    *,
    follow_links: bool,
    page: ConfigFile | None = None,
) -> Layer:
    written = page or read_config_file(path.absolute(), follow_links=follow_links)
    file, data, notices = with_present_names(written)
    check_file(file, checked(file, data))
    home = environment.get("HOME") or str(Path.home())
    return Layer(file, rooted(data, file.path.parent, home), notices)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
