"""The jobs of the demo's agents, and the steps of the simulated model.

Data only. The text of every step is unique, because the script finds its position by it. An edit
also works on a file that another session wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cockpit.demo.job import TESTS, Job, Step, bash, commit, edit, ending, look, run_tests, write

ROUNDING = Job(
    agent="rounding",
    mode="auto",
    title="Let the report round every entry up to a step of minutes.",
    request=(
        "We bill by the quarter of an hour. Add tally/rounding.py with tests, use it in "
        "tally/report.py, describe it in the README, and commit as you go. "
        "Say HANDOFF: COMPLETE when everything is in."
    ),
    milestones=("Rounding with tests", "The report rounds", "The README says so"),
    steps=(
        look("I start with the code that adds up the minutes."),
        Step(
            "Write tally/rounding.py",
            "The rule gets a module of its own: rounding up, never down, and 0 for no rounding.",
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
            "Write the tests of the rounding",
            "Now its tests, the edges first.",
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
        Step("Run the tests of the rounding", "Let me see them pass.", (run_tests(),)),
        Step(
            "Commit the rounding",
            "They pass. I commit this much.",
            (commit("Round minutes up to a step"),),
            commit="Round minutes up to a step",
            finishes="Rounding with tests",
        ),
        Step(
            "Run everything three times",
            "Before the report changes I want to know that the suite is stable: three runs.",
            (
                bash(
                    f"for run in 1 2 3; do {TESTS} || exit 1; sleep 1.5; done",
                    "Run the tests three times",
                ),
            ),
        ),
        Step(
            "Let totals in tally/report.py take a step",
            "Stable. Now `totals` takes a step, 0 by default, so that nobody's sums change.",
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
            "The report rounds. I run everything and commit.",
            (run_tests(), commit("Round entries in the report")),
            commit="Round entries in the report",
            finishes="The report rounds",
        ),
        Step(
            "Describe rounding in the README",
            "Last, two lines in the README.",
            (
                bash(
                    "printf '\\nEntries are rounded up to a step: `totals(entries, 15)`.\\n' "
                    ">> README.md",
                    "Add to the README",
                ),
                commit("Describe rounding"),
            ),
            commit="Describe rounding",
            finishes="The README says so",
        ),
        ending("The report rounds every entry up to a step; three commits, all tests pass."),
    ),
    state="`tally/rounding.py` and its tests are committed and pass. The report is untouched.",
    decisions=(
        "- Every entry is rounded, not the sum: that is how it is billed.\n"
        "- A step of 0 means no rounding, so the default changes nobody's sums."
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
    milestones=("Durations with tests", "Sheets may use them"),
    steps=(
        look("First I look at how a line is read today."),
        Step(
            "Write tally/durations.py",
            "One pattern reads both spellings, and whatever it does not match is refused by name.",
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
            "Write the tests of the durations",
            "Tests for each spelling, and for what is none.",
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
        Step("Run the tests of the durations", "Do they hold?", (run_tests(),)),
        Step(
            "Commit the durations",
            "They do. The first half goes in.",
            (commit("Read durations like 1h35m"),),
            commit="Read durations like 1h35m",
            finishes="Durations with tests",
        ),
        Step(
            "Stop for a look at the first half",
            "The first half is committed: `minutes` reads 95, 95m, 1h35m and 2h, and refuses "
            "everything else. Next I change `parse`. Have a look, and tell me to go on.",
        ),
        Step(
            "Let parse in tally/entries.py read durations",
            "`parse` hands the second field to `minutes`, and a test says so.",
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
        Step("Run all tests", "And everything together.", (run_tests(),)),
        Step(
            "Commit the sheets",
            "All pass; the second half goes in.",
            (commit("Let sheets use durations"),),
            commit="Let sheets use durations",
            finishes="Sheets may use them",
        ),
        ending("A sheet may now say 1h35m; old sheets read as before."),
    ),
    # Wrong on purpose in one place: the tests are in tests/test_durations.py, and a review says so.
    state="`tally/durations.py` is committed, and `tests/test_parse.py` tests every spelling. "
    "`parse` still takes plain minutes.",
    decisions=(
        "- One pattern for both spellings, so that old sheets need no change.\n"
        "- What is no duration raises ValueError that names the text."
    ),
    dead_end="- `datetime.strptime` with `%Hh%Mm` refuses anything of 24 hours and more.",
)

WEEKS = Job(
    agent="weeks",
    mode="observe",
    title="Add a report by week.",
    request=(
        "Group the entries by ISO week in tally/weeks.py, print the weeks under the totals, "
        "test it, describe it in the README, and commit as you go. "
        "Say HANDOFF: COMPLETE when everything is in."
    ),
    milestones=("Weeks with tests", "The command prints them"),
    steps=(
        look("Let me see what an entry knows of its day."),
        Step(
            "Write tally/weeks.py",
            "ISO weeks, because a week that begins on a Monday is what the sheets mean.",
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
            "Write the tests of the weeks",
            "A test across a boundary of weeks, and one across a year.",
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
        Step("Run the tests of the weeks", "Both in one run.", (run_tests(),)),
        Step(
            "Commit the weeks",
            "Good. That is a commit.",
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
                bash(
                    "printf 'for week, minutes in sorted(by_week(entries).items()):\\n"
                    '    print(f"{minutes:6} {week}")\\n\' >> tally/__main__.py',
                    "Print the weeks",
                ),
            ),
        ),
        Step(
            "Try the command on the sheet",
            "How does it look on the sheet we have?",
            (bash("python3 -m tally sheet.txt", "Try it"), run_tests()),
        ),
        Step(
            "Commit the command",
            "That is what was asked for. I commit the command.",
            (commit("Print weeks under the totals"),),
            commit="Print weeks under the totals",
            finishes="The command prints them",
        ),
        Step(
            "Describe the weeks in the README",
            "A line for the README, and the last commit.",
            (
                bash("printf '\\nWeeks are ISO weeks.\\n' >> README.md", "Add to the README"),
                commit("Describe the weeks"),
            ),
            commit="Describe the weeks",
        ),
        ending("The command prints every ISO week under the totals; three commits."),
    ),
    state="`tally/weeks.py` is written and tested.",
    decisions="- ISO weeks: they begin on a Monday, and the first days of January may belong back.",
    dead_end="- `strftime('%W')` numbers the first days of January 0.",
    settles=False,
)

Jobs = Mapping[str, Job]
"""Each agent's job, by the agent's name."""

JOBS: Sequence[Job] = (ROUNDING, DURATIONS, WEEKS)


def jobs_for(agents: int) -> Jobs:
    """The jobs of this number of agents; from the fourth on they repeat, as `rounding-2`, ..."""
    found = {}
    for agent in range(agents):
        turn, job = agent // len(JOBS), JOBS[agent % len(JOBS)]
        found[job.agent + (f"-{turn + 1}" if turn else "")] = job
    return found
