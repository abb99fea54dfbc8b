"""Parse tool results of a Claude Code transcript: output, refusals, answers, plans and documents.

The CLI writes each result twice: for the model, and in its own form as `toolUseResult`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from cockpit.adapters.transcripts.quoted_answers import ANSWERS_KEPT, quoted_answers
from cockpit.core.session import (
    DocumentShown,
    Identified,
    PlanRecorded,
    SessionEvent,
    ToolFinished,
)

Record = dict[str, Any]

RESULT_KEPT = 2_000
"""Maximum characters of a tool's result in an event."""
TAIL_KEPT = 1_000
"""Maximum characters of the end of a result that is longer than `RESULT_KEPT`."""
LONGEST_MONITOR = 10**10
"""A background monitor whose time limit in milliseconds is at least this counts as one without a
time limit."""
SUBAGENT_STATUS = {
    "async_launched": "running",
    "running": "running",
    "completed": "completed",
    "killed": "stopped",
    "stopped": "stopped",
}
_LOG = re.compile(r"Output is being written to: (/\S+?\.output)(?=[.\s]|$)")
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,3})\b")
_REFUSED = "user-rejected"
_INTERRUPTED = ("interrupted", "cancelled")
_REFUSAL = re.compile(
    r"(?:The user doesn't want to (?:proceed with this tool use|take this action right now)"
    r"|The agent proposed a plan that was rejected by the user)"
)
_SAID = re.compile(
    r"(?:the user said:|The user said:|provided the following reason for the rejection:)\s*"
)
_NOTE = "\n\nNote: The user's next message may contain a correction or preference."
_CLARIFY = "The user wants to clarify these questions."
_ASKED = re.compile(r'^\s*- "(.*)"\n\s*Answer: (.*)$', re.MULTILINE)
_GOAL = re.compile(r"^#{1,2}\s[^\n]*\bgoal\b", re.IGNORECASE | re.MULTILINE)


def result_events(
    record: Record, block: Record, sidechain: bool, at: datetime | None
) -> Iterator[SessionEvent]:
    """Yield the events of one tool result, including those about a model, a plan or a document in
    it."""
    details = record.get("toolUseResult")
    details = details if isinstance(details, dict) else {}
    yield _finished(record, block, details, sidechain, at)
    model = details.get("resolvedModel")
    if isinstance(model, str) and "[1m]" in model:
        yield Identified(model=model)
    if sidechain:
        return
    plan, file = details.get("plan"), details.get("filePath")
    if isinstance(plan, str) and plan.strip() and "isAgent" in details:
        yield PlanRecorded(plan, file if isinstance(file, str) else "")
    yield from shown_document(details.get("file"))


def shown_document(file: object) -> Iterator[DocumentShown]:
    """Yield a file that was shown to the model, if it is Markdown with "goal" in a heading."""
    if not isinstance(file, Mapping):
        return
    path, text = file.get("filePath"), file.get("content")
    if isinstance(path, str) and isinstance(text, str) and path.casefold().endswith(".md"):
        # Imported here, because the import is slow and token counts do not need it.
        from cockpit.core.document import LARGEST

        text = text[:LARGEST]
        if _GOAL.search(text):
            yield DocumentShown(path, text)


def _finished(
    record: Record, block: Record, details: Record, sidechain: bool, at: datetime | None
) -> ToolFinished:
    failed = block.get("is_error") is True
    agent, status = _subagent(details, failed)
    text, tail = output_of(_reported(details) or block.get("content"))
    task = details.get("taskId" if "timeoutMs" in details else "backgroundTaskId")
    log = _LOG.search(text) if isinstance(task, str) else None
    refused, refusal = _refusal(record, text, failed)
    kind = record.get("toolDenialKind")
    answers = answers_of(details, text)
    return ToolFinished(
        tool_use_id=str(block.get("tool_use_id", "")),
        failed=failed,
        text=text,
        tail=tail,
        exit=_exit(details, text, failed),
        refused=refused,
        refusal="" if refusal.startswith(_CLARIFY) else refusal,
        interrupted=kind in _INTERRUPTED or details.get("interrupted") is True,
        answers=answers,
        agent_id=agent,
        agent_status=status,
        task_id=task if isinstance(task, str) and task else None,
        task_log=log[1] if log else "",
        task_until=_until(details, at),
        sidechain=sidechain,
        at=at,
    )


def _until(details: Record, began: datetime | None) -> datetime | None:
    """Return the time at which the CLI ends the monitor that a call started; None if the monitor
    has no time limit, or if the call started no monitor."""
    limit = details.get("timeoutMs")
    if began is None or details.get("persistent") is not False or type(limit) is not int:
        return None
    return began + timedelta(milliseconds=limit) if 0 < limit < LONGEST_MONITOR else None


