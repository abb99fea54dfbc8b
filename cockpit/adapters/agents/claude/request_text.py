"""Describe what a tool call of Claude Code would do, for the user who decides about the call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cockpit.core.session import ToolUse

MOST_QUESTIONS = 20


def request_text(tool: ToolUse) -> str:
    """Return what the user has to judge in a tool call.

    This is the command, the change of a file, the URL with the prompt, the plan or the questions.
    Empty for other tools. The text is returned as the model wrote it, and can contain control
    characters.
    """
    arguments = tool.input
    match tool.name:
        case "Bash":
            return _text(arguments, "command").strip()
        case "Write":
            return _marked("+", _text(arguments, "content"))
        case "Edit":
            old, new = _text(arguments, "old_string"), _text(arguments, "new_string")
            return "\n".join(filter(None, (_marked("-", old), _marked("+", new))))
        case "WebFetch":
            return "\n".join(filter(None, (_text(arguments, "url"), _text(arguments, "prompt"))))
        case "ExitPlanMode":
            return _text(arguments, "plan").strip()
        case "AskUserQuestion":
            return "\n\n".join(_questions(arguments.get("questions")))
    return ""


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    return value if isinstance(value, str) else ""


def _marked(sign: str, text: str) -> str:
    return "\n".join(f"{sign}{line}" for line in text.splitlines())


def _questions(questions: object) -> Iterator[str]:
    for question in questions[:MOST_QUESTIONS] if isinstance(questions, list) else ():
        if isinstance(question, Mapping):
            options = question.get("options")
            labels = [
                f"- {_text(option, 'label')}"
                for option in (options[:MOST_QUESTIONS] if isinstance(options, list) else ())
                if isinstance(option, Mapping)
            ]
            yield "\n".join((_text(question, "question"), *labels))
