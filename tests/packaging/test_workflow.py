"""What a forge reads is YAML, and runs only make targets that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

CHECKOUT = Path(__file__).parent.parent.parent
FILES = [*sorted((CHECKOUT / ".github").rglob("*.yml")), CHECKOUT / ".pre-commit-config.yaml"]
WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_it_is_yaml(file: Path) -> None:
    assert isinstance(yaml.safe_load(file.read_text()), dict)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda path: path.name)
def test_every_job_ends_with_a_make_target(file: Path) -> None:
    last = [job["steps"][-1]["run"].split() for job in jobs(file)]

    assert [command[0] for command in last] == ["make"] * len(last)
    assert {command[1] for command in last} <= TARGETS


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_may_only_read_and_ends_in_time(file: Path) -> None:
    assert yaml.safe_load(file.read_text())["permissions"] == {"contents": "read"}
    assert [job for job in jobs(file) if "timeout-minutes" not in job] == []


def test_pull_requests_run_tests_and_build_site_and_wheel() -> None:
    run = {job["steps"][-1]["run"] for file in WORKFLOWS for job in jobs(file)}

    wanted = {"make test", "make test-portable", "make docs", "make wheel"}
    assert wanted <= run


def test_the_tests_run_on_each_supported_system() -> None:
    systems = {job["runs-on"].split("-")[0] for file in WORKFLOWS for job in jobs(file)}
    assert systems == {"ubuntu", "macos"}


def jobs(file: Path) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(file.read_text())["jobs"]
    return list(found.values())
