"""Examples of every kind in the table, made from a seed, so that no file of ours holds one."""

from __future__ import annotations

import base64
import random
import re
import string
from functools import cache

from cockpit.core.secret_kinds import ALPHABETS, Kind
from cockpit.core.secret_templates import Choice, Mark, Run, parts


def example(kind: Kind, number: int = 0) -> tuple[str, str]:
    """(the whole text, the secret in it), always the same for a kind and a number."""
    dice = random.Random(f"{kind.name}/{number}")
    text, begin, end = "", 0, -1
    for part in parts(kind.template):
        if isinstance(part, Run):
            text += characters(dice, part)
        elif isinstance(part, Choice):
            text += dice.choice(part.words)
        elif isinstance(part, Mark) and part.side == "<":
            begin = len(text)
        elif isinstance(part, Mark):
            end = len(text)
        else:
            text += part
    return text, text[begin : end if end >= 0 else len(text)]


def characters(dice: random.Random, run: Run) -> str:
    """What a generator draws: where letters and digits may stand, both do."""
    letters = alphabet(run.alphabet)
    count = dice.randint(run.low, run.high)
    for _ in range(100):
        drawn = "".join(dice.choice(letters) for _ in range(count))
        mixed = bool(re.search("[0-9]", drawn)) and bool(re.search("[A-Za-z]", drawn))
        if mixed or count < 6 or not ("0" in letters and "a" in letters.lower()):
            return drawn
    return drawn


@cache
def alphabet(letter: str) -> str:
    within = re.compile(f"[{ALPHABETS[letter]}]")
    return "".join(char for char in string.printable[:94] if within.match(char))


def key_block(kind: str, number: int = 0, lines: int = 12) -> str:
    """A private key as its tool writes it, with nothing in it."""
    dice = random.Random(f"pem {kind}/{number}")
    body = base64.b64encode(dice.randbytes(48 * lines)).decode()
    rows = [body[at : at + 64] for at in range(0, len(body), 64)]
    label = f"{kind}PRIVATE KEY" + (" BLOCK" if kind == "PGP " else "")
    head = ["Version: GnuPG v2", ""] if kind == "PGP " else []
    return "\n".join([f"-----BEGIN {label}-----", *head, *rows, f"-----END {label}-----"])
