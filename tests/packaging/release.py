"""Check, build and try a release: `make release`. Uploads nothing.

The wheel is built from the sdist, so the sdist is complete, and installed where the checkout is
not, with the versions of `requirements.lock`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.packaging import readiness

CHECKOUT = Path(__file__).parent.parent.parent
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR")
"""Variables that the installed command gets: none that names a home or a configuration."""


class Failed(Exception):
    """A step failed; the message says which, why, and what to do."""


def main() -> int:
    """Run all steps; return the exit code."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--only-build", action="store_true", help="Also if it cannot be released.")
    parser.add_argument("--tree", type=Path, default=CHECKOUT)
    options = parser.parse_args()
    tree: Path = options.tree.resolve()
    if not options.only_build and (found := readiness.problems(tree)):
        print("Not released:", *found, sep="\n- ", file=sys.stderr)
        return 1
    try:
        files = build(tree, tree / "dist")
        check_metadata(files)
        check_installed(files[-1], tree / "requirements.lock", readiness.version(tree))
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    print("Built and tried:", *(os.path.relpath(file) for file in files), sep="\n  ")
    if not options.only_build:
        print(next_steps(readiness.sections(tree)[0], files))
    return 0


def build(tree: Path, dist: Path) -> list[Path]:
    """Build the sdist from the tree, and the wheel from the sdist; return both."""
    name = f"cockpit-{readiness.version(tree)}"
    hatchling = [sys.executable, "-m", "hatchling", "build", "--directory", str(dist)]
    run("Building the sdist", [*hatchling, "--target", "sdist"], cwd=tree)
    sdist = dist / f"{name}.tar.gz"
    with tempfile.TemporaryDirectory(prefix="cockpit-sdist-") as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        run(
            "Building the wheel from the sdist",
            [*hatchling, "--target", "wheel"],
            cwd=Path(folder, name),
        )
    return [sdist, dist / f"{name}-py3-none-any.whl"]


def check_metadata(files: list[Path]) -> None:
    """Check what a package index would show. Raises `Failed`."""
    run("Checking the metadata", [sys.executable, "-m", "twine", "check", "--strict", *files])


def check_installed(wheel: Path, lock: Path, version: str) -> None:
    """Install the wheel into a new environment and run its command. Raises `Failed`."""
    with tempfile.TemporaryDirectory(prefix="cockpit-wheel-") as folder:
        environment, home = Path(folder, "venv"), Path(folder, "home")
        home.mkdir(mode=0o700)
        venv.create(environment, with_pip=True, symlinks=True)
        pip: list[str | Path] = [
            environment / "bin" / "pip",
            "--quiet",
            "--disable-pip-version-check",
        ]
        run("Installing the wheel", [*pip, "install", "--constraint", lock, wheel])
        run("Checking the installed requirements", [*pip, "check"])
        check_command(environment / "bin" / "cockpit", version, home)


def check_command(cockpit: Path, version: str, home: Path) -> None:
    """Run the installed command with an empty home. Raises `Failed`."""
    variables = {name: os.environ[name] for name in _KEPT if name in os.environ}
    variables["HOME"] = str(home)
    expected = {
        ("--version",): f"cockpit {version}",
        ("--help",): "Usage: cockpit",
        ("config", "check"): "ok",
    }
    for arguments, start in expected.items():
        step = f"cockpit {' '.join(arguments)}, from the wheel,"
        output = run(step, [cockpit, *arguments], cwd=home, env=variables)
        if not (output == start or output.startswith((f"{start}\n", f"{start} "))):
            raise Failed(f"{step} printed something else than {start!r}:\n{output}")
    if written := sorted(path.name for path in home.iterdir()):
        raise Failed(f"These commands must write nothing to HOME, but wrote: {', '.join(written)}")


def run(
    step: str,
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run a command and return what it prints. Raises `Failed` with its output."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, check=False, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        raise Failed(
            f"{step} failed with exit code {done.returncode}. Correct this, and run again:\n"
            f"{done.stdout.rstrip()}"
        )
    return done.stdout.strip()


def next_steps(section: readiness.Section, files: list[Path]) -> str:
    """Format the section of the change log, and the steps that are done by hand."""
    tag = f"v{section.version}"
    names = " ".join(os.path.relpath(file) for file in files)
    twine = f"{os.path.relpath(sys.executable)} -m twine"
    return f"""
cockpit {section.version} ({section.note})

{section.text}

Nothing is uploaded or tagged yet. Next:
  git tag --annotate {tag} --message 'cockpit {section.version}'
  git push origin {tag}
  {twine} upload {names}
Then set the next __version__, and add its section to CHANGELOG.md: "(not yet released)"."""


if __name__ == "__main__":
    sys.exit(main())
