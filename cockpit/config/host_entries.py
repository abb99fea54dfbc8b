"""Add a host to a configuration file, or remove one; everything else stays as the user wrote it.

Lines are inserted and removed as text, because tomlkit stores the comment above a table with the
previous table, so removing that table would remove the comment. Each result is parsed again and
compared with the intended change. If the two differ, nothing is written.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from cockpit.config.file import read_config_file, shown_path
from cockpit.config.hooks import Host
from cockpit.config.paths import Places
from cockpit.config.trust import is_trusted, trust
from cockpit.config.write import replace_file, spelled
from cockpit.core.errors import BadConfig, BadUsage, Failed
from cockpit.core.far_names import RESERVED
from cockpit.core.ids import NAME_PATTERN, suggested_name
from cockpit.core.safetext import quoted


def host_name(text: str) -> str:
    """Return `text` if it is a valid name for a host.

    Raises `BadUsage` for an invalid or reserved name, with a valid one in the hint.
    """
    if NAME_PATTERN.fullmatch(text) and text not in RESERVED:
        return text
    detail = (
        "Use 1 to 32 characters: a-z, 0-9, dot, underscore, dash; begin with a letter or digit."
    )
    if text in RESERVED:
        detail = f"The name is reserved: {RESERVED[text]}."
    other = "gpu1" if text in RESERVED else suggested_name(text)
    raise BadUsage(f"{quoted(text)} cannot be the name of a host", detail, f"Try: {other}")


_HEADER = re.compile(r"[ \t]*\[")
_HOST_HEADER = re.compile(r"[ \t]*\[\[[ \t]*(?:hosts|\"hosts\"|'hosts')[ \t]*\]\]")
_TRIVIA = re.compile(r"[ \t\r]*(?:#.*)?$")


def add_host(places: Places, path: Path, host: Host) -> None:
    """Add a host to a file, after its other hosts; creates the file if needed.

    A file that was trusted stays trusted. Raises `BadConfig` for a name that is taken or an invalid
    file, and `Failed` if the file cannot be written.
    """
    text, trusted = _read(places, path)
    data = tomllib.loads(text)
    hosts = _hosts(path, data)
    if any(table.get("name") == host.name for table in hosts):
        raise BadConfig(
            f'{shown_path(path)}: host "{host.name}" already exists',
            hint=f"Choose another name, or remove the host first: cockpit hosts remove {host.name}",
        )
    values = host.model_dump(mode="json", exclude_unset=True)
    table = ["[[hosts]]", *(f"{key} = {spelled(value)}" for key, value in values.items())]
    lines = text.split("\n")
    spans = _spans(lines)
    end = spans[-1][1] if spans else len(lines) - (lines[-1] == "")
    before, after = lines[:end], lines[end:]
    gap = [""] if before and before[-1].strip() else []
    then = [""] if after and after[0].strip() else []
    result = "\n".join([*before, *gap, *table, *then, *after]).rstrip("\n") + "\n"
    _write(places, path, result, {**data, "hosts": [*hosts, values]}, trusted=trusted)


def remove_host(places: Places, path: Path, name: str) -> bool:
    """Remove a host from a file; return False if the file does not have the host.

    The comments above the host's table stay. A file that was trusted stays trusted. Raises
    `BadConfig` for an invalid file, and `Failed` if the file cannot be changed.
    """
    if not path.exists():
        return False
    text, trusted = _read(places, path)
    data = tomllib.loads(text)
    hosts = _hosts(path, data)
    place = next((at for at, host in enumerate(hosts) if host.get("name") == name), None)
    if place is None:
        return False
    lines = text.split("\n")
    spans = _spans(lines)
    if len(spans) != len(hosts):
        raise _unchanged(path)
    begin, end = spans[place]
    before, after = lines[:begin], lines[end:]
    if after and not after[0].strip() and (not before or not before[-1].strip()):
        del after[0]  # avoids two blank lines in a row
    left = [*hosts[:place], *hosts[place + 1 :]]
    _write(places, path, "\n".join([*before, *after]), {**data, "hosts": left}, trusted=trusted)
    return True


def _read(places: Places, path: Path) -> tuple[str, bool]:
    """Return the file's text, empty if there is no file, and whether the file is trusted."""
    if not path.exists():
        return "", False
    file = read_config_file(path, follow_links=True)
    return file.text, is_trusted(places, file)


def _hosts(path: Path, data: dict[str, Any]) -> list[dict[str, Any]]:
    hosts = data.get("hosts", [])
    if not isinstance(hosts, list) or not all(isinstance(host, dict) for host in hosts):
        raise BadConfig(
            f"{shown_path(path)}: hosts are not written as [[hosts]] tables",
            hint="Write each host as its own [[hosts]] table; then try again.",
        )
    return hosts


def _spans(lines: list[str]) -> list[tuple[int, int]]:
    """Return for each host's table the index of the first line, and the index after the last line.

    Comments and blank lines at the end of a table are left out.
    """
    headers = [at for at, line in enumerate(lines) if _HEADER.match(line)]
    # A line inside a multi-line array can begin with a bracket too; `_is_table` leaves it out.
    spans = []
    for at in headers:
        if not _HOST_HEADER.match(lines[at]):
            continue
        end = next((h for h in headers if h > at and _is_table(lines[h])), len(lines))
        while end > at + 1 and _TRIVIA.match(lines[end - 1]):
            end -= 1
        spans.append((at, end))
    return spans


def _is_table(line: str) -> bool:
    return re.match(r"[ \t]*\[\[?[ \t]*[\w\"'.-]+[^,]*\]\]?[ \t]*(?:#.*)?$", line) is not None


def _write(places: Places, path: Path, text: str, meant: dict[str, Any], *, trusted: bool) -> None:
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise _unchanged(path) from None
    if {**written, "hosts": written.get("hosts", [])} != meant:
        raise _unchanged(path)
    replace_file(path, text)
    if trusted:
        trust(places, path)


def _unchanged(path: Path) -> Failed:
    return Failed(
        f"Cannot change the hosts in {shown_path(path)}",
        "cockpit cannot edit hosts in the form that the file uses; nothing was written.",
        "Edit the [[hosts]] tables by hand; then validate the file: cockpit config check",
    )
