"""A host is added and removed, and every other line stays as it is written."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from cockpit.config.file import read_config_file
from cockpit.config.hooks import Host
from cockpit.config.host_entries import add_host, host_name, remove_host
from cockpit.config.paths import Places
from cockpit.config.trust import is_trusted, trust
from cockpit.core.errors import BadConfig, BadUsage, Failed

WRITTEN = """\
# top
[cockpit]
theme = "night"  # dark

# my machines
[[hosts]]
name = "a"   # the first
connect = [
  "ssh",  # not mosh
  "a",
]

# the one with the GPU
[[ hosts ]]
name = "b"
connect = ["ssh", "b"]

# what keys do
[keys]
quit = "ctrl+q"
"""
NEW = Host(name="c", connect=("docker", "exec", "-i", "it's"), attach=("docker", "exec", "-it"))


@pytest.fixture
def places(own_home: Path) -> Places:
    return Places.of(os.environ)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cockpit.toml"
    path.write_text(WRITTEN)
    path.chmod(0o600)
    return path


def test_a_host_is_added_after_the_others_and_removed_without_a_trace(
    places: Places, file: Path
) -> None:
    add_host(places, file, NEW)

    text = file.read_text()
    assert text.index('"b"') < text.index('"c"') < text.index("# what keys do")
    assert [host["name"] for host in tomllib.loads(text)["hosts"]] == ["a", "b", "c"]
    assert tomllib.loads(text)["hosts"][2] == NEW.model_dump(mode="json")
    assert set(WRITTEN.splitlines()) <= set(text.splitlines())
    assert file.stat().st_mode & 0o777 == 0o600
    assert remove_host(places, file, "c")
    assert file.read_text() == WRITTEN


@pytest.mark.parametrize("name", ["a", "b"])
def test_comments_around_a_removed_host_stay(places: Places, file: Path, name: str) -> None:
    assert remove_host(places, file, name)

    text = file.read_text()
    for comment in ("# top", "# dark", "# my machines", "# the one with the GPU", "# what keys do"):
        assert comment in text
    (left,) = tomllib.loads(text)["hosts"]
    assert left["name"] == ({"a", "b"} - {name}).pop()
    assert "\n\n\n" not in text


def test_the_last_host_is_removed(places: Places, file: Path) -> None:
    assert remove_host(places, file, "a")
    assert remove_host(places, file, "b")
    assert not remove_host(places, file, "b")

    assert "hosts" not in tomllib.loads(file.read_text())
    add_host(places, file, NEW)
    assert tomllib.loads(file.read_text())["hosts"][0]["name"] == "c"
    assert tomllib.loads(file.read_text())["keys"] == {"quit": "ctrl+q"}


@pytest.mark.parametrize("text", ["", "# only this", "[keys]\nquit = 'q'", "\r\n# cr\r\n"])
def test_a_file_without_hosts_gets_its_first(places: Places, file: Path, text: str) -> None:
    file.write_bytes(text.encode())

    add_host(places, file, NEW)

    written = file.read_bytes().decode()
    assert written.startswith(text.rstrip("\r\n"))
    assert tomllib.loads(written)["hosts"][0]["connect"] == list(NEW.connect)


def test_a_new_file_is_made_with_its_folder(places: Places, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cockpit.toml"

    add_host(places, path, NEW)

    assert tomllib.loads(path.read_text())["hosts"][0]["name"] == "c"
    assert not remove_host(places, tmp_path / "nowhere.toml", "c")


def test_a_name_that_is_taken_is_refused(places: Places, file: Path) -> None:
    with pytest.raises(BadConfig, match='host "b" already exists'):
        add_host(places, file, Host(name="b", connect=("ssh", "b")))
    assert file.read_text() == WRITTEN


@pytest.mark.parametrize(
    "text",
    [
        'hosts = [{name = "a", connect = ["ssh", "a"]}]\n',
        'x = """\n[[hosts]]\n"""\n[[hosts]]\nname = "a"\nconnect = ["ssh", "a"]\n',
    ],
)
def test_a_form_that_lines_cannot_change_is_left_as_it_is(
    places: Places, file: Path, text: str
) -> None:
    file.write_text(text)

    with pytest.raises(Failed, match="Cannot change the hosts"):
        remove_host(places, file, "a")
    assert file.read_text() == text


def test_hosts_that_are_no_tables_are_refused(places: Places, file: Path) -> None:
    file.write_text("hosts = 3\n")

    with pytest.raises(BadConfig, match="not written as"):
        add_host(places, file, NEW)


def test_a_trusted_file_stays_trusted_and_another_does_not_become_so(
    places: Places, file: Path
) -> None:
    add_host(places, file, NEW)
    assert not is_trusted(places, read_config_file(file, follow_links=True))
    trust(places, file)
    remove_host(places, file, "c")
    assert is_trusted(places, read_config_file(file, follow_links=True))
    add_host(places, file, NEW)
    assert is_trusted(places, read_config_file(file, follow_links=True))


@pytest.mark.parametrize(
    ("name", "other"),
    [("local", "gpu1"), ("any", "gpu1"), ("GPU 1", "gpu-1"), ("-x", "x"), ("a/b", "a-b")],
)
def test_a_name_that_cannot_be_one_gets_another(name: str, other: str) -> None:
    with pytest.raises(BadUsage) as caught:
        host_name(name)
    assert caught.value.hint == f"Try: {other}"
    assert host_name(other) == other
