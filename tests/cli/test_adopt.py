"""`cockpit adopt`: which session is meant."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.cli.commands import run


@pytest.mark.parametrize(
    ("typed", "code", "why"),
    [
        ("", 2, "SESSION is empty"),
        ("s-", 2, "Several session ids start with 's-'"),
        ("x", 3, "No session elsewhere has an id that starts with 'x'"),
    ],
    ids=["empty", "several", "none"],
)
def test_an_id_that_names_no_session_is_refused(
    typed: str, code: int, why: str, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = [
        {"session_id": f"s-{number}", "runtime": "claude", "pid": number, "directory": "/w"}
        for number in (1, 2)
    ]
    answering.say("GET /v1/status?elsewhere=1", {"agents": [], "elsewhere": sessions})

    assert run(["adopt", typed, "--yes"]) == code

    err = capsys.readouterr().err
    assert why in err
    assert "cockpit status --elsewhere" in err
    assert [request for request, _ in answering.asked if "adopt" in request] == []
