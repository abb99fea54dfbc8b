"""Collect the pull requests and issues that a session worked on, with their last known state."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from cockpit.core.collectors.bounded import remember, remember_call
from cockpit.core.command_lines import parts
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.facts import Link
from cockpit.core.session import PullRequestLinked, ToolFinished, ToolUse

LINKS_KEPT = 20
_URL = deferred_pattern(
    r"https?://[\w.-]{1,200}(?::\d{1,5})?/([\w.-]{1,100}(?:/[\w.-]{1,100}){1,4}?)"
    r"/(?:-/)?(pull|pulls|issues|merge_requests|pull-requests)/(\d{1,9})(?![\w/-])"
)
_COMMAND = deferred_pattern(
    r"\b(?:gh|glab|tea) +(pr|mr|issue)s? +"
    r"(create|new|merge|close|reopen|ready|view|status|edit|comment|checkout)\b"
)
_MADE_BY_TOOL = deferred_pattern(r"create_(?:pull_request|merge_request|issue)$")
_NUMBER = deferred_pattern(r"(?<=\s)#?(\d{1,9})(?=\s|$)")
_QUOTED = deferred_pattern(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_GIVEN = deferred_pattern(r"\s(?:-R|--repo)[ =](?:[\w.-]+/)?([\w.-]+/[\w.-]+)")
_TOLD = deferred_pattern(
    r"^[✓✔!] .{0,60}?\b(?:issue|pull request|merge request) (?:([\w.-]+/[\w.-]+))?[#!](\d{1,9})\b",
    re.I | re.M,
)
"""Matches a result that `gh` prints: `✓ Closed issue owner/name#7 (Title)`."""
_DONE = deferred_pattern(r"^[✓✔] |\balready (?:closed|merged|open)\b", re.M)
_LATER = deferred_pattern(r"\s--(?:auto|disable-auto|help|when-pipeline-succeeds)\b")
"""Matches options with which `gh pr merge` or `glab mr merge` does not merge at once."""
_STATE = deferred_pattern(
    r"""(?:"state"\s*:\s*"|^state:\s*)(OPEN|MERGED|CLOSED|DRAFT)\b""", re.I | re.M
)
_AFTER = {"merge": "merged", "close": "closed", "reopen": "open", "ready": "open"}


def is_about_links(tool: ToolUse) -> bool:
    """Return whether the result of a call may name a pull request or an issue."""
    if tool.name == "Bash":
        command = tool.input.get("command")
        return isinstance(command, str) and works_on_links(command)
    return _MADE_BY_TOOL.search(tool.name) is not None


def works_on_links(command: str) -> bool:
    """Return whether a command makes, changes or shows a pull request or an issue."""
    named = "gh " in command or "glab " in command or "tea " in command
    return named and _COMMAND.search(command) is not None


class LinkCollector:
    """Keeps the newest pull requests and issues of the session, at most `LINKS_KEPT`."""

    __slots__ = ("_asking", "_links")

    def __init__(self) -> None:
        self._links: dict[str, Link] = {}
        self._asking: dict[str, str] = {}

    @property
    def links(self) -> tuple[Link, ...]:
        return tuple(self._links.values())

    def called(self, tool: ToolUse) -> None:
        if is_about_links(tool):
            command = tool.input.get("command")
            asking = str(command) if tool.name == "Bash" else tool.name
            remember_call(self._asking, tool.id, asking, 50)

    def finished(self, event: ToolFinished) -> None:
        command = self._asking.pop(event.tool_use_id, None)
        if command is None or event.failed:
            return
        output = f"{event.text}\n{event.tail}"
        pieces = parts(command)
        calls = [(part, call) for part in pieces if (call := _COMMAND.search(part.text))]
        if not calls:  # a tool that creates a pull request or an issue
            self._made("", output)
        for part, call in calls:
            after = pieces[pieces.index(part) :]
            succeeded = all(piece.joined in ("&&", "") for piece in after) or _DONE.search(output)
            if call[2] in ("create", "new"):
                self._made(part.text, output)
            elif call[2] in _AFTER and succeeded and not _LATER.search(part.text):
                undone = call[2] == "ready" and "--undo" in part.text
                self._set_state(part.text, output, "draft" if undone else _AFTER[call[2]])
            elif call[2] == "view" and (state := _STATE.search(event.text)) is not None:
                self._set_state(part.text, output, state[1].lower())

    def linked(self, event: PullRequestLinked) -> None:
        """Record the pull request that the CLI connected with the session."""
        match = _URL.fullmatch(event.url)
        link = _link(match) if match is not None else Link("pull_request", event.url)
        number, repository = event.number or link.number, event.repository or link.repository
        self._note(replace(link, number=number, repository=repository), "")

    def _made(self, command: str, output: str) -> None:
        state = "draft" if re.search(r"\s(?:--draft|-d)\b", command) else "open"
        for match in list(_URL.finditer(output))[-1:]:
            self._note(_link(match), state)

    def _note(self, link: Link, state: str) -> None:
        known = next((kept for kept in self._links.values() if _same(kept, link)), None)
        if known is not None:
            state = state or known.state
            link = (
                link if link.url else replace(known, repository=known.repository or link.repository)
            )
            if not known.url and link.url:
                del self._links[_key(known)]
        remember(self._links, _key(link), replace(link, state=state), LINKS_KEPT)

    def _set_state(self, command: str, output: str, state: str) -> None:
        """Record the state of the link that a command or its output names.

        If neither names a link, records the state of the only known link of the command's kind
        (issue or pull request); does nothing if several are known.
        """
        kind: Literal["issue", "pull_request"] = (
            "issue" if re.search(r"\b(?:gh|glab|tea) +issue", command) else "pull_request"
        )
        urls = [_link(match) for match in _URL.finditer(f"{command}\n{output}")]
        number, repository = _named(command, output)
        if urls and (number is None or urls[0].number == number):
            self._note(urls[0], state)
        elif number is not None:
            self._note(Link(kind, "", number, repository), state)
        elif len(known := [link for link in self._links.values() if link.kind == kind]) == 1:
            self._note(known[0], state)


def _key(link: Link) -> str:
    return link.url or f"{link.kind} {link.repository}#{link.number}"


def _same(known: Link, link: Link) -> bool:
    """Return whether both are the same pull request or issue. An unknown repository matches any."""
    if known.url and link.url:
        return known.url == link.url
    alike = not known.repository or not link.repository or known.repository == link.repository
    return known.kind == link.kind and known.number == link.number and alike


def _named(command: str, output: str) -> tuple[int | None, str]:
    """Return the number and the repository that a command or its output names.

    A command can name a branch or a URL instead of a number; then the number comes from the output.
    An unknown number is None, an unknown repository is empty.
    """
    bare = _QUOTED.sub(" ", command)
    number = next(iter(_NUMBER.findall(bare[_COMMAND.search(bare).end() :])), None)  # type: ignore[union-attr]
    result = _TOLD.search(output)
    given = _GIVEN.search(bare)
    if number is None and result is not None:
        number = result[2]
    repository = result[1] if result is not None and result[2] == number else ""
    return int(number) if number else None, given[1] if given is not None else repository or ""


def _link(match: re.Match[str]) -> Link:
    kind: Literal["issue", "pull_request"] = "issue" if match[2] == "issues" else "pull_request"
    return Link(kind, match[0], int(match[3]), match[1])
