"""What a repository's settings may decide: read byte by byte, and kept by a list."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.git_settings import (
    Setting,
    configured_hooks,
    deciding_push,
    foreign_filters,
    hooks_path,
    is_kept,
    own_files,
    own_value,
    parse,
    sealed,
)

DROPPED = {
    "core": "fsmonitor hookspath sshcommand gitproxy askpass editor pager worktree bare"
    " alternaterefscommand a.filemode",
    "diff": "external x.command x.textconv",
    "filter": "x.clean x.required",
    "remote": "o.receivepack o.uploadpack o.vcs o.proxy url",
    "credential": "helper https://x.helper",
    "http": "proxy extraheader https://x.sslverify",
    "gpg": "program ssh.program",
    "include": "path",
    "includeif": "gitdir:/.path",
    "submodule": "x.update",
    "protocol": "ext.allow",
    "extensions": "worktreeconfig",
    "hook": "x.command",
    "gc": "recentobjectshook",
    "safe": "directory",
    "some": "thing.new",
    "alias": "status",
}
"""Section -> what could run or redirect something, for example."""


def setting(key: bytes, value: bytes | None = b"v", scope: bytes = b"local") -> Setting:
    ending = b"" if value is None else b"\n" + value
    return parse(scope + b"\0file:x\0" + key + ending + b"\0")[0]


def test_names_are_bytes_and_may_hold_anything() -> None:
    found = parse(
        b"global\0file:/h\0user.name\na\nb\0"
        b'local\0file:c\0filter.\xff.\x1b=".clean\ntouch x\0'
        b"worktree\0file:w\0core.bare\0"
        b"local\0file:c\0filter..clean\n\0"
        b"local\0file:c\0FILTER.X.Clean\ny\0"
    )
    assert [(one.section, one.subsection, one.name, one.value) for one in found] == [
        (b"user", None, b"name", b"a\nb"),
        (b"filter", b'\xff.\x1b="', b"clean", b"touch x"),
        (b"core", None, b"bare", None),
        (b"filter", b"", b"clean", b""),
        (b"filter", b"X", b"clean", b"y"),
    ]
    assert foreign_filters(found) == (b"", b"X", b'\xff.\x1b="')
    assert own_files(found) == {b"/h"}
    assert found[1].key == b'filter.\xff.\x1b=".clean'


@pytest.mark.parametrize(
    "cut",
    [
        b"local\0file:c\0core.x\nv",
        b"local\0core.x\n\0",
        b"local\0",
        b"\0file:c\0core.x\n\0",
        b"local\0file:c\0core\0",
    ],
)
def test_what_git_does_not_write_is_refused(cut: bytes) -> None:
    with pytest.raises(ValueError, match=r"cut off|not a setting"):
        parse(cut)


@pytest.mark.parametrize("scope", [b"local", b"worktree", b"command", b"submodule", b"new"])
def test_any_scope_but_the_users_is_the_repositorys(scope: bytes) -> None:
    assert not setting(b"core.fsmonitor", scope=scope).own
    assert foreign_filters([setting(b"filter.x.process", scope=scope)]) == (b"x",)


def test_a_filter_that_the_user_defines_too_is_the_users() -> None:
    own = setting(b"filter.lfs.process", scope=b"global")
    assert foreign_filters([setting(b"filter.lfs.clean"), own]) == ()
    assert foreign_filters([setting(b"filter.LFS.clean"), own]) == (b"LFS",)


@pytest.mark.parametrize("section", DROPPED)
def test_what_could_run_or_redirect_something_is_dropped(section: str) -> None:
    for name in DROPPED[section].split():
        one = setting(f"{section}.{name}".encode())
        assert not is_kept(one), name
        assert sealed([one]) == b""


def test_what_decides_a_push_is_named() -> None:
    named = ("core.sshcommand", "credential.https://x.helper", "remote.a.b.receivepack")
    others = ("credential.username", "remote.o.url", "http.postbuffer", "core.filemode")
    all_of = [setting(key.encode()) for key in (*named, *others)]
    assert deciding_push(all_of) == tuple(key.encode() for key in named)
    assert deciding_push([setting(b"core.sshcommand", scope=b"global")]) == ()


def test_the_users_last_value_counts() -> None:
    key = b"core.sshcommand"
    settings = [setting(key, b"a", b"system"), setting(key, b"b", b"global"), setting(key, b"c")]
    assert own_value(settings, key) == b"b"
    assert own_value(settings[2:], key) is None


def test_the_last_folder_of_hooks_counts() -> None:
    paths = [setting(b"core.hookspath", path) for path in (b"a", b"b")]
    assert hooks_path([*paths, setting(b"core.bare")]) == b"b"
    assert hooks_path([]) is None


def test_hooks_by_configuration_are_named() -> None:
    assert configured_hooks([setting(b"hook.a.b.command"), setting(b"core.hookspath")]) == (b"a.b",)


NAME = st.binary(max_size=12).filter(lambda name: not set(name) & {0, 10})
VALUE = st.none() | st.binary(max_size=20).filter(lambda value: b"\0" not in value)


@given(st.lists(st.tuples(NAME, VALUE), max_size=4))
def test_git_reads_what_is_written_as_it_was(pairs: list[tuple[bytes, bytes | None]]) -> None:
    settings = [setting(b"remote." + name + b".url", value) for name, value in pairs]
    listed = subprocess.run(
        ["git", "config", "--file", "-", "--list", "-z", "--show-scope", "--show-origin"],
        input=sealed(settings),
        capture_output=True,
        check=True,
        env={"PATH": os.environ["PATH"], "HOME": str(Path("/nowhere"))},
    ).stdout
    again = parse(listed)
    assert [(one.key, one.value) for one in again] == [(one.key, one.value) for one in settings]
