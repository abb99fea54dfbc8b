"""Who says that there is no more than ASCII."""

from __future__ import annotations

import pytest

from cockpit.core.charset import speaks_unicode


@pytest.mark.parametrize(
    ("environment", "speaks"),
    [
        ({}, True),
        ({"LANG": ""}, True),
        ({"LANG": "C"}, False),
        ({"LANG": "POSIX"}, False),
        ({"LANG": "C.UTF-8"}, True),
        ({"LANG": "de_DE.utf8@euro"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
    ],
)
def test_who_says_that_there_is_no_more_than_ascii(
    environment: dict[str, str], speaks: bool
) -> None:
    assert speaks_unicode(environment) == speaks
