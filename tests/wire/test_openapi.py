"""The description of the API: complete, in our words, and never less than it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from click.testing import CliRunner

from cockpit.cli.commands import cockpit
from cockpit.core.problems import KINDS, MEDIA_TYPE, PREFIX
from cockpit.wire.openapi import API_VERSION, document
from cockpit.wire.verbs import VERBS
from cockpit.wire.views import OPENAPI_PATH, VIEWS

DATA = Path(__file__).parent.parent / "data"
"""What each version published, in `openapi-VERSION.json`."""
CURRENT = DATA / f"openapi-{API_VERSION}.json"


@pytest.mark.parametrize("served", [False, True])
def test_the_description_is_valid(served: bool) -> None:
    schemathesis.openapi.from_dict(document(served=served)).validate()


def operations(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_address_is_in_it() -> None:
    named = {f"POST /v1/{verb.verb}" for verb in VERBS} | {f"GET {view.path}" for view in VIEWS}
    assert {name for name, _ in operations(document())} == named | {f"GET {OPENAPI_PATH}"}


def test_every_operation_says_what_it_does_and_how_it_fails() -> None:
    seen = set()
    for name, operation in operations(document(served=True)):
        assert operation["summary"].endswith("."), name
        assert operation["operationId"] not in seen
        seen.add(operation["operationId"])
        assert {"400", "401", "403", "404", "409", "500", "503"} < set(operation["responses"]), name
        for parameter in operation.get("parameters", []):
            assert parameter["description"], name
    for answer in document()["components"]["responses"].values():
        assert list(answer["content"]) == [MEDIA_TYPE]


def test_fields_are_explained_as_in_the_source() -> None:
    schemas = document()["components"]["schemas"]
    assert schemas["Start"]["properties"]["resume"]["description"].startswith("Reopen this session")
    assert schemas["Plan"]["properties"]["cwd"] == schemas["Start"]["properties"]["cwd"]
    assert schemas["MarksStatus"]["description"]
    kinds = schemas["Refusal"]["properties"]["type"]["examples"]
    assert kinds == [f"{PREFIX}{kind}" for kind in KINDS]


def test_only_what_is_served_needs_a_token() -> None:
    assert "security" not in document()
    assert document(served=True)["security"] == [{"token": []}]
    assert "401" not in document()["components"]["responses"]


@pytest.mark.parametrize("served", [False, True])
def test_the_command_prints_it(served: bool) -> None:
    done = CliRunner().invoke(cockpit, ["api", "schema", *(["--served"] if served else [])])
    assert done.exit_code == 0
    assert json.loads(done.output) == document(served=served)


@pytest.mark.parametrize("published", sorted(DATA.glob("openapi-*.json")), ids=lambda at: at.stem)
def test_nothing_that_was_published_is_gone(published: Path) -> None:
    described = json.loads(published.read_text())
    assert published.stem == f"openapi-{described['info']['version']}"
    assert API_VERSION.split(".")[0] == "1"
    assert list(missing(described, document())) == []


def test_what_is_new_has_a_new_version() -> None:
    """After a change: raise `API_VERSION`, unless the version was never released, and run
    `python -m tests.wire.test_openapi`, which writes the file. A released one is never changed.
    """
    assert list(missing(document(), json.loads(CURRENT.read_text()))) == []


@pytest.mark.parametrize(
    ("path", "change", "complaint"),
    [
        (("paths",), lambda paths: paths.pop("/v1/status"), "GET /v1/status"),
        (("paths", "/v1/stop", "post"), lambda it: it.update(operationId="end"), "operationId"),
        (("paths", "/v1/diff/{name}", "get"), lambda it: it["parameters"].pop(), "since"),
        (("components", "schemas", "Done", "properties"), lambda it: it.pop("pane"), "Done.pane"),
        (("components", "schemas", "Stop"), lambda it: it["required"].append("why"), "Stop needs"),
        (("components", "schemas", "Status"), lambda it: it["required"].remove("host"), "Status"),
        (
            ("components", "schemas", "Snooze", "properties", "percent"),
            lambda it: it.update(anyOf=[{"type": "string"}]),
            "Snooze.percent",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_would_break_a_client_is_found(
    path: tuple[str, ...], change: Any, complaint: str
) -> None:
    changed = document()
    part: Any = changed
    for step in path:
        part = part[step]
    change(part)
    assert any(complaint in line for line in missing(json.loads(CURRENT.read_text()), changed))


def missing(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """What a client of the old description relies on and the new one does not have."""
    operations_now = dict(operations(new))
    for name, operation in operations(old):
        now = operations_now.get(name)
        if now is None:
            yield f"{name} is gone"
            continue
        if operation["operationId"] != now["operationId"]:
            yield f"{name}: another operationId"
        parameters = {one["name"] for one in now.get("parameters", [])}
        for parameter in operation.get("parameters", []):
            if parameter["name"] not in parameters:
                yield f"{name}: the parameter {parameter['name']} is gone"
    asked = {verb.__name__ for verb in VERBS}
    for name, schema in old["components"]["schemas"].items():
        now = new["components"]["schemas"].get(name)
        if now is None:
            yield f"the schema {name} is gone"
            continue
        before, after = set(schema.get("required", [])), set(now.get("required", []))
        if name in asked and after - before:
            yield f"{name} needs {sorted(after - before)}"
        if name not in asked and before - after:
            yield f"{name} can be without {sorted(before - after)}"
        for field, described in schema.get("properties", {}).items():
            present = now.get("properties", {}).get(field)
            if present is None or types(described) - types(present):
                yield f"{name}.{field} is gone, or of another type"


def types(schema: dict[str, Any]) -> set[str]:
    """The types and references that a value may have."""
    if "anyOf" in schema:
        return {one for option in schema["anyOf"] for one in types(option)}
    values = [json.dumps(value) for value in schema.get("enum", [])]
    return {schema.get("$ref") or schema.get("type", "any"), *values}


if __name__ == "__main__":
    CURRENT.write_text(json.dumps(document(), indent=2) + "\n")
