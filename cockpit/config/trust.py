"""Which files of projects the pilot has seen and trusted, by path and by hash of their bytes.

Only remembers. What an untrusted file may not say is in `config.held`; asking the pilot is the
caller's. A changed file is another file: it is asked about again.
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
    """Whether exactly these bytes at this place were trusted."""
    return _remembered(places).get(str(file.path.resolve())) == file.digest


def trust(places: Places, path: Path) -> ConfigFile:
    """Trust a file as it is now; twice is the same as once.

    Makes the state folder if need be. Raises `BadConfig` for a file that cannot be read, and
    `Failed` when the record cannot be written.
    """
    file = read_config_file(path.absolute(), follow_links=True)
    known = _remembered(places)
    places.make()
    _remember(places, {**known, str(file.path.resolve()): file.digest})
    return file


def distrust(places: Places, path: Path) -> bool:
    """Forget a file; False if it was not trusted."""
    known = _remembered(places)
    if known.pop(str(path.resolve()), None) is None:
        return False
    _remember(places, known)
    return True


def _remembered(places: Places) -> dict[str, str]:
    """An unreadable record trusts nothing, and is not overwritten before the next trust."""
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
        raise Failed(f"{places.trusted} cannot be written", error.strerror or str(error)) from None
