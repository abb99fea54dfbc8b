"""The API does what its description says: requests made from it, against a real supervisor.

They go through the gateway of `cockpit serve`, so both are tried at once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case
from schemathesis import GenerationMode as MODE
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok

from cockpit.wire.openapi import document
from cockpit.wire.views import VIEWS
from tests.supervisor.api.web import gateway

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

EXAMPLES = 6
"""Valid requests for each operation, and as many that are not."""
NOT_TRIED = {"down", *(view.name for view in VIEWS if view.endless)}
"""It would end the supervisor, or never end."""
ALL_IS_VALID = {
    "caller", "worktrees", "dialog", "document", "continuation", "facts", "course", "openapi",
}  # fmt: skip
"""Operations that take nothing, or any text."""
HARMLESS: dict[str, dict[str, Any]] = {
    "start": {"directory": "/nowhere/at/all"},
    "continue": {"directory": "/nowhere/at/all"},
    "handoff": {"dry_run": True},
}
"""Keeps an operation from starting something that the test would have to wait for."""
OF_THE_AGENT = {"facts", "course", "diff", "attach", "handoff"}
"""Operations that succeed for an agent that works."""
CONFIG = SchemathesisConfig.from_dict(
    # The token is always sent: whether it is needed has a check of its own (`ignored_auth`).
    {"seed": 1, "generation": {"with-security-parameters": False}}
)
UNCHECKED = ("positive_data_acceptance",)
"""What is right by type can be wrong all the same: a name that no agent may have, for one."""


class Trial:
    """Asks every operation."""

    def __init__(self, base: str, token: str) -> None:
        load_all_checks()
        self._unchecked: Any = [CHECKS.get_one(name) for name in UNCHECKED]
        self._base = base
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {token}"
        self.succeeded: set[str] = set()
        self.refused: set[str] = set()
        """Operations that refused what is not valid."""
        self.tried: set[str] = set()

    def run(self) -> None:
        schema = schemathesis.openapi.from_dict(document(served=True), config=CONFIG)
        schema.validate()
        for found in schema.get_all_operations():
            assert isinstance(found, Ok)
            operation = found.ok()
            name = operation.definition.raw["operationId"]
            if name not in NOT_TRIED:
                self.tried.add(name)
                self._try(name, operation.as_strategy(generation_mode=MODE.POSITIVE), True)
                if name not in ALL_IS_VALID:
                    self._try(name, operation.as_strategy(generation_mode=MODE.NEGATIVE), False)
        self._session.close()

    def _try(self, name: str, cases: Any, valid: bool) -> None:
        @settings(
            max_examples=EXAMPLES, derandomize=True, database=None, deadline=None,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=cases, of_agent=st.booleans())
        def ask(case: Case[Any], of_agent: bool) -> None:
            if isinstance(case.body, dict):
                case.body |= HARMLESS.get(name, {})
            if isinstance(case.query, dict) and case.query.get("follow") in ("1", "true"):
                case.query["follow"] = "0"
            if valid and of_agent and name in OF_THE_AGENT:
                if isinstance(case.body, dict):
                    case.body = {"name": "api", **HARMLESS.get(name, {})}
                else:
                    case.path_parameters = {"name": "api"}
                    case.query.pop("session", None)  # the agent has no other one
            answer = case.call(base_url=self._base, session=self._session)
            if answer.status_code == 200:
                self.succeeded.add(name)
            if 400 <= answer.status_code < 500 and not valid:
                self.refused.add(name)
            case.validate_response(answer, excluded_checks=self._unchecked)

        ask()


@pytest.mark.long
@pytest.mark.tmux
async def test_the_api_is_as_described(cockpit: Cockpit) -> None:
    async with (
        cockpit.flying(cockpit.agent(mode="observe", step_tokens=1000)),
        gateway(cockpit.places.socket) as (base, token),
    ):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "done")
        trial = Trial(base, token)
        await asyncio.to_thread(trial.run)
        assert (await cockpit.row()).state == "done"
    assert len(trial.tried) > 20
    assert trial.refused == trial.tried - ALL_IS_VALID
    assert trial.succeeded >= OF_THE_AGENT | {"status", "events", "history", "worktrees"}
