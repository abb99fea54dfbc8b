"""How long it takes to take secrets out of a text as long as a large tool result."""

from __future__ import annotations

import random
import string
import time
from pathlib import Path

from cockpit.core.redaction import Redactor
from tests.bench.rows import row

LENGTH = 250_000
ROUNDS = 7
GOAL = 25.0
"""Milliseconds."""


def main() -> None:
    sources = sorted((Path(__file__).parents[2] / "cockpit").rglob("*.py"))
    text = "\n".join(file.read_text() for file in sources)[:LENGTH]
    for count in (0, 10, 40):
        row(
            f"redact {LENGTH // 1000} kB, {count} known values",
            milliseconds(Redactor(secrets(count)), text),
            "ms",
            at_most=GOAL,
        )
    repeated = "password=" * (LENGTH // len("password="))
    row(f"redact {LENGTH // 1000} kB of `password=`", milliseconds(Redactor(), repeated), "ms")


def secrets(count: int) -> list[str]:
    """Made-up values as a password generator makes them."""
    chance = random.Random(1)
    letters = string.ascii_letters + string.digits + "$%&!/+"
    return ["".join(chance.choices(letters, k=24)) for _ in range(count)]


def milliseconds(redactor: Redactor, text: str) -> float:
    """Processor time of the quickest round: other programs are not counted."""
    redactor.redact(text)
    times = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        redactor.redact(text)
        times.append(time.process_time() - begun)
    return min(times) * 1000


if __name__ == "__main__":
    main()