def _exit(details: Record, text: str, failed: bool) -> int | None:
    """Return a command's exit status; None if unknown. The CLI records an exit status only if it is
    not 0."""
    match = _EXIT.match(text) if failed else None
    if match is not None:
        return int(match[1])
    other = failed or "returnCodeInterpretation" in details or "backgroundTaskId" in details
    return None if other else 0


def _reported(details: Record) -> str:
    """Return a background task's output, without the CLI's text around it; empty for other
    results."""
    task = details.get("task")
    output = (
        task.get("output") if isinstance(task, dict) and "retrieval_status" in details else None
    )
    return output if isinstance(output, str) else ""


def _subagent(details: Record, failed: bool) -> tuple[str | None, str | None]:
    """Return the id and the status of the subagent or background task in a result, if any."""
    agent = details.get("agentId")
    if isinstance(agent, str):
        known = SUBAGENT_STATUS.get(str(details.get("status")))
        return agent, known or ("failed" if failed else "completed")
    task = details.get("task")
    if isinstance(shell := details.get("shellId"), str):  # `BashOutput` of CLI 2.0 and older
        task = {"task_id": shell, "status": details.get("status")}
    if not isinstance(task, dict):
        return None, None
    ident, status = task.get("task_id"), str(task.get("status"))
    if not isinstance(ident, str) or status not in (*SUBAGENT_STATUS, "failed"):
        return None, None
    return ident, SUBAGENT_STATUS.get(status, "failed")


def _refusal(record: Record, text: str, failed: bool) -> tuple[bool, str]:
    """Return whether the user refused the call, and the user's reason."""
    kind = record.get("toolDenialKind")
    if not failed or (kind is not None and kind != _REFUSED):
        return False, ""
    if kind is None and not _REFUSAL.match(text):
        return False, ""
    match = _SAID.search(text)
    return True, text[match.end() :].partition(_NOTE)[0].strip() if match else ""


def answers_of(details: Record, text: str) -> tuple[tuple[str, str], ...]:
    """Return the questions and answers in a result; older CLIs write them only in the text."""
    answers = details.get("answers")
    if isinstance(answers, Mapping) and "questions" in details:
        asked: Sequence[tuple[object, object]] = list(_given(answers, details))
    elif quoted := quoted_answers(text):
        asked = quoted
    elif _CLARIFY in text:
        asked = _ASKED.findall(text)
    else:
        return ()
    pairs = ((str(question), _answer(answer)) for question, answer in asked[:ANSWERS_KEPT])
    return tuple((question, answer) for question, answer in pairs if answer.strip())


def _given(answers: Mapping[str, Any], details: Record) -> Iterator[tuple[str, str]]:
    """Yield each question with its answer and the user's note.

    Text that the user wrote instead of the answers comes last, with the first question.
    """
    annotations = details.get("annotations")
    notes = {
        question: annotation["notes"].strip()
        for question, annotation in (annotations if isinstance(annotations, dict) else {}).items()
        if isinstance(annotation, dict)
        and isinstance(annotation.get("notes"), str)
        and annotation["notes"].strip()
    }
    for question in dict.fromkeys((*answers, *notes)):
        answer, note = _answer(answers.get(question)), notes.get(question)
        yield question, f"{answer} (note: {note})" if answer and note else note or answer
    asked, response = details["questions"], details.get("response")
    first = asked[0] if isinstance(asked, list) and asked else None
    if isinstance(response, str) and response.strip() and isinstance(first, dict):
        yield str(first.get("question", "")), response.strip()


def _answer(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(choice) for choice in value[:ANSWERS_KEPT])
    return value if isinstance(value, str) else ""


def output_of(content: object) -> tuple[str, str]:
    """Return the first `RESULT_KEPT` characters of an output, and the last `TAIL_KEPT`.

    The two parts do not overlap, so the second is empty for a short output. An output can be
    several megabytes long.
    """
    texts = list(_texts(content))
    text = "\n".join(part[:RESULT_KEPT] for part in texts)[:RESULT_KEPT]
    whole = sum(map(len, texts)) + max(len(texts) - 1, 0)
    if whole <= RESULT_KEPT:
        return text, ""
    tail = "\n".join(part[-TAIL_KEPT:] for part in texts)[-TAIL_KEPT:]
    return text, tail[max(0, RESULT_KEPT + len(tail) - whole) :]


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content[:20]:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]
