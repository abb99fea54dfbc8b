"""A release is refused with a reason, built completely, and tried away from the checkout."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.packaging import readiness, release

LOG = """\
# Changes

Introduction.

## 1.2.3 (2026-03-01)

- New.

## 1.2.2 (2026-02-01)

- Old.
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A committed tree that can be released."""
    folder = tmp_path / "tree"
    (folder / "cockpit").mkdir(parents=True)
    (folder / "cockpit" / "__init__.py").write_text('"""X."""\n\n__version__ = "1.2.3"\n')
    (folder / "CHANGELOG.md").write_text(LOG)
    record(folder, "1.2.3")
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


def git(tree: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(tree), *arguments], check=True, capture_output=True)


def record(tree: Path, version: str) -> None:
    (tree / "tests" / "releases" / version).mkdir(parents=True)
    (tree / "tests" / "releases" / version / "database.sql").write_text("")


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "Change")


def write(tree: Path, log: str) -> None:
    (tree / "CHANGELOG.md").write_text(log)
    commit(tree)


def refusal(tree: Path) -> str:
    """Return the only reason why the tree is refused."""
    (found,) = readiness.problems(tree)
    return found


def test_a_clean_tree_with_a_dated_section_can_be_released(tree: Path) -> None:
    assert readiness.problems(tree) == []


def test_a_changed_file_is_refused(tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text(LOG + "- More.\n")

    assert refusal(tree).startswith("Not committed: CHANGELOG.md. Commit")


def test_an_untracked_file_is_refused(tree: Path) -> None:
    (tree / "cockpit" / "left.py").write_text("")

    assert refusal(tree).startswith("Not committed: cockpit/left.py. Commit")


def test_an_ignored_file_is_no_reason(tree: Path) -> None:
    (tree / ".gitignore").write_text("dist/\n")
    commit(tree)
    (tree / "dist").mkdir()
    (tree / "dist" / "cockpit-1.2.2.tar.gz").write_text("")

    assert readiness.problems(tree) == []


def test_many_changed_files_are_counted(tree: Path) -> None:
    for number in range(7):
        (tree / f"{number}.md").write_text("")

    assert refusal(tree).startswith("Not committed: 0.md, 1.md, 2.md, 3.md, 4.md and 2 more. ")


def test_a_folder_without_git_is_refused(tree: Path) -> None:
    (tree / ".git").rename(tree.parent / "elsewhere")

    assert "Run make release in a clone" in refusal(tree)


@pytest.mark.parametrize("line", ['__version__ = "1.2"', '__version__ = "1.2.3.dev1"', "x = 1"])
def test_a_version_that_cannot_be_released_is_refused(line: str, tree: Path) -> None:
    (tree / "cockpit" / "__init__.py").write_text(line + "\n")
    commit(tree)

    assert "Set it in cockpit/__init__.py" in refusal(tree)


def test_a_release_candidate_can_be_released(tree: Path) -> None:
    (tree / "cockpit" / "__init__.py").write_text('__version__ = "1.3.0rc1"\n')
    record(tree, "1.3.0rc1")
    write(tree, LOG.replace("1.2.3 (", "1.3.0rc1 ("))

    assert readiness.problems(tree) == []


@pytest.mark.parametrize("tag", ["v1.2.3", "1.2.3"])
def test_a_tagged_version_is_refused(tag: str, tree: Path) -> None:
    git(tree, "tag", tag)

    assert refusal(tree).startswith("1.2.3 is tagged already. Set the next __version__")


def test_a_tag_of_another_version_is_no_reason(tree: Path) -> None:
    git(tree, "tag", "v1.2.30")

    assert readiness.problems(tree) == []


def test_a_version_without_a_section_is_refused(tree: Path) -> None:
    write(tree, LOG.replace("## 1.2.3 (2026-03-01)", "Text"))

    assert refusal(tree).startswith('CHANGELOG.md has no section for 1.2.3. Add "## 1.2.3 (')


@pytest.mark.parametrize("note", [" (not yet released)", "", " (2026-13-01)", " (20260301)"])
def test_a_section_without_a_date_is_refused(note: str, tree: Path) -> None:
    write(tree, LOG.replace(" (2026-03-01)", note))

    assert 'Write "## 1.2.3 (YYYY-MM-DD)".' in refusal(tree)


def test_a_version_without_recorded_flights_is_refused(tree: Path) -> None:
    (tree / "tests" / "releases" / "1.2.3").rename(tree / "tests" / "releases" / "1.2.2")
    commit(tree)

    assert "Run .venv/bin/pytest tests/releases/record.py" in refusal(tree)


def test_an_empty_section_is_refused(tree: Path) -> None:
    write(tree, LOG.replace("- New.", ""))

    assert refusal(tree).endswith("is empty. Say what has changed.")


def test_a_section_below_another_is_refused(tree: Path) -> None:
    write(tree, LOG.replace("## 1.2.3", "## 1.3.0 (not yet released)\n\n- Next.\n\n## 1.2.3"))

    assert refusal(tree).startswith("The first section of CHANGELOG.md is 1.3.0, not 1.2.3.")


def test_every_reason_is_printed_and_nothing_is_built(tree: Path) -> None:
    git(tree, "tag", "v1.2.3")
    (tree / "left.py").write_text("")
    command = [sys.executable, "-m", "tests.packaging.release", "--tree", str(tree)]

    done = subprocess.run(
        command, cwd=release.CHECKOUT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert [line.split()[1] for line in done.stderr.splitlines()[1:]] == ["Not", "1.2.3"]
    assert not (tree / "dist").exists()


def test_the_wheel_is_built_from_the_sdist(tmp_path: Path) -> None:
    sdist, wheel = release.build(release.CHECKOUT, tmp_path / "dist")

    assert sorted((tmp_path / "dist").iterdir()) == sorted([sdist, wheel])
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"cockpit/__main__.py", "themes/night.toml", "cockpit.toml.example"} <= names
    assert {"README.md", "LICENSE", "pyproject.toml", "PKG-INFO"} <= names
    assert not [name for name in names if name.startswith(("tests", ".venv"))]


def test_a_failed_step_is_named_with_its_output(tmp_path: Path) -> None:
    (tmp_path / "cockpit").mkdir()
    (tmp_path / "cockpit" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "pyproject.toml").write_text("[project]\n")

    with pytest.raises(release.Failed, match=r"^Building the sdist failed with exit code 1\. .*\n"):
        release.build(tmp_path, tmp_path / "dist")


SCRIPT = """\
#!/bin/sh
case "$*" in
--version) echo "cockpit 1.2.3" ;;
--help) echo "Usage: cockpit [OPTIONS]" ;;
"config check") echo "ok" ;;
esac
"""


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("", "", ""),
        ("cockpit 1.2.3", "cockpit 1.2.2", "--version, from the wheel, printed something else"),
        ("cockpit 1.2.3", "cockpit 1.2.30", "--version, from the wheel, printed something else"),
        ("Usage", "Error", "--help, from the wheel, printed something else"),
        (
            'echo "ok"',
            'echo "no file" >&2; exit 2',
            "exit code 2. Correct this, and run again:\nno",
        ),
        ('echo "ok"', 'echo "ok"; touch "$HOME/.cockpit"', r"but wrote: \.cockpit"),
        ('echo "ok"', 'echo "${COCKPIT_HOME:-ok}"', ""),
    ],
)
def test_the_installed_command_is_tried(
    before: str, after: str, reason: str, tmp_path: Path
) -> None:
    home, command = tmp_path / "home", tmp_path / "cockpit"
    home.mkdir()
    command.write_text(SCRIPT.replace(before, after) if before else SCRIPT)
    command.chmod(0o755)

    if reason:
        with pytest.raises(release.Failed, match=reason):
            release.check_command(command, "1.2.3", home)
    else:
        release.check_command(command, "1.2.3", home)


def test_the_next_steps_name_the_files(tree: Path) -> None:
    files = [tree / "dist" / "cockpit-1.2.3.tar.gz", tree / "dist" / "cockpit-1.2.3.whl"]

    told = release.next_steps(readiness.sections(tree)[0], files)

    assert told.startswith("\ncockpit 1.2.3 (2026-03-01)\n\n- New.\n\nNothing is uploaded")
    assert "git push origin v1.2.3\n" in told
    assert "dist/cockpit-1.2.3.tar.gz" in told.splitlines()[-2]
