"""Render the body of a handoff document with the user's own template.

`core.composition` has the built-in layout; a template gets the same sections. The template runs
sandboxed in a separate process, with limits on time, memory and size. It gets only strings,
numbers, None and mappings of these: no files, no attributes, no other templates. If the result is
not a valid handoff document, the built-in layout is used.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from cockpit.adapters.documents.template_process import Unrendered, render_in_process
from cockpit.adapters.files.foreign_files import opened
from cockpit.core import front_matter
from cockpit.core.document import LARGEST, Document, read, validate
from cockpit.core.errors import BadConfig
from cockpit.core.front_matter import FrontMatter
from cockpit.core.markdown import plain
from cockpit.core.safetext import safe_line

LARGEST_TEMPLATE = 64 * 1024


def apply_template(text: str, template: Path) -> tuple[str, str | None]:
    """Return a composed document in the user's layout, or the unchanged document with an error.

    The error is one line for the user that contains the template's path.
    """
    try:
        return render(text, template), None
    except BadConfig as error:
        return text, f"{error.title}: {error.detail} The built-in layout was used."


def render(text: str, template: Path) -> str:
    """Return a composed document in the user's layout; the front matter stays unchanged.

    A template gets each section under its title in lower case with underscores (`goal`,
    `current_task`, …; `None.` if there is none), `sections` (title to text), `others` (the same
    for other titles), and `front` (the front matter). Exception: `goal` is only the user's request,
    without its fence; the section is `goal_section`. Raises `BadConfig`.
    """
    document = read(text)
    body = plain(_rendered(_source(template), document, template)).strip("\n")
    rendered = front_matter.dump(document.front or FrontMatter()) + "\n" + body + "\n"
    problems = [problem for problem in validate(rendered, complete=True) if not problem.mends]
    if problems:
        raise _bad(template, f"the result is not a handoff document. {problems[0]}")
    return rendered


def _rendered(source: str, document: Document, template: Path) -> str:
    try:
        return render_in_process(source, _values(document), LARGEST)
    except Unrendered as wrong:
        raise _bad(template, f"{wrong.why}.", wrong.line) from None


def _values(document: Document) -> dict[str, Any]:
    sections = dict(document.sections)
    named = {title.casefold().replace(" ", "_"): body for title, body in sections.items()}
    goal = document.goal or ""
    return named | {
        "goal": goal,
        "goal_section": sections.get("Goal", ""),
        "sections": sections,
        "others": dict(document.others),
        "front": dataclasses.asdict(document.front or FrontMatter()),
    }


def _source(template: Path) -> str:
    try:
        with opened(template) as file:
            data = file.read(LARGEST_TEMPLATE + 1)
        if len(data) > LARGEST_TEMPLATE:
            raise _bad(template, f"the template is larger than {LARGEST_TEMPLATE // 1024} KiB.")
        return data.decode()
    except OSError as error:
        raise _bad(template, f"cockpit cannot read the template: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise _bad(template, "the template is not UTF-8.") from None


def _bad(template: Path, why: str, line: int | None = None) -> BadConfig:
    where = f"{safe_line(str(template))}:{line}" if line else safe_line(str(template))
    return BadConfig(
        f"{where}: cannot use the handoff template",
        why[:1].upper() + why[1:],
        "Fix the template, or leave `handoff.template` empty.",
    )
