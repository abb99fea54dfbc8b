"""The hook in the user's own Claude Code settings that offers a waiting handoff document.

cockpit inserts one entry into the settings file and keeps all other text; `claude plugin install`
would rewrite the whole file. The entry still works after cockpit is updated in place. After
cockpit is uninstalled, the hook's command does nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.claude.settings import config_folder
from cockpit.adapters.agents.own_command import own_command
from cockpit.adapters.files.foreign_files import NotPlain, open_file, read_file
from cockpit.adapters.files.json_text import KeyPath, Unsuitable, parsed, with_item, without
from cockpit.core.errors import Failed, NotNow
from cockpit.core.safetext import safe_line

OPTION = "--offer-handoff"
"""The option with which the hook runs `cockpit`, to offer a waiting handoff document."""
SECONDS = 5
"""Seconds after which the CLI continues without the hook; the hook exits earlier."""
_EVENT = ("hooks", "SessionStart")
_LARGEST = 8_000_000
_BOM = "\ufeff"
_UNCHANGED = "Nothing was changed."


class Setup(StrEnum):
    """The state of cockpit's hook, which offers handoff documents, in the user's settings."""

    YES = "set up"
    NO = "not set up"
    OLD = "set up by another installation or an older version of cockpit"
    OFF = "set up, but all hooks are switched off in the settings"


@dataclass(frozen=True, slots=True)
class _File:
    """The text, bytes and access rights of the settings file. If there is no file, the text is
    empty, and the rights are those of a new file."""

    text: str
    data: bytes | None = None
    """The bytes of the settings file; None if there was no file."""
    mode: int = 0o600
    group: int = -1
    mark: str = ""
    """The byte order mark; empty if the file has none."""


def settings_file(environment: Mapping[str, str]) -> Path:
    """Return the path of the user's settings for all sessions."""
    return config_folder(environment) / "settings.json"


def entry() -> dict[str, Any]:
    """Return cockpit's entry for the settings: a hook that runs only when a new session starts."""
    hook = {"type": "command", "command": _command(), "timeout": SECONDS}
    return {"matcher": "startup", "hooks": [hook]}


def _command() -> str:
    """Return the hook's command, which does nothing inside an agent, or if cockpit is not
    installed."""
    ours = shlex.join(own_command(OPTION))
    return f'[ -n "${{COCKPIT_RUN-}}" ] || {ours} 2>/dev/null || :'


def state_of(environment: Mapping[str, str]) -> Setup:
    """Return the state of the hook; `NO` if the settings cannot be read. Never raises."""
    try:
        data = read_file(settings_file(environment), _LARGEST)
        settings = parsed(data.decode().removeprefix(_BOM))
    except (OSError, ValueError):
        return Setup.NO
    commands = {_at(settings, path)["command"] for path in _ours(settings)}
    if not commands:
        return Setup.NO
    if commands != {_command()}:
        return Setup.OLD
    return Setup.OFF if settings.get("disableAllHooks") is True else Setup.YES


def check(environment: Mapping[str, str]) -> None:
    """Raise `Failed` if `install` could not read or change the settings file. Writes nothing."""
    _changed(settings_file(environment), _with_ours)


def install(environment: Mapping[str, str]) -> None:
    """Add the hook to the user's settings, replacing an older form of the hook.

    Idempotent. Raises `Failed`, and `NotNow` if the settings change at the same time.
    """
    _change(settings_file(environment), _with_ours)


def remove(environment: Mapping[str, str]) -> None:
    """Remove the hook from the user's settings. Idempotent. Raises the same errors as `install`."""
    _change(settings_file(environment), _without_ours)


def _change(path: Path, change: Callable[[str], str]) -> None:
    before, text = _changed(path, change)
    if text != before.text:
        _replace(path, before, text)


def _changed(path: Path, change: Callable[[str], str]) -> tuple[_File, str]:
    before = _read(path)
    try:
        return before, change(before.text)
    except Unsuitable as reason:
        raise _refusal(path, str(reason)) from None


def _with_ours(text: str) -> str:
    """Return the settings text with cockpit's hook exactly once; unchanged if the hook is current.

    Raises `Unsuitable`.
    """
    if not text.strip():
        text = "{}\n"  # the CLI also reads an empty file as an empty object
    settings = parsed(text)
    commands = [_at(settings, path)["command"] for path in _ours(settings)]
    if commands == [_command()]:
        return text
    return with_item(_without_ours(text), _EVENT, entry())


