"""Convert Copilot's tool calls to Claude Code's names, which all other code uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cockpit.adapters.transcripts.quoted_answers import ANSWERS_KEPT
from cockpit.core.session import ToolUse

ASKING_TOOL = "ask_user"
_NAMES = {
    ASKING_TOOL: "AskUserQuestion",
    "bash": "Bash",
    "create": "Write",
    "edit": "Edit",
    "glob": "Glob",
    "grep": "Grep",
    "task": "Task",
    "view": "Read",
}
_FIELDS = {
    "file_text": "content",
    "fileName": "file_path",
    "new_str": "new_string",
    "old_str": "old_string",
    "path": "file_path",
}
_LONGEST = 8_000


def tool_use(ident: object, name: object, arguments: object) -> ToolUse:
    """Convert a tool call to Claude Code's names of tools and arguments; long texts are
    truncated."""
    known = _NAMES.get(str(name), str(name))
    fields = arguments if isinstance(arguments, Mapping) else {}
    if name == ASKING_TOOL:
        asked = [{"question": _cut(text)} for _, text, _ in _questions(fields)]
        return ToolUse(str(ident), known, {"questions": asked})
    renames = _FIELDS if known in {"Edit", "Read", "Write"} else {}
    return ToolUse(
        str(ident), known, {renames.get(str(key), str(key)): _cut(fields[key]) for key in fields}
    )


def answers_of(response: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the answered questions of a form, with the answers.

    For a chosen value, the answer is the value's label.
    """
    given = response.get("content")
    if response.get("responseKind") != ASKING_TOOL or not isinstance(given, Mapping):
        return ()
    pairs = ((text, _answer(given.get(name), field)) for name, text, field in _questions(response))
    return tuple((text, answer) for text, answer in pairs if answer.strip())


def _questions(form: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the name, the question and the definition of each field of a form.

    For a form with one field, the question is the form's message, because the field's label can be
    a single word. Older forms have only a message.
    """
    schema = form.get("requestedSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    message = str(form.get("message") or form.get("question") or "").strip()
    if not isinstance(properties, Mapping) or not properties:
        yield "", message, {}
        return
    for name, field in [*properties.items()][:ANSWERS_KEPT]:
        definition = field if isinstance(field, Mapping) else {}
        label = str(definition.get("title") or definition.get("description") or name).strip()
        alone = len(properties) == 1 and message
        yield str(name), message if alone else f"{message} {label}".strip(), definition


def _answer(value: object, field: Mapping[str, Any]) -> str:
    if isinstance(value, list):
        items = field.get("items")
        inner = items if isinstance(items, Mapping) else {}
        return ", ".join(filter(None, (_answer(item, inner) for item in value[:ANSWERS_KEPT])))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return str(_labels(field).get(value, value))
    return str(value) if isinstance(value, int | float) else ""


def _labels(field: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels that the user saw, by the values that the model gets."""
    options = field.get("oneOf") or field.get("anyOf")
    if isinstance(options, list):
        valid = [option for option in options if isinstance(option, Mapping)]
        titled = (option for option in valid if option.get("title"))
        return {str(option.get("const")): str(option["title"]) for option in titled}
    values, names = field.get("enum"), field.get("enumNames")
    if isinstance(values, list) and isinstance(names, list):
        return {str(value): str(name) for value, name in zip(values, names, strict=False)}
    return {}


def _cut(value: Any) -> Any:
    return value[:_LONGEST] if isinstance(value, str) else value
