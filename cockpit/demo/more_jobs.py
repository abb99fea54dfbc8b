"""More jobs, for pictures of the screens. Data only; the rules of `jobs.py` apply.

The agents of these jobs stop in different states: during a command, at a question, at a permission
dialog, or idle.
"""

from __future__ import annotations

from collections.abc import Sequence

from cockpit.demo.conversation import ToolCall
from cockpit.demo.job import TESTS, Growth, Job, Step, bash, commit, edit, look, run_tests, write
from cockpit.demo.jobs import DURATIONS, ROUNDING, WEEKS, Jobs

INVOICES = Job(
    agent="invoices",
    mode="auto",
    title="Make invoices of a time sheet.",
    request=(
        "One invoice per client and month: rates, tax, a unique number, and text to print. "
        "Each part gets its own module with tests, and its own commit. "
        "Say HANDOFF: COMPLETE when everything is in."
    ),
    milestones=("Rates", "Invoices", "Tax", "Text to print"),
    steps=(
        look("First I look at how the sheet is read and added up."),
        Step(
            "Write tally/rates.py",
            "Each task has a rate, in cents to avoid rounding errors.",
            (
                write(
                    "tally/rates.py",
                    '"""Hourly rates."""\n\nfrom collections.abc import Mapping\n\n\n'
                    "def cents(minutes: int, task: str, rates: Mapping[str, int]) -> int:\n"
                    '    """Return the price of a task; rates are in cents per hour."""\n'
                    "    return minutes * rates[task] // 60\n",
                ),
            ),
        ),
        Step(
            "Write the tests for the rates",
            "Tests: whole hours, odd minutes, and a task without a rate.",
            (
                write(
                    "tests/test_rates.py",
                    "import unittest\n\nfrom tally.rates import cents\n\n\n"
                    "class Rates(unittest.TestCase):\n"
                    "    def test_an_hour_costs_its_rate(self) -> None:\n"
                    '        self.assertEqual(cents(60, "review", {"review": 9000}), 9000)\n',
                ),
                run_tests(),
            ),
        ),
        Step(
            "Commit the rates",
            "The tests pass. I commit the rates.",
            (commit("Price minutes by task"),),
            commit="Price minutes by task",
            finishes="Rates",
        ),
        Step(
            "Write tally/invoice.py",
            "An invoice has lines and a number, which is made of the month and a count.",
            (
                write(
                    "tally/invoice.py",
                    '"""An invoice for one client and month."""\n\n'
                    "from dataclasses import dataclass\n\n\n"
                    "@dataclass(frozen=True)\n"
                    "class Line:\n"
                    "    task: str\n"
                    "    minutes: int\n"
                    "    cents: int\n\n\n"
                    "@dataclass(frozen=True)\n"
                    "class Invoice:\n"
                    "    number: str\n"
                    "    lines: tuple[Line, ...]\n\n"
                    "    @property\n"
                    "    def net(self) -> int:\n"
                    '        """Cents, without tax."""\n'
                    "        return sum(line.cents for line in self.lines)\n",
                ),
            ),
        ),
        Step(
            "Write the tests for the invoice",
            "The test checks the sum of the lines.",
            (
                write(
                    "tests/test_invoice.py",
                    "import unittest\n\nfrom tally.invoice import Invoice, Line\n\n\n"
                    "class Invoices(unittest.TestCase):\n"
                    "    def test_adds_up_its_lines(self) -> None:\n"
                    '        lines = (Line("a", 60, 9000), Line("b", 30, 4500))\n'
                    '        self.assertEqual(Invoice("2026-03-001", lines).net, 13500)\n',
                ),
                run_tests(),
            ),
        ),
        Step(
            "Commit the invoice",
            "The sums are right. I commit the invoice.",
            (commit("Add up an invoice"),),
            commit="Add up an invoice",
            finishes="Invoices",
        ),
        Step(
            "Write tally/tax.py",
            "Tax is computed per invoice, not per line, as the tax office does.",
            (
                write(
                    "tally/tax.py",
                    '"""Tax on an invoice."""\n\n\n'
                    "def tax(net: int, per_mille: int = 190) -> int:\n"
                    '    """Cents of tax, half a cent rounded up."""\n'
                    "    return (net * per_mille + 500) // 1000\n",
                ),
            ),
        ),
        Step(
            "Write the tests for the tax",
            "The edge case is half a cent.",
            (
                write(
                    "tests/test_tax.py",
                    "import unittest\n\nfrom tally.tax import tax\n\n\n"
                    "class Tax(unittest.TestCase):\n"
                    "    def test_half_a_cent_goes_up(self) -> None:\n"
                    "        self.assertEqual(tax(50, 190), 10)\n",
                ),
                run_tests(),
            ),
        ),
        Step(
            "Commit the tax",
            "Rounding is correct. I commit the third part.",
            (commit("Put tax on an invoice"),),
            commit="Put tax on an invoice",
            finishes="Tax",
        ),
        Step(
            "Write tally/numbering.py with its test",
            "The count comes from the numbers that are already used.",
            (
                write(
                    "tally/numbering.py",
                    '"""Invoice numbers."""\n\nfrom collections.abc import Iterable\n\n\n'
                    "def following(month: str, used: Iterable[str]) -> str:\n"
                    '    """Return the first unused number of the month."""\n'
                    "    taken = [int(one[-3:]) for one in used if one.startswith(month)]\n"
                    '    return f"{month}-{max(taken, default=0) + 1:03}"\n',
                ),
                write(
                    "tests/test_numbering.py",
                    "import unittest\n\nfrom tally.numbering import following\n\n\n"
                    "class Numbers(unittest.TestCase):\n"
                    "    def test_a_month_begins_with_one(self) -> None:\n"
                    '        first = following("2026-03", ["2026-02-007"])\n'
                    '        self.assertEqual(first, "2026-03-001")\n',
                ),
            ),
        ),
        Step(
            "Commit the numbering",
            "No number is used twice. I commit the numbering.",
            (run_tests(), commit("Number invoices by month")),
            commit="Number invoices by month",
        ),
        Step(
            "Add up March by hand",
            "First I add up March by hand.",
            (bash("grep 2026-03 sheet.txt | awk '{ s += $2 } END { print s }'", "Add up March"),),
        ),
        Step(
            "Compare with the report",
            "Now I compare the sum with the report.",
            (bash("python3 -m tally sheet.txt", "Add up with the report"),),
        ),
        Step(
            "Look at the sheet once more",
            "What does a month look like in the sheet?",
            (bash("cat sheet.txt", "Look at the sheet"),),
        ),
        Step(
            "Begin tally/letter.py",
            "Now the text: one line per task, with the aligned sums below.",
            (
                write(
                    "tally/letter.py",
                    '"""An invoice as text to print."""\n\n'
                    "from tally.invoice import Invoice\nfrom tally.tax import tax\n\n"
                    "WIDTH = 48\n\n\n"
                    "def letter(invoice: Invoice) -> str:\n"
                    '    """Return the lines of an invoice with its tax and total."""\n'
                    '    lines = [f"Invoice {invoice.number}", ""]\n'
                    "    lines += [row(line.task, line.cents) for line in invoice.lines]\n"
                    '    lines += ["-" * WIDTH, row("net", invoice.net)]\n'
                    '    return "\\n".join([*lines, row("tax", tax(invoice.net))])\n\n\n'
                    "def row(name: str, cents: int) -> str:\n"
                    '    return f"{name:<36}{cents / 100:12.2f}"\n',
                ),
            ),
        ),
        Step(
            "Describe the letter in the README",
            "The README should say how to print an invoice.",
            (
                edit(
                    "README.md",
                    "    python3 -m tally sheet.txt\n",
                    "    python3 -m tally sheet.txt\n"
                    "    python3 -m tally.letter sheet.txt 2026-03\n",
                ),
            ),
        ),
        Step(
            "Run everything a hundred times",
            "I run the whole suite a hundred times to find flaky tests.",
            (
                ToolCall(
                    "Bash",
                    {
                        "command": f"for run in $(seq 100); do {TESTS} || exit 1; sleep 3; done",
                        "description": "Run the tests a hundred times",
                        "timeout": 600_000,
                    },
                ),
            ),
        ),
    ),
    state="`tally/rates.py` prices minutes. Every part marked as done is committed and tested.",
    decisions=(
        "- Amounts are integers in cents, never floats.\n"
        "- Tax is rounded once per invoice, not once per line."
    ),
    dead_end="- `round()` rounds half a cent to an even number; the tax office rounds up.",
    # Slow enough that the third session is not full when it starts the long run.
    growth=Growth(step=20_000),
)

