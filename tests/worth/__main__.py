"""Score handoff documents on the corpus: `python -m tests.worth` (`make worth`).

Without options, compares cockpit's document without a model, a compaction summary and the last
messages, and writes the table into cockpit/docs/worth.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.worth.documents import (
    LAST_MESSAGES,
    Writer,
    facts,
    last_messages,
    of_file,
    summary,
    tool,
)
from tests.worth.items import Score, score
from tests.worth.session import Session, write_session
from tests.worth.stage import SESSIONS
from tests.worth.table import PAGE, kinds_table, points_table, write_page

WRITERS: dict[str, Writer] = {
    "cockpit, without a model": facts,
    "compaction summary": summary,
    f"last {LAST_MESSAGES} messages": last_messages,
}


def main(arguments: list[str]) -> int:
    asked = _parser().parse_args(arguments)
    numbers = asked.session or range(1, SESSIONS + 1)
    writers = dict(WRITERS)
    if asked.tool:
        writers = {asked.name or asked.tool.split()[0]: tool(asked.tool), **writers}
    if asked.document:
        writers = {asked.document.name: of_file(asked.document)}
    with tempfile.TemporaryDirectory(prefix="cockpit-worth-") as made:
        folder = (asked.keep or Path(made)).resolve()
        sessions = [write_session(folder / f"session-{number}", number) for number in numbers]
        scores = {name: [_score(write, one) for one in sessions] for name, write in writers.items()}
    print(points_table(scores))
    print()
    print(kinds_table(scores))
    if asked.missing:
        for name, found in scores.items():
            _print_missing(name, sessions, found)
    if asked.write:
        write_page(scores, sum(session.calls for session in sessions))
        print(f"\nWrote {PAGE.name}.")
    return 0


def _score(write: Writer, session: Session) -> Score:
    return score(write(session), session.planted, session.outdated)


def _print_missing(name: str, sessions: list[Session], scores: list[Score]) -> None:
    for session, found in zip(sessions, scores, strict=True):
        print(f"\n{name}, session {session.number} ({session.language}), {found.points:.0f} points")
        for item in found.missing:
            print(f"  missing   {item.kind:>2}  {item.name}: {' + '.join(item.terms)[:120]}")
        for old in found.stated:
            print(f"  outdated  {old.kind:>2}  {old.name}: {' + '.join(old.terms)[:120]}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.worth", description=__doc__)
    parser.add_argument(
        "--session", type=int, action="append", choices=range(1, SESSIONS + 1), metavar="N",
        help="Score session N only; can be repeated.",
    )  # fmt: skip
    parser.add_argument(
        "--document", type=Path, metavar="FILE", help="Score this document, with --session."
    )
    parser.add_argument(
        "--tool", metavar="COMMAND",
        help="Score what COMMAND prints; {transcript} and {repository} are filled in.",
    )  # fmt: skip
    parser.add_argument("--name", help="The tool's name in the table.")
    parser.add_argument("--missing", action="store_true", help="List what each document lacks.")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Write the corpus here.")
    parser.add_argument("--write", action="store_true", help="Write the table into the docs.")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
