"""Recognise the user's standing orders that cockpit can check without guessing.

An order is checked only if its whole text has one of these forms. PATH contains a dot or a slash.
PATH and PROGRAM can be in backticks, COMMAND must be.

- never commit · do not commit · nicht committen · no hagas commit · ne fais pas de commit
- never push · do not push · nicht pushen · no hagas push · ne fais pas de push
- never force-push
- do not touch PATH (also edit, change, modify, write to) · hands off PATH · fass PATH nicht an ·
  Finger weg von PATH · no toques PATH · ne touche pas à PATH
- do not run `COMMAND`
- never use PROGRAM · use pnpm, not PROGRAM · nutze nie PROGRAM · no uses PROGRAM ·
  n'utilise pas PROGRAM; only for programs whose names have no other meaning, such as npm

An order with a condition ("never commit without signing") has none of these forms.
"""

from __future__ import annotations

import re
from typing import Literal

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.shell_words import git_command, simple_commands
from cockpit.core.steps_taken import Step

Kind = Literal["commit", "push", "force-push", "touch", "run"]

_NOT = r"(?:please )?(?:never(?: ever)?|do not(?: ever)?|don'?t(?: ever)?)"
_PATH = r"(?P<ticks>`?)(?P<about>[\w@+./-]*[./][\w@+./-]*)(?P=ticks)"
_PROGRAM = r"(?P<ticks>`?)(?P<about>bunx?|conda|docker|npm|npx|pip3?|pnpm|poetry|yarn)(?P=ticks)"
_HERE = r"(?: here| in this (?:repo|project))?"


def _git(name: str, noun: str, german: str) -> re.Pattern[str]:
    never = r"(?:nichts?|nie|niemals)"
    return deferred_pattern(
        rf"{_NOT} (?:git )?{name}(?: anything)?|no {noun}"
        rf"|(?:bitte )?(?:{never} (?:{german})|(?:{german})(?: bitte)? {never})"
        rf"|(?:por favor,? )?(?:no hagas (?:ningún )?|nunca hagas ){name}"
        rf"|ne fai(?:s|tes) (?:pas|jamais) de {name}",
        re.I,
    )


_FORMS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("commit", _git("commit", "commits", "committen|committe|commite")),
    ("push", _git("push", "pushes", "pushen|pushe|push")),
    ("force-push", deferred_pattern(rf"{_NOT} force[- ]push", re.I)),
    (
        "touch",
        deferred_pattern(
            rf"(?:{_NOT} (?:touch|edit|change|modify|write to)(?: the file| the folder)?"
            r"|hands off|finger weg von|no toques(?: nunca)?|nunca toques"
            rf"|ne touche[zr]? (?:pas|jamais)(?: à)?) {_PATH}",
            re.I,
        ),
    ),
    (
        "touch",
        deferred_pattern(
            rf"(?:bitte )?fass(?: bitte)? {_PATH} (?:bitte )?(?:nicht|nie|niemals) an", re.I
        ),
    ),
    (
        "run",
        deferred_pattern(
            rf"(?:{_NOT} use|(?:we )?use [\w`-]{{1,30}}{_HERE},? (?:and )?not"
            r"|(?:bitte )?(?:nutze?|verwende|benutze) (?:bitte )?(?:nie|niemals|kein|nicht)"
            rf"|no uses(?: nunca)?|nunca uses|n'utilise[zr]? (?:pas|jamais)) {_PROGRAM}{_HERE}",
            re.I,
        ),
    ),
    ("run", deferred_pattern(rf"{_NOT} run `(?P<about>[^`\n]{{1,200}})`", re.I)),
)
_SOURCE = deferred_pattern(
    r"\s*\((?:(?:the )?user\b|(?:in )?(?:turn|prompt|session)s? \d)[^()]{0,80}\)\s*$"
    r"|^\s*(?:in )?(?:turn|prompt|session) \d{1,6}\s*[:,]\s*",
    re.I,
)
_QUOTES = "\"'“”„«»‘* \t_"
_FORCE = ("-f", "--force", "--force-with-lease", "--force-if-includes")
_HARMLESS = {"commit": {"--dry-run", "-h", "--help"}, "push": {"-n", "--dry-run", "-h", "--help"}}


@dataclass(frozen=True, slots=True)
class Order:
    """A standing order of the user that cockpit can check."""

    text: str
    kind: Kind
    about: str = ""
    """The forbidden path or command; empty for orders about commits and pushes."""

    def is_broken_by(self, step: Step) -> bool:
        """Return whether a finished tool call broke the order.

        A failed call counts only for an order about commits, and only if git printed a commit.
        """
        if step.failed:
            return self.kind == "commit" and bool(step.committed)
        if self.kind == "touch":
            return _is_within(step.path, self.about)
        commands = simple_commands(step.command)
        if self.kind == "run":
            first = next(iter(simple_commands(self.about)), ())
            return bool(first) and any(words[: len(first)] == first for words in commands)
        return any(self._is_git(git_command(words)) for words in commands)

    def _is_git(self, git: tuple[str, ...]) -> bool:
        name = "commit" if self.kind == "commit" else "push"
        if not git or git[0] != name or _HARMLESS[name] & {*git}:
            return False
        return self.kind != "force-push" or any(
            word in _FORCE or word.startswith(("--force-with-lease=", "+")) for word in git[1:]
        )


def order(text: str) -> Order | None:
    """Parse a constraint as an order; return None if it is not an order that cockpit can check."""
    bare = _SOURCE.sub("", text.replace("’", "'"))
    bare = " ".join(bare.strip(_QUOTES).split()).rstrip(".! ").strip(_QUOTES)
    for kind, form in _FORMS:
        match = form.fullmatch(bare)
        if match is not None:
            return Order(text, kind, match.groupdict().get("about") or "")
    return None


def _is_within(path: str, about: str) -> bool:
    """Return whether a file is the named file, or is in the named folder.

    A relative name matches at any depth.
    """
    named = about.removeprefix("./").rstrip("/")
    if not path or not named:
        return False
    if named.startswith("/"):
        return path == named or path.startswith(f"{named}/")
    rooted = "/" + path.removeprefix("/")
    return rooted.endswith(f"/{named}") or f"/{named}/" in rooted