EXPORT = Job(
    agent="export",
    mode="prompt",
    title="Export the report as a spreadsheet.",
    request="Add tally/export.py. Ask before you install anything.",
    milestones=("A spreadsheet with the totals",),
    steps=(
        look("What has to be exported?"),
        Step(
            "Write tally/export.py",
            "One sheet with one row per task; the library writes the file.",
            (
                write(
                    "tally/export.py",
                    '"""The totals as a spreadsheet."""\n\nfrom openpyxl import Workbook\n',
                ),
            ),
        ),
        Step("Run the tests of the export", "The old tests should still pass.", (run_tests(),)),
        Step(
            "Install openpyxl",
            "The export needs openpyxl, which is not installed.",
            (bash("python3 -m pip install openpyxl", "Install the spreadsheet library"),),
        ),
    ),
    state="`tally/export.py` is started.",
    decisions="- One sheet, because nobody asked for more.",
    dead_end="None.",
    growth=Growth(opening=26_000, step=27_000),
    allowed="Bash(git:*),Bash(python3 -m unittest:*)",
)

HOLIDAYS = Job(
    agent="holidays",
    mode="prompt",
    title="Mark entries on public holidays.",
    request="Work on holidays is billed at a higher rate. Ask me whatever the sheet does not say.",
    milestones=("Holidays are known", "Holidays in the report"),
    steps=(
        look("Let me see which data the sheet has for a day."),
        Step(
            "Ask whose holidays count",
            "The sheet does not say where the work was done.",
            (
                ToolCall(
                    "AskUserQuestion",
                    {
                        "questions": [
                            {
                                "question": "Whose public holidays count?",
                                "header": "Holidays",
                                "multiSelect": False,
                                "options": [
                                    {
                                        "label": "The client's",
                                        "description": "The sheet has a country for each client",
                                    },
                                    {
                                        "label": "The worker's",
                                        "description": "One country for the whole sheet",
                                    },
                                ],
                            }
                        ]
                    },
                ),
            ),
        ),
    ),
    state="Nothing is changed yet.",
    decisions="None.",
    dead_end="None.",
    growth=Growth(opening=31_000, step=21_000),
)

