"""The jobs of the demo's agents, with the steps of the simulated model.

The text of every step is unique, because the script finds the current step by this text. An edit
must work even on a file that another session wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cockpit.demo.conversation import ToolCall
from cockpit.demo.job import (
    ASK_USER,
    TESTS,
    Job,
    Step,
    bash,
    commit,
    edit,
    ending,
    look,
    run_tests,
    write,
)

ROUNDING = Job(
    agent="rounding",
    mode="auto",
    title="Let the report round every entry up to a step of minutes.",
    request=(
        "We bill in quarter hours. Add tally/rounding.py with tests, use it in "
        "tally/report.py, describe it in the README, and commit as you go. "
        "Say HANDOFF: COMPLETE when everything is in."
    ),
    milestones=("Rounding with tests", "The report rounds", "Rounding in the README"),
    steps=(
        look("I start by reading the code that adds up the minutes."),
        Step(
            "Write tally/rounding.py",
            "The rule gets its own module: always round up; a step of 0 means no rounding.",
            (
                write(
                    "tally/rounding.py",
                    '"""Rounding of minutes."""\n\n\n'
                    "def rounded_up(minutes: int, step: int) -> int:\n"
                    '    """Minutes rounded up to the next step; a step of 0 changes nothing."""\n'
                    "    return -(-minutes // step) * step if step else minutes\n",
                ),
            ),
        ),
        Step(
            "Write the tests for the rounding",
            "Now the tests, edge cases first.",
            (
                write(
                    "tests/test_rounding.py",
                    "import unittest\n\nfrom tally.rounding import rounded_up\n\n\n"
                    "class Rounding(unittest.TestCase):\n"
                    "    def test_goes_up_to_the_next_step(self) -> None:\n"
                    "        self.assertEqual(rounded_up(95, 15), 105)\n\n"
                    "    def test_leaves_what_is_on_a_step(self) -> None:\n"
                    "        self.assertEqual(rounded_up(90, 15), 90)\n\n"
                    "    def test_a_step_of_nothing_changes_nothing(self) -> None:\n"
                    "        self.assertEqual(rounded_up(95, 0), 95)\n",
                ),
            ),
        ),
        Step("Run the tests of the rounding", "I run the new tests.", (run_tests(),)),
        Step(
            "Commit the rounding",
            "The tests pass. I commit the rounding.",
            (commit("Round minutes up to a step"),),
            commit="Round minutes up to a step",
            finishes="Rounding with tests",
        ),
        Step(
            "Run everything three times",
            "Before I change the report, I run the tests three times to find flaky ones.",
            (
                bash(
                    f"for run in 1 2 3; do {TESTS} || exit 1; sleep 1.5; done",
                    "Run the tests three times",
                ),
            ),
        ),
        Step(
            "Let totals in tally/report.py take a step",
            "No test is flaky. Now `totals` gets a `step`, 0 by default, so that no sums change.",
            (
                edit(
                    "tally/report.py",
                    "def totals(entries: Iterable[Entry]) -> dict[str, int]:\n"
                    '    """Minutes per task."""\n',
                    "def totals(entries: Iterable[Entry], step: int = 0) -> dict[str, int]:\n"
                    '    """Minutes per task, every entry rounded up to the step."""\n',
                ),
                edit("tally/report.py", "+ entry.minutes", "+ rounded_up(entry.minutes, step)"),
                edit(
                    "tally/report.py",
                    "from tally.entries import Entry\n",
                    "from tally.entries import Entry\nfrom tally.rounding import rounded_up\n",
                ),
            ),
        ),
        Step(
            "Run the tests and commit the report",
            "The report rounds entries now. I run all tests and commit.",
            (run_tests(), commit("Round entries in the report")),
            commit="Round entries in the report",
            finishes="The report rounds",
        ),
        Step(
            "Describe rounding in the README",
            "Last, I describe the rounding in the README.",
            (
                bash(
                    "printf '\\nEntries are rounded up to a step: `totals(entries, 15)`.\\n' "
                    ">> README.md",
                    "Add to the README",
                ),
                commit("Describe rounding"),
            ),
            commit="Describe rounding",
            finishes="Rounding in the README",
        ),
        ending("The report rounds every entry up to a step; three commits, all tests pass."),
    ),
    state="`tally/rounding.py` and its tests are committed and pass. The report is unchanged.",
    decisions=(
        "- Every entry is rounded, not the sum, because entries are billed one by one.\n"
        "- A step of 0 means no rounding, so that the default changes no sums."
    ),
    dead_end="- `round(minutes / step)` goes to the nearest step and loses billed minutes.",
)

DURATIONS = Job(
    agent="durations",
    mode="prompt",
    title="Let a time sheet say 1h35m as well as 95.",
    request=(
        "Add tally/durations.py with tests, then let `parse` use it. Stop after the first half "
        "and let me have a look before you change `parse`: every sheet goes through it. "
        "Say HANDOFF: COMPLETE when everything is in."
    ),
    milestones=("Durations with tests", "Durations in sheets"),
    steps=(
        look("First I look at how a line is read today."),
        Step(
            "Write tally/durations.py",
            "One pattern reads both forms; any other text is refused with an error.",
            (
                write(
                    "tally/durations.py",
                    '"""Durations as people write them."""\n\nimport re\n\n'
                    'PATTERN = re.compile(r"(?:(\\d+)h)?(?:(\\d+)m?)?")\n\n\n'
                    "def minutes(text: str) -> int:\n"
                    '    """Read `95`, `95m`, `1h35m` or `2h`; raises ValueError."""\n'
                    "    found = PATTERN.fullmatch(text)\n"
                    "    if not text or not found:\n"
                    '        raise ValueError(f"not a duration: {text!r}")\n'
                    "    hours, rest = found.groups()\n"
                    "    return 60 * int(hours or 0) + int(rest or 0)\n",
                ),
            ),
        ),
        Step(
            "Write the tests for the durations",
            "Tests for each form, and for invalid texts.",
            (
                write(
                    "tests/test_durations.py",
                    "import unittest\n\nfrom tally.durations import minutes\n\n\n"
                    "class Durations(unittest.TestCase):\n"
                    "    def test_every_spelling(self) -> None:\n"
                    '        for text in ("95", "95m", "1h35m"):\n'
                    "            self.assertEqual(minutes(text), 95)\n"
                    '        self.assertEqual(minutes("2h"), 120)\n\n'
                    "    def test_refuses_the_rest(self) -> None:\n"
                    '        for text in ("", "h", "soon"):\n'
                    "            with self.assertRaises(ValueError):\n"
                    "                minutes(text)\n",
                ),
            ),
        ),
        Step("Run the tests of the durations", "Do the tests pass?", (run_tests(),)),
        Step(
            "Commit the durations",
            "The tests pass. I commit the first half.",
            (commit("Read durations like 1h35m"),),
            commit="Read durations like 1h35m",
            finishes="Durations with tests",
        ),
        Step(
            "Stop for a look at the first half",
            "The first half is committed: `minutes` reads 95, 95m, 1h35m and 2h, and refuses "
            "everything else. Next I change `parse`. Please check it, and tell me to continue.",
        ),
        Step(
            "Let parse in tally/entries.py read durations",
            "`parse` passes the second field to `minutes`. I add a test for it.",
            (
                edit("tally/entries.py", "int(minutes)", "minutes(duration)"),
                edit("tally/entries.py", "day, minutes, task =", "day, duration, task ="),
                edit(
                    "tally/entries.py",
                    "from dataclasses import dataclass\n",
                    "from dataclasses import dataclass\n\nfrom tally.durations import minutes\n",
                ),
                write(
                    "tests/test_sheet_durations.py",
                    "import unittest\n\nfrom tally.entries import parse\n\n\n"
                    "class SheetDurations(unittest.TestCase):\n"
                    "    def test_a_line_may_use_hours(self) -> None:\n"
                    '        self.assertEqual(parse("2026-03-02 1h35m writing").minutes, 95)\n',
                ),
            ),
        ),
        Step("Run all tests", "I run all tests together.", (run_tests(),)),
        Step(
            "Commit the sheets",
            "All tests pass. I commit the second half.",
            (commit("Let sheets use durations"),),
            commit="Let sheets use durations",
            finishes="Durations in sheets",
        ),
        ending("A sheet can now contain 1h35m; old sheets still work."),
    ),
    # `tests/test_parse.py` is wrong on purpose, so that the review shows a wrong file name.
    state="`tally/durations.py` is committed, and `tests/test_parse.py` tests every spelling. "
    "`parse` still reads plain minutes.",
    decisions=(
        "- One pattern for both forms, so that old sheets need no change.\n"
        "- An invalid duration raises a ValueError that contains the text."
    ),
    dead_end="- `datetime.strptime` with `%Hh%Mm` refuses anything of 24 hours and more.",
)

LOOK_UP = 'python3 -c "from datetime import date; print(date(2027, 1, 1).isocalendar())"'
USAGE = "    python3 -m tally sheet.txt"
"""The last line of the demo project's README."""
WEEKS_TEXT = "The weeks under the totals are ISO weeks: they begin on Monday."
OWN_PAGE = "On its own page"
WHERE: Mapping[str, Any] = {
    "question": "Where should the weeks be described?",
    "header": "Description",
    "multiSelect": False,
    "options": [
        {"label": "In the README", "description": "Below the command that prints them"},
        {"label": OWN_PAGE, "description": "docs/weeks.md"},
    ],
}

