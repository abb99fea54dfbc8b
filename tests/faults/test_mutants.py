"""That every mutant can be applied, and that its check exists."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.faults.mutants import MUTANTS, Mutant
from tests.faults.mutation import imported_instead, misfit, telling

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_the_sources(mutant: Mutant) -> None:
    assert misfit(mutant) is None
    if isinstance(mutant.check, str):
        files = [word for word in mutant.check.split() if word.endswith(".py")]
        assert files
        assert all((ROOT / name).is_file() for name in files)


def test_there_are_enough_and_no_two_of_a_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30


def test_a_mutant_that_fits_no_more_says_where_it_is_mended() -> None:
    moved = Mutant("moved", "nothing", "core/permission.py", (("no such line", ""),), "")
    assert "Mend it in tests/faults/mutants.py" in str(misfit(moved))


def test_what_is_wrong_is_told_in_a_line() -> None:
    assert telling("a\nVIOLATION x\n  two agents\n", 1) == "two agents"
    assert telling("....\nFAILED tests/x.py::test_y\n1 failed\n", 1).startswith("FAILED tests/x")


@pytest.mark.parametrize("flag", ["-S", "-I"])
def test_an_environment_that_would_run_other_sources_is_refused(tmp_path: Path, flag: str) -> None:
    """Without path files a copy is imported; a Python that ignores PYTHONPATH imports ours."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {flag} "$@"\n')
    python.chmod(0o700)
    said = imported_instead(str(python))
    assert (said is None) is (flag == "-S")
    assert said is None or "Use the environment that make sets up" in said
