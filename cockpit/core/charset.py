"""What an environment says of the characters that its terminal can show."""

from __future__ import annotations

from collections.abc import Mapping


def speaks_unicode(environment: Mapping[str, str]) -> bool:
    """Whether the environment leaves room for more than ASCII.

    A language that is said to be in another charset, or none (`C`, `POSIX`), says no. Where nothing
    is said the terminal decides, and those have been able to for decades.
    """
    said = next(filter(None, map(environment.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "unknown.UTF-8")
    return said.upper().replace("-", "").partition("@")[0].endswith("UTF8")
