"""Project files that the user trusted, by path and hash.

This module only stores paths and hashes. `config.held` removes settings from an untrusted file, and
the caller asks the user. A changed file has another hash, so the user must trust the file again.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from cockpit.config.file import ConfigFile, read_config_file
from cockpit.config.paths import Places
from cockpit.core.errors import Failed


def is_trusted(places: Places, file: ConfigFile) -> bool:
    """Return whether exactly these bytes at this path were trusted."""
    return _remembered(places).get(str(file.path.resolve())) == file.digest


def trust(places: Places, path: Path) -> ConfigFile:
    """Trust a file as it is now. Idempotent.

    Creates the state folder if needed. Raises `BadConfig` for a file that cannot be read, and
    `Failed` if the list of trusted files cannot be written.
    """
    file = read_config_file(path.absolute(), follow_links=True)
    known = _remembered(places)
    places.make()
    _remember(places, {**known, str(file.path.resolve()): file.digest})
    return file


def _remembered(places: Places) -> dict[str, str]:
    try:
        known = json.loads(places.trusted.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {path: digest for path, digest in known.items() if isinstance(digest, str)}


def _remember(places: Places, known: dict[str, str]) -> None:
    text = json.dumps(known, indent=1, sort_keys=True) + "\n"
    try:
        handle, name = tempfile.mkstemp(dir=places.state, prefix=".trusted-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(places.trusted)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Failed(
            f"Cannot write {places.trusted}",
            error.strerror or str(error),
            hint="Check the free disk space and the folder's permissions.",
        ) from None
