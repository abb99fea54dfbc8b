"""Measure whether tests take every branch of the rules that must not fail, within a run of pytest.

With `PYTEST_PLUGINS=tests.branches` a run fails unless the tests of `TESTS` take every branch of
the modules in pyproject.toml, `tool.coverage.run`. The other tests of the run are not measured:
what they take by chance proves nothing. `make test` runs all tests so, `make branches` only these.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from coverage import Coverage

ROOT = Path(__file__).parents[1]
TESTS = frozenset(
    ROOT / "tests" / name
    for name in (
        # What decides about handoffs, secrets and permission modes.
        "core/handoff/test_advance.py",
        "core/handoff/test_details.py",
        "core/test_git_settings.py",
        "core/test_permission.py",
        "core/test_redaction.py",
        "redaction/test_table.py",
        # What recovers.
        "supervisor/agents/test_blocked.py",
        "supervisor/agents/test_exit_reason.py",
        "supervisor/history/test_document_chains.py",
        "supervisor/history/test_rebuild.py",
        "supervisor/sessions/test_adopt.py",
        "supervisor/sessions/test_reattach.py",
        "supervisor/sessions/test_undo.py",
    )
)


QUIET = ["module-not-imported", "no-data-collected"]
"""Warnings of coverage about one process; `unmeasured` looks at all of them."""
FOLDER = "COCKPIT_BRANCHES"
"""The variable with the folder in which the processes of a run put their measurements."""
PLUGINS = "PYTEST_PLUGINS"


def _coverage(folder: str, *, of_one_process: bool) -> Coverage:
    made = Coverage(
        data_file=str(Path(folder, "branches")),
        data_suffix=of_one_process,
        config_file=str(ROOT / "pyproject.toml"),
        messages=False,
    )
    made.set_option("run:disable_warnings", QUIET)
    return made


def must_be_measured(coverage: Coverage) -> list[str]:
    """Names of modules and packages."""
    asked = coverage.get_option("run:source")
    assert isinstance(asked, list)
    return asked


def import_whole(name: str) -> None:
    """Import a module; of a package all modules."""
    module = import_module(name)
    for inner in iter_modules(getattr(module, "__path__", ())):
        import_whole(f"{name}.{inner.name}")


def unmeasured(coverage: Coverage) -> list[str]:
    """Modules that must be measured and that were not imported; coverage passes over them."""
    places = {name: ROOT.joinpath(*name.split(".")) for name in must_be_measured(coverage)}
    measured = [Path(file) for file in coverage.get_data().measured_files()]
    return [
        name
        for name, place in places.items()
        if not any(file.with_suffix("") == place or place in file.parents for file in measured)
    ]


class Measuring:
    """Measures in the process that runs the tests: the imports, then each test of `TESTS`.

    What must be measured is imported here, before anything else does: to measure the collection of
    all tests took 4 seconds of processor time in each worker.
    """

    def __init__(self, folder: str) -> None:
        self._coverage = _coverage(folder, of_one_process=True)
        self._coverage.start()
        for name in must_be_measured(self._coverage):
            import_whole(name)
        self._coverage.stop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if item.path not in TESTS:
            return (yield)
        self._coverage.start()
        try:
            return (yield)
        finally:
            self._coverage.stop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._coverage.save()


class Judging:
    """Fails the run where a branch was not taken, in the process that has the last word."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._report = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        yield
        if session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        coverage = _coverage(self._folder, of_one_process=False)
        coverage.combine([self._folder])
        report = io.StringIO()
        total = coverage.report(file=report, skip_covered=True)
        missing = unmeasured(coverage)
        if total < 100 or missing:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self._report = report.getvalue() + "".join(f"{name} was not measured\n" for name in missing)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("branches")
        terminalreporter.write(self._report)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Measure where tests run, judge where they were started; without workers both are here."""
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    if not is_worker:
        folder = tempfile.TemporaryDirectory(prefix="branches")
        early_config.add_cleanup(folder.cleanup)
        os.environ[FOLDER] = folder.name
        early_config.pluginmanager.register(Judging(folder.name))
    if is_worker or not getattr(early_config.known_args_namespace, "numprocesses", None):
        # A pytest that a test starts is another run.
        os.environ.pop(PLUGINS, None)
        early_config.pluginmanager.register(Measuring(os.environ.pop(FOLDER)))


def main(arguments: list[str]) -> int:
    """Run only the tests that are measured."""
    os.environ[PLUGINS] = "tests.branches"
    return pytest.main([*arguments, *map(str, sorted(TESTS))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