def _without_ours(text: str) -> str:
    """Return the settings text without cockpit's hooks, and without objects that would then be
    empty.

    Raises `Unsuitable`.
    """
    if not text.strip():
        return text
    settings = parsed(text)
    while (path := next(_ours(settings), None)) is not None:
        text = without(text, _to_remove(settings, path))
        settings = parsed(text)
    return text


def _to_remove(settings: dict[str, Any], path: KeyPath) -> KeyPath:
    """Return the outermost path that contains nothing but this hook, so that no empty group
    remains."""
    group = len(_EVENT) + 1
    if len(_at(settings, path[:-1])) > 1:
        return path
    for length in range(group, 1, -1):
        if len(_at(settings, path[: length - 1])) > 1:
            return path[:length]
    return path[:1]


def _ours(settings: dict[str, Any]) -> Iterator[KeyPath]:
    value: Any = settings
    for key in _EVENT:
        value = value.get(key) if isinstance(value, dict) else None
    for number, group in enumerate(value if isinstance(value, list) else ()):
        hooks = group.get("hooks") if isinstance(group, dict) else None
        for place, hook in enumerate(hooks if isinstance(hooks, list) else ()):
            command = hook.get("command") if isinstance(hook, dict) else None
            if isinstance(command, str) and f"-m cockpit {OPTION}" in command:
                yield [*_EVENT, number, "hooks", place]


def _at(settings: dict[str, Any], path: KeyPath) -> Any:
    value: Any = settings
    for key in path:
        value = value[key]
    return value


def _read(path: Path) -> _File:
    """Read the settings file. Raises `Failed` if cockpit cannot read or safely replace the file."""
    try:
        descriptor = open_file(path, follow_links=False)
        with os.fdopen(descriptor, "rb") as file:
            file_status = os.fstat(descriptor)
            data = file.read(_LARGEST + 1)
        text = data.decode()
    except FileNotFoundError:
        return _File("")
    except NotPlain as odd:
        raise _refusal(path, str(odd.strerror)) from None
    except UnicodeDecodeError:
        raise _refusal(path, "is not UTF-8") from None
    except OSError as error:
        raise _failed(path, error) from None
    if len(data) > _LARGEST:
        raise _refusal(path, f"is larger than {_LARGEST // 1_000_000} MB")
    if file_status.st_uid != os.geteuid():
        raise _refusal(path, f"belongs to another user (uid {file_status.st_uid})")
    if file_status.st_nlink > 1:
        raise _refusal(path, "has a second hard link")
    if not file_status.st_mode & stat.S_IWUSR:
        raise _refusal(path, "is write-protected")
    mark = _BOM if text.startswith(_BOM) else ""
    mode = stat.S_IMODE(file_status.st_mode)
    return _File(text.removeprefix(mark), data, mode, file_status.st_gid, mark)


def _replace(path: Path, before: _File, text: str) -> None:
    """Replace the settings file atomically, and keep its mode and group.

    Raises `NotNow` if the file has changed since `before` was read, and `Failed` for other errors.
    """
    data = (before.mark + text).encode()
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            with suppress(OSError):
                os.fchown(file.fileno(), -1, before.group)
            os.fchmod(file.fileno(), before.mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if _read(path).data != before.data:
            raise NotNow(
                f"Another program just changed {_shown(path)}",
                "cockpit did not change the file.",
                "Try again.",
            )
        temporary.replace(path)
    except OSError as error:
        raise _failed(path, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def _refusal(path: Path, reason: str) -> Failed:
    return Failed(
        f"Cannot change {_shown(path)}",
        f"The file {safe_line(reason)}. {_UNCHANGED}",
        "Make the file a plain JSON file that you own and can write, or edit the file "
        f"yourself. The entry in hooks.SessionStart is:\n{json.dumps(entry())}",
    )


def _failed(path: Path, error: OSError) -> Failed:
    return Failed(
        f"Cannot change {_shown(path)}",
        f"{error.strerror}. {_UNCHANGED}",
        hint="Make the file writable, then run the command again.",
    )


def _shown(path: Path) -> str:
    return safe_line(str(path), 4096)
