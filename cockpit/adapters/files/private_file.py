"""Writing a file that only its owner may read, whole or not at all.

Follows no link that somebody laid there and leaves no half-written file under the final name. Not
meant for what must survive a power cut: nothing is forced to the disk here.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_private(path: Path, content: bytes) -> None:
    """Put `content` at `path`, mode 0600, replacing what was there. Raises `OSError`."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(content)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