WEEKS = Job(
    agent="weeks",
    mode="observe",
    title="Add a report by week.",
    request=(
        "Group the entries by ISO week in tally/weeks.py, print the weeks under the totals, "
        "test it, describe it in the README, and commit as you go. "
        "Say HANDOFF: COMPLETE when everything is in."
    ),
    milestones=("Weeks with tests", "Weeks in the command"),
    steps=(
        look("Let me see how an entry stores its day."),
        Step(
            "Look up how Python numbers weeks",
            "The first week of a year needs care. I ask Python for the week of 1 January 2027.",
            (bash(LOOK_UP, "Print the ISO week of 1 January 2027"),),
            asks=LOOK_UP,
        ),
        Step(
            "Write tally/weeks.py",
            "I use ISO weeks, because the sheets' weeks begin on Monday.",
            (
                write(
                    "tally/weeks.py",
                    '"""A time sheet by week."""\n\nfrom collections.abc import Iterable\n'
                    "from datetime import date\n\nfrom tally.entries import Entry\n\n\n"
                    "def by_week(entries: Iterable[Entry]) -> dict[str, int]:\n"
                    '    """Minutes per ISO week, as in `2026-W10`."""\n'
                    "    sums: dict[str, int] = {}\n"
                    "    for entry in entries:\n"
                    "        year, week, _ = date.fromisoformat(entry.day).isocalendar()\n"
                    '        key = f"{year}-W{week:02}"\n'
                    "        sums[key] = sums.get(key, 0) + entry.minutes\n"
                    "    return sums\n",
                ),
            ),
        ),
        Step(
            "Write the tests for the weeks",
            "One test for the end of a week, and one for the end of a year.",
            (
                write(
                    "tests/test_weeks.py",
                    "import unittest\n\nfrom tally.entries import Entry\n"
                    "from tally.weeks import by_week\n\n\n"
                    "class Weeks(unittest.TestCase):\n"
                    "    def test_a_week_ends_on_sunday(self) -> None:\n"
                    '        days = ("2026-03-08", "2026-03-09")\n'
                    '        entries = [Entry(day, 10, "x") for day in days]\n'
                    '        self.assertEqual(by_week(entries), {"2026-W10": 10, '
                    '"2026-W11": 10})\n\n'
                    "    def test_the_first_days_of_a_year(self) -> None:\n"
                    '        entries = [Entry("2027-01-01", 5, "x")]\n'
                    '        self.assertEqual(by_week(entries), {"2026-W53": 5})\n',
                ),
            ),
        ),
        Step("Run the tests of the weeks", "I run both tests.", (run_tests(),)),
        Step(
            "Commit the weeks",
            "Both tests pass. I commit the weeks.",
            (commit("Add up by ISO week"),),
            commit="Add up by ISO week",
            finishes="Weeks with tests",
        ),
        Step(
            "Print the weeks",
            "The command prints the weeks under the totals.",
            (
                edit(
                    "tally/__main__.py",
                    "from tally.report import totals\n",
                    "from tally.report import totals\nfrom tally.weeks import by_week\n",
                ),
                edit(
                    "tally/__main__.py",
                    '    print(f"{minutes:6} {task}")\n',
                    '    print(f"{minutes:6} {task}")\n'
                    "for week, minutes in sorted(by_week(entries).items()):\n"
                    '    print(f"{minutes:6} {week}")\n',
                ),
            ),
        ),
        Step(
            "Try the command on the sheet",
            "I try it on the existing sheet.",
            (bash("python3 -m tally sheet.txt", "Try it"), run_tests()),
        ),
        Step(
            "Commit the command",
            "The output is right. I commit the command.",
            (commit("Print weeks under the totals"),),
            commit="Print weeks under the totals",
            finishes="Weeks in the command",
        ),
        Step(
            "Ask where to describe the weeks",
            "Only the description is left. I ask where it belongs.",
            (ToolCall(ASK_USER, {"questions": [WHERE]}),),
            asks=str(WHERE["question"]),
        ),
        Step(
            "Describe the weeks",
            "I write the description in that file, and make the last commit.",
            (
                edit("README.md", f"{USAGE}\n", f"{USAGE}\n\n{WEEKS_TEXT}\n"),
                commit("Describe the weeks"),
            ),
            commit="Describe the weeks",
            instead={
                OWN_PAGE: (
                    write("docs/weeks.md", f"# Weeks\n\n{WEEKS_TEXT}\n"),
                    commit("Describe the weeks"),
                )
            },
        ),
        ending("The command prints every ISO week under the totals; three commits."),
    ),
    state="`tally/weeks.py` is written and tested.",
    decisions="- ISO weeks begin on Monday. Early January can belong to the previous year.",
    dead_end="- `strftime('%W')` returns week 0 for the first days of January.",
    settles=False,
    # `LOOK_UP` is missing here, so that the demo shows a permission dialog.
    allowed="Bash(git:*),Bash(ls:*),Bash(cat:*),Bash(python3 -m unittest:*),"
    "Bash(python3 -m tally:*)",
)

Jobs = Mapping[str, Job]
"""Each agent's job, by the agent's name."""

JOBS: Sequence[Job] = (ROUNDING, DURATIONS, WEEKS)


def jobs_for(agents: int) -> Jobs:
    """Return the jobs of this number of agents.

    After the third job, the jobs repeat, with new names of agents: `rounding-2`, ...
    """
    jobs = {}
    for agent in range(agents):
        turn, job = agent // len(JOBS), JOBS[agent % len(JOBS)]
        jobs[job.agent + (f"-{turn + 1}" if turn else "")] = job
    return jobs


def answers_needed(jobs: Jobs) -> frozenset[str]:
    """Return the commands and questions of these jobs that the user must answer."""
    steps = [step for job in jobs.values() for step in job.steps]
    return frozenset(step.asks for step in steps if step.asks is not None)
