"""Build the OpenAPI 3.1 description of the API from the models of `wire`.

`GET /openapi.json` and `cockpit api schema` return this description. The description of a field is
the docstring below the field. Docstrings are read from the source, because only this module needs
the docstrings of fields.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from cockpit.core.problems import KINDS, MEDIA_TYPE, PREFIX
from cockpit.wire.history import HistoryChain, HistoryPage
from cockpit.wire.verbs import VERBS, Done, Refusal, Verb
from cockpit.wire.views import OPENAPI_PATH, VIEWS, Form, View

API_VERSION = "1.0"
"""The first number is the one in the paths (`/v1`); the second number grows with each addition."""

_REFERENCE = "#/components/schemas/{model}"
_SSE = "text/event-stream"
_SPARSE = (HistoryChain, HistoryPage)
"""Responses in which fields can be left out; all others have every field."""

_DESCRIPTION = """\
The API of cockpit's supervisor: read the state of its agents, and control them.

- Within `/v1`, names are added but never changed or removed. Ignore unknown members.
- An unknown value is null, never 0. Times are UTC, in the format of RFC 3339.
- The response to a failed request is a problem document (RFC 9457). Compare the `type` of the
  document; its sentences can change.
"""
_OF_SOCKET = "The supervisor's unix socket: no token, for your own user only."
_OF_SERVE = "`cockpit serve`, with the token that it prints. Changes need `--write`."
_FAILURES = {
    "400": "The request is invalid.",
    "404": "No such agent, handoff or document.",
    "408": "The whole request did not arrive in time.",
    "409": "Not possible in the current state, or not allowed for the agent that sent the request.",
    "424": "A required program is not installed.",
    "500": "The request failed.",
    "503": "Too many connections, or no supervisor.",
}
_FAILURES_OF_SERVE = {
    "401": "The token is missing or wrong.",
    "403": "A cross-origin request, or a request for a change without `--write`.",
}


def document(*, served: bool = False) -> dict[str, Any]:
    """Return the description as data; `served` describes `cockpit serve` instead of the socket."""
    references, definitions = _schemas()
    responses = _FAILURES | (_FAILURES_OF_SERVE if served else {})
    failures = {status: {"$ref": f"#/components/responses/{status}"} for status in responses}
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "cockpit", "version": API_VERSION, "description": _DESCRIPTION},
        "servers": [
            {"url": "/", "description": _OF_SERVE}
            if served
            else {"url": "http://cockpit", "description": _OF_SOCKET}
        ],
        "tags": [
            {"name": "read", "description": "Read-only."},
            {"name": "act", "description": "Changes state."},
        ],
        "paths": {
            **{view.path: {"get": _view(view, references, failures)} for view in VIEWS},
            **{f"/v1/{verb.verb}": {"post": _verb(verb, references, failures)} for verb in VERBS},
            OPENAPI_PATH: {"get": _openapi_operation(failures)},
        },
        "components": {
            "schemas": definitions,
            "responses": {
                status: _answer(text, {MEDIA_TYPE: {"schema": references[Refusal]}})
                for status, text in sorted(responses.items())
            },
        },
    }
    if served:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


# Operations


def _view(
    view: View, references: Mapping[Any, dict[str, Any]], failures: Mapping[str, Any]
) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": view.name,
        "summary": view.summary,
        "tags": ["read"],
        "parameters": [*_of_path(view), *_of_query(view)],
        "responses": {"200": _answer(view.summary, _content(view, references)), **failures},
    }
    if view.form is Form.LINES:
        operation["description"] = (
            "One JSON value per line. With `Accept: text/event-stream` each value is a "
            "server-sent event, and the response stays open. `cockpit serve` sends each value as a "
            "WebSocket message to a client that upgrades the connection."
        )
    return operation


def _verb(
    kind: type[Verb], references: Mapping[Any, dict[str, Any]], failures: Mapping[str, Any]
) -> dict[str, Any]:
    summary = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    return {
        "operationId": kind.verb,
        "summary": summary,
        "tags": ["act"],
        "requestBody": {
            "required": any(field.is_required() for field in kind.model_fields.values()),
            "content": {"application/json": {"schema": references[kind]}},
        },
        "responses": {
            "200": _answer("Done, or in progress.", _json(references[Done])),
            **failures,
        },
    }


def _openapi_operation(failures: Mapping[str, Any]) -> dict[str, Any]:
    text = "The OpenAPI description of this API."
    return {
        "operationId": "openapi",
        "summary": text,
        "tags": ["read"],
        "responses": {"200": _answer(text, _json({"type": "object"})), **failures},
    }


def _answer(text: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": dict(content)}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": dict(schema)}}


def _content(view: View, references: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    if view.form is Form.TEXT:
        return {"text/plain": {"schema": {"type": "string"}}}
    schema = _schema_of(view.answer, references)
    if view.form is Form.JSON:
        return _json(schema)
    # OpenAPI 3.1 cannot describe the lines of a stream; 3.2 does with `itemSchema`.
    lines = {"schema": {"type": "string"}, "x-itemSchema": schema}
    return {view.form.value: lines, _SSE: lines}


def _schema_of(answer: Any, references: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    if answer in references:
        return references[answer]
    if get_origin(answer) is list:
        return {"type": "array", "items": _schema_of(get_args(answer)[0], references)}
    return {"oneOf": [_schema_of(kind, references) for kind in get_args(answer)]}


def _of_path(view: View) -> Iterator[dict[str, Any]]:
    for name, text in {"name": "An agent's name.", "ident": "A handoff's id."}.items():
        if f"{{{name}}}" in view.path:
            yield {
                "name": name,
                "in": "path",
                "required": True,
                "description": text,
                "schema": {"type": "string", "minLength": 1},
            }


def _of_query(view: View) -> Iterator[dict[str, Any]]:
    schema = view.query.model_json_schema(schema_generator=_Schema)
    descriptions = _docstrings(view.query)
    for name, value in schema.get("properties", {}).items():
        options = [kind for kind in value.pop("anyOf", []) if kind.get("type") != "null"]
        if options:  # absent instead of null
            value = options[0]
        yield {"name": name, "in": "query", "description": descriptions[name], "schema": value}


# Schemas


class _Schema(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def field_is_required(self, field: Any, total: bool) -> bool:
        return self.mode == "serialization" or super().field_is_required(field, total)


def _schemas() -> tuple[Mapping[Any, dict[str, Any]], dict[str, Any]]:
    """Return a reference for each model, and the schemas to which the references point."""
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [(verb, "validation") for verb in VERBS]
    models += [(Done, "serialization"), (Refusal, "validation")]
    for model in {kind: None for view in VIEWS for kind in _models(view.answer)}:
        models.append((model, "validation" if model in _SPARSE else "serialization"))
    by_mode, schemas = models_json_schema(models, ref_template=_REFERENCE, schema_generator=_Schema)
    definitions: dict[str, Any] = schemas["$defs"]
    for model in _all_models([model for model, _ in models]):
        descriptions = _docstrings(model)
        for name, field in model.model_fields.items():
            key = str(field.validation_alias or name)
            properties = definitions[model.__name__].get("properties", {})
            if name in descriptions and key in properties:
                properties[key] = {**properties[key], "description": descriptions[name]}
    _name_kinds(definitions[Refusal.__name__]["properties"]["type"])
    return {model: reference for (model, _), reference in by_mode.items()}, definitions


def _name_kinds(schema: dict[str, Any]) -> None:
    schema["examples"] = [PREFIX + kind for kind in KINDS]


def _models(answer: Any) -> list[type[BaseModel]]:
    """Return the models in the type of a response."""
    if inspect.isclass(answer) and issubclass(answer, BaseModel):
        return [answer]
    return [model for part in get_args(answer) for model in _models(part)]


def _all_models(models: list[type[BaseModel]]) -> set[type[BaseModel]]:
    """Return the models, and all models in the types of their fields, at any depth."""
    collected: set[type[BaseModel]] = set()
    left = list(models)
    while left:
        if (model := left.pop()) in collected:
            continue
        collected.add(model)
        for field in model.model_fields.values():
            left += _models(field.annotation)
    return collected


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Map each field, including inherited ones, to the docstring below the field."""
    by_field: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if kind.__module__.startswith("cockpit.wire."):
            by_field |= _of_module(kind.__module__).get(kind.__name__, {})
    return by_field


@cache
def _of_module(name: str) -> dict[str, dict[str, str]]:
    """Map each class of a module to the docstrings of its fields, by field name."""
    tree = ast.parse(inspect.getsource(sys.modules[name]))
    by_class: dict[str, dict[str, str]] = {}
    for kind in ast.walk(tree):
        if isinstance(kind, ast.ClassDef):
            by_class[kind.name] = dict(_under_fields(kind))
    return by_class


def _under_fields(kind: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in zip(kind.body, kind.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        ):
            yield field.target.id, " ".join(inspect.cleandoc(text.value.value).split())