SORTING = Job(
    agent="sorting",
    mode="prompt",
    title="Sort the totals, the largest first.",
    request="Change only the printing, not `totals`.",
    milestones=("The largest comes first",),
    steps=(
        look("The last loop of the command prints the totals."),
        Step(
            "Sort by minutes",
            "By minutes, then by name.",
            (
                edit(
                    "tally/__main__.py",
                    "in sorted(totals(entries).items()):",
                    "in sorted(totals(entries).items(), key=lambda row: (-row[1], row[0])):",
                ),
                run_tests(),
            ),
        ),
        Step(
            "Commit the order",
            "The change is small enough for one commit.",
            (commit("Print the largest total first"),),
            commit="Print the largest total first",
            finishes="The largest comes first",
        ),
        Step("Stop", "The largest total comes first now. Shall the weeks follow the same order?"),
    ),
    state="The command prints the largest total first; it is committed.",
    decisions="- Equal minutes are sorted by name, so that the order never changes by itself.",
    dead_end="None.",
    growth=Growth(opening=22_000, step=9_000),
)

MORE: Sequence[Job] = (INVOICES, EXPORT, HOLIDAYS, SORTING)

PICTURED: Jobs = {
    job.agent: job for job in (DURATIONS, EXPORT, HOLIDAYS, INVOICES, SORTING, ROUNDING, WEEKS)
}
"""The jobs of all agents in the pictures."""
