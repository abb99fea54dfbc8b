"""Counts what gets through: `python -m tests.redaction.measure [design|held-out|harmless]`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from cockpit.core.redaction import Redactor
from cockpit.core.secret_kinds import KINDS, PEM_KINDS
from tests.redaction.contexts import NAMED, WRAPPING, Context, design, held_out
from tests.redaction.examples import example, key_block
from tests.redaction.harmless import harmless_lines

Case = tuple[str, str, str, str]
"""kind, context, the text, the secret as it is spelled in it"""
WINDOW = 8
"""Characters in a row of a secret that may not be left."""


def cases(choose=lambda contexts: contexts) -> Iterator[Case]:  # type: ignore[no-untyped-def]
    """Every kind in every chosen context that it can stand in."""
    named: list[Context] = choose(NAMED)
    wrapping = choose(WRAPPING)
    for kind in KINDS:
        text, secret = example(kind)
        if kind.how == "place":
            yield from ((kind.name, name, wrap(text), secret) for name, wrap in wrapping)
            continue
        if kind.how == "shape" and not kind.names:
            yield from ((kind.name, name, wrap(text), secret) for name, wrap in wrapping)
        for number, context in enumerate(named):
            if not kind.names:
                break
            key = kind.names[number % len(kind.names)]
            spelled = context.render(key, text)
            yield kind.name, context.name, spelled[0], spelled[1] if text == secret else secret
        if kind.how == "shape":
            yield from ((kind.name, f"in {name}", wrap(text), secret) for name, wrap in wrapping)
    for label in PEM_KINDS:
        yield from key_cases(label, wrapping)


def key_cases(label: str, wrapping: list) -> Iterator[Case]:  # type: ignore[type-arg]
    block = key_block(label)
    lines = block.split("\n")
    forms = {
        "whole": block,
        "without its end": "\n".join(lines[:-3]),
        "without its beginning": "\n".join(lines[3:]),
        "escaped": "\\n".join(lines),
        "numbered": "\n".join(f"{n:6}→{line}" for n, line in enumerate(lines, 1)),
        "quoted lines": "\n".join(f"> {line}" for line in lines),
        "diff": "\n".join(f"+{line}" for line in lines),
        "yaml": "key: |\n" + "\n".join(f"    {line}" for line in lines),
        "python": "KEY = (\n" + "\n".join(f'    "{line}\\n"' for line in lines) + "\n)",
        "javascript": "const key = [\n" + ",\n".join(f"  '{line}'" for line in lines) + "\n];",
        "middle": "\n".join(lines[2:-2]),
    }
    for name, text in forms.items():
        if name in ("middle", "without its beginning") and label:
            continue
        yield f"private key {label}".strip(), name, text, lines[5]
    for name, wrap in wrapping:
        if name not in ("double quoted", "single quoted"):
            yield f"private key {label}".strip(), f"in {name}", wrap(block), lines[5]


def leaks(case: Case, clean: str) -> bool:
    """Whether enough of a secret is left in a text to be worth something.

    What its vendor's or its variable's name has too says nothing of it.
    """
    kind, _, text, secret = case
    width = min(WINDOW, max(4, len(secret) // 2))
    beside = text.replace(secret, " ") + kind
    windows = (secret[at : at + width] for at in range(len(secret) - width + 1))
    return any(window in clean and window not in beside for window in windows)


def let_through(found: Iterator[Case]) -> tuple[int, list[Case]]:
    """How many cases there are, and those whose secret is still there."""
    redactor = Redactor()
    count, missed = 0, []
    for case in found:
        count += 1
        if leaks(case, redactor.redact(case[2]).text):
            missed.append(case)
    return count, missed


def touched(part: int = 0, parts: int = 1) -> tuple[int, list[tuple[str, str, str]]]:
    """How many harmless lines there are in one of several parts of equal size.

    With those that were changed: file, line, what became of it.
    """
    redactor = Redactor()
    count, changed = 0, []
    for file, line in islice(harmless_lines(), part, None, parts):
        count += 1
        clean = redactor.redact(line).text
        if clean != line:
            changed.append((file, line, clean))
    return count, changed


def tell_harmless() -> None:
    count, changed = touched()
    print(f"harmless: {len(changed)} of {count} lines changed, {len(changed) / count:.3%}")
    for file, _, clean in changed[:400]:
        print(" ", file[-40:], clean.strip()[:150])


def main(arguments: list[str]) -> None:
    which = arguments[0] if arguments else "design"
    if which == "harmless":
        tell_harmless()
        return
    choose = {"design": design, "held-out": held_out}.get(which, lambda contexts: contexts)
    count, missed = let_through(cases(choose))
    print(f"{which}: {count - len(missed)} of {count} found, {1 - len(missed) / count:.2%}")
    if "--quiet" in arguments:
        return
    for column, title in ((1, "context"), (0, "kind")):
        print(title, Counter(case[column] for case in missed).most_common(40))
    for case in missed[:: max(1, len(missed) // 25)]:
        print(" ", case[:2], repr(case[2][:150]))


if __name__ == "__main__":
    main(sys.argv[1:])
