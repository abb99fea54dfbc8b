"""Taking one file from the disk: only what nobody else could have written, and only text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cockpit.config.file import LARGEST_FILE, dotted, read_config_file
from cockpit.core.errors import BadConfig


def _refused(path: Path, *, follow_links: bool = False) -> BadConfig:
    with pytest.raises(BadConfig) as caught:
        read_config_file(path, follow_links=follow_links)
    return caught.value


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cockpit.toml"
    path.write_text('[cockpit]\ntheme = "day"\n')
    return path


def test_a_good_file_is_data_with_lines(file: Path) -> None:
    read = read_config_file(file, follow_links=False)
    assert read.data == {"cockpit": {"theme": "day"}}
    assert read.line_of(("cockpit", "theme")) == 2


def test_a_byte_order_mark_is_no_fault(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert read_config_file(file, follow_links=False).data == {"cockpit": {"theme": "day"}}


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ('[cockpit]\ntheme = "day\n', "2", "column 13"),
        ("[cockpit]\ntheme = day\n", "2", "Invalid value"),
        ("[cockpit\n", "1", "column"),
        ("[a]\n[a]\n", "2", "twice"),
        ('x = 1\ny = "', "2", "end of the file"),
        ('x = "a\x01b"\n', "1", "x01"),
    ],
)
def test_a_syntax_error_has_its_line(file: Path, text: str, place: str, reason: str) -> None:
    file.write_text(text)
    error = _refused(file)
    assert error.title == f"{file}:{place}: not valid TOML"
    assert reason in error.detail
    assert error.detail.isprintable()


def test_another_encoding_is_refused_with_its_line(file: Path) -> None:
    file.write_bytes(b'# a\n# b\ntheme = "caf\xe9"\n')
    assert _refused(file).title == f"{file}:3: not UTF-8"


def test_a_nul_byte_is_refused_with_its_line(file: Path) -> None:
    file.write_bytes(b"# a\n\0\n")
    assert _refused(file).title.startswith(f"{file}:2: a NUL byte")


def test_a_huge_file_is_refused(file: Path) -> None:
    file.write_bytes(b"#" * 10 * 1024 * 1024)
    assert _refused(file).title == f"{file}: too large"
    file.write_bytes(b"#" * LARGEST_FILE)
    read_config_file(file, follow_links=False)


def test_deep_nesting_is_refused(file: Path) -> None:
    file.write_text("x = " + "[" * 5000 + "]" * 5000)
    assert str(file) in _refused(file).title


def test_a_missing_file_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    assert "No such file" in _refused(tmp_path / "none").detail
    assert _refused(tmp_path).title == f"{tmp_path}: not a regular file"
    os.mkfifo(tmp_path / "pipe")
    assert _refused(tmp_path / "pipe").title.endswith("not a regular file")


def test_a_link_counts_only_where_the_pilot_keeps_it(file: Path) -> None:
    link = file.with_name("link.toml")
    link.symlink_to(file)
    assert read_config_file(link, follow_links=True).data
    assert _refused(link).title == f"{link}: is a symbolic link"


def test_a_link_that_leads_nowhere_is_refused(file: Path) -> None:
    link = file.with_name("link.toml")
    link.symlink_to(file.with_name("gone"))
    assert "cannot be read" in _refused(link, follow_links=True).title


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666, 0o620])
def test_a_file_that_others_can_write_is_refused_with_the_remedy(file: Path, mode: int) -> None:
    file.chmod(mode)
    error = _refused(file)
    assert error.title == f"{file}: other users can write to it"
    assert error.hint == f"chmod go-w {file}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(file: Path) -> None:
    os.chown(file, 12345, 12345)
    assert _refused(file).title == f"{file}: belongs to another user"


def test_a_path_that_could_move_the_cursor_is_shown_escaped(tmp_path: Path) -> None:
    error = _refused(tmp_path / "a\x1b[2J.toml")
    assert "\x1b" not in str(error)


def test_keys_are_shown_as_toml_spells_them_and_counted_from_one() -> None:
    assert dotted(("agents", 0, "hooks", "on_error", 1)) == "agents[1].hooks.on_error[2]"
    assert dotted(("keys", "a b")) == "keys.'a b'"
