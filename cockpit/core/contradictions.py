"""Find statements of a document that the transcript's last checks and failures contradict.

Compares only lines that name tests, lint, build or a failed command, and that claim success. Skips
lines with a negation, a condition, a plan or a past tense, because the claim in such a line is
uncertain. Reads English, German, Spanish and French.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cockpit.core.document import Document
from cockpit.core.facts import Check, Failure
from cockpit.core.markdown import code, one_line

_SUBJECT = {
    "test": r"(?:unit|integrations?)?[- ]?(?:tests?|test ?suite|testsuite|pytest|suite|pruebas?)",
    "lint": r"(?:lint(?:er|ing)?|type ?checks?|typprüfung|ruff|mypy|eslint)",
    "build": r"(?:build|kompilierung|compilación|compilation)",
}
_PASSES = (
    r"(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|clean"
    r"|grün|durch|besteht|bestehen|bestanden|erfolgreich|sauber|fehlerfrei"
    r"|pasan?|pasad[oa]s?|verdes?|limpi[oa]|exitos[oa]s?"
    r"|passent|verte?s?|réussie?s?|propre)"
)
_FAILS = re.compile(
    r"\b(?:fail\w*|red|broken|errors?|crash\w*|fehl\w*|schl(?:ägt|agen)|rot|kaputt|falla\w*|fallo|roj[oa]s?"
    r"|rot[oa]s?|échou\w*|échec|rouges?|cassée?s?)\b",
    re.IGNORECASE,
)
_WORKS = (
    rf"(?:works?|{_PASSES}|fixed|läuft|funktioniert|klappt|behoben|funciona|arreglad[oa]|marche"
    r"|fonctionne|corrigée?)"
)
_UNCERTAIN = re.compile(
    r"\b(?:not|never|no|until|when|once|if|should|must|will|before|after|since|except|fail\w*|red"
    r"|broken|make|ensure|verify|check that|todo|next|earlier|were|was|had|some|most|only|last time"
    r"|nicht|nie|kein\w*|bis|wenn|falls|sobald|soll\w*|muss|müssen|wird|werden|vor|nach|seit|außer"
    r"|fehl\w*|rot|zuvor|vorher|früher|zuletzt|war|waren|hatte\w*|einige|meisten|nur|damit|erst|noch"
    r"|nunca|hasta|cuando|una vez|si|debe\w*|hay que|antes|después|desde|salvo|excepto|falla\w*"
    r"|roj[oa]s?|era\w*|estab\w*|algun\w*|casi|s[oó]lo|asegur\w*|comprob\w*|para que|todavía|aún"
    r"|ne|pas|jamais|quand|doi\w*|avant|après|depuis|sauf|échou\w*|rouges?|étai\w*|quelques"
    r"|seulement|encore|pour que)\b|n['’]t\b|\bn['’]|\?|\[ \]",
    re.IGNORECASE,
)
_OWN = frozenset({"Goal", "Verified Facts", "Next Steps"})
"""Sections that the user or cockpit wrote, or that contain planned work."""
_CODE = re.compile(r"`[^`\n]+`")


def contradictions(
    document: Document, checks: Sequence[Check], failures: Sequence[Failure] = ()
) -> tuple[str, ...]:
    """Return a line (claim and result) for each check or failure that the document contradicts."""
    lines = _lines(document, _OWN)
    contradicted = [point for check in checks for point in _against(check, lines)]
    return (
        *contradicted,
        *(point for failure in failures for point in _against_failure(failure, lines)),
    )


def silent_about(document: Document, checks: Sequence[Check]) -> tuple[str, ...]:
    """Return one line for each failed check that the document does not mention."""
    lines = _lines(document, {"Goal", "Verified Facts"})
    unmentioned = [
        check for check in checks if check.failed is True and not _mentions(check, lines)
    ]
    return tuple(
        f"{_ran(check)} failed{_result(check)} (turn {check.turn})" for check in unmentioned
    )


def _lines(document: Document, but: Iterable[str]) -> list[str]:
    bodies = [body for title, body in document.sections.items() if title not in but]
    return [line.strip() for body in bodies for line in body.split("\n")]


def _against(check: Check, lines: Sequence[str]) -> Iterator[str]:
    if check.failed is None or (not check.failed and not check.edited_since):
        return
    subject = _SUBJECT[check.kind]
    claim = re.compile(
        rf"\b{subject}\b[^,;:.]{{0,30}}\b{_PASSES}\b|\b(?:green|passing|clean|grüne[rsn]?|saubere[rsn]?)"
        rf"\s+{subject}\b",
        re.IGNORECASE,
    )
    for line in lines:
        if claim.search(line) and not _UNCERTAIN.search(line):
            but = f"{_ran(check)} of the transcript failed{_result(check)}"
            if not check.failed:
                but = f"files were edited after {_ran(check)} of the transcript passed"
            yield f'the document says "{one_line(line, 200)}", but {but} (turn {check.turn})'
            return


def _against_failure(failure: Failure, lines: Sequence[str]) -> Iterator[str]:
    """Yield a contradiction if a line claims that a failed command works.

    The line must contain the command as code. Yields nothing if a later call succeeded.
    """
    command = _command(failure)
    if failure.worked or not command:
        return
    for line in lines:
        named = any(span.strip("`").strip() == command for span in _CODE.findall(line))
        rest = _CODE.sub(" ", line)
        if (
            named
            and re.search(rf"\b{_WORKS}\b", rest, re.IGNORECASE)
            and not _UNCERTAIN.search(rest)
        ):
            error = one_line(failure.error, 100)
            yield (
                f'the document says "{one_line(line, 200)}", but {code(command, 100)} failed, '
                f'"{error}", and did not succeed later (turn {failure.turn})'
            )
            return


def _command(failure: Failure) -> str:
    """Return the shell command in the description of a failed call; empty if there is none."""
    call = failure.call
    if call.startswith("Bash "):
        return call.removeprefix("Bash ")
    return call.partition(": ")[2]


def _mentions(check: Check, lines: Sequence[str]) -> bool:
    """Return whether a line seems to report the failed check.

    The line contains the check's result; or it names the kind of check or the program, with a word
    for a failure or for doubt.
    """
    subject = re.compile(rf"\b{_SUBJECT[check.kind]}", re.IGNORECASE)
    program = check.command.partition(" ")[0].casefold()
    result = check.result.casefold()
    for line in lines:
        folded = line.casefold()
        is_named = subject.search(line) is not None or (program and program in folded)
        if (result and result in folded) or (is_named and _UNCERTAIN.search(line)):
            return True
        if is_named and _FAILS.search(line):
            return True
    return False


def _ran(check: Check) -> str:
    return f"the last {check.kind} command"


def _result(check: Check) -> str:
    return f', "{one_line(check.result, 100)}"' if check.result else ""
