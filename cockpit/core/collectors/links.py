"""Collect the pull requests and issues that a session worked on, with their last known state."""

from __future__ import annotations

import re
from dataclasses import replace

from cockpit.core.collectors.bounded import remember
from cockpit.core.facts import Link
from cockpit.core.session import PullRequestLinked, ToolFinished, ToolUse

LINKS_KEPT = 20
_URL = re.compile(
    r"https?://[\w.-]{1,200}(?::\d{1,5})?/([\w.-]{1,100}(?:/[\w.-]{1,100}){1,4}?)"
    r"/(?:-/)?(pull|pulls|issues|merge_requests|pull-requests)/(\d{1,9})(?![\w/-])"
)
_COMMAND = re.compile(
    r"\b(?:gh|glab|tea) +(pr|mr|issue)s? +"
    r"(create|new|merge|close|reopen|ready|view|status|edit|comment|checkout)\b"
)
_MADE_BY_TOOL = re.compile(r"create_(?:pull_request|merge_request|issue)$")
_NUMBER = re.compile(r"\b(?:pr|mr|issue)s? +\w+ +(?:-\S+ +)*#?(\d{1,9})\b")
_STATE = re.compile(r"""(?:"state"\s*:\s*"|^state:\s*)(OPEN|MERGED|CLOSED|DRAFT)\b""", re.I | re.M)
_AFTER = {"merge": "merged", "close": "closed", "reopen": "open", "ready": "open"}


def is_about_links(tool: ToolUse) -> bool:
    """Return whether the result of a call may name a pull request or an issue."""
    if tool.name == "Bash":
        command = tool.input.get("command")
        return isinstance(command, str) and _COMMAND.search(command) is not None
    return _MADE_BY_TOOL.search(tool.name) is not None


class LinkCollector:
    """Keeps the newest links."""

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
            remember(self._asking, tool.id, str(command) if tool.name == "Bash" else tool.name, 50)

    def finished(self, event: ToolFinished) -> None:
        command = self._asking.pop(event.tool_use_id, None)
        if command is None or event.failed:
            return
        done = _COMMAND.search(command)
        verb = done[2] if done is not None else "create"
        urls = list(_URL.finditer(f"{event.text}\n{event.tail}"))
        if verb in ("create", "new"):
            state = "draft" if re.search(r"\s(?:--draft|-d)\b", command) else "open"
            for found in urls[-1:]:
                self._note(_link(found), state)
        elif verb in _AFTER:
            self._set_state(command, urls, _AFTER[verb])
        elif verb == "view" and (told := _STATE.search(event.text)) is not None:
            self._set_state(command, urls, told[1].lower())

    def linked(self, event: PullRequestLinked) -> None:
        """Record the pull request that the CLI connected with the session."""
        found = _URL.fullmatch(event.url)
        link = _link(found) if found is not None else Link("pull_request", event.url)
        number, repository = event.number or link.number, event.repository or link.repository
        self._note(replace(link, number=number, repository=repository), "")

    def _note(self, link: Link, state: str) -> None:
        known = self._links.get(link.url)
        state = state or (known.state if known is not None else "")
        remember(self._links, link.url, replace(link, state=state), LINKS_KEPT)

    def _set_state(self, command: str, urls: list[re.Match[str]], state: str) -> None:
        named = next((found[0] for found in [*_URL.finditer(command), *urls]), None)
        number = _NUMBER.search(command)
        issue = re.search(r"\b(?:gh|glab|tea) +issue", command) is not None
        kind = "issue" if issue else "pull_request"
        known = [link for link in self._links.values() if link.kind == kind]
        for link in known:
            by_number = number is not None and link.number == int(number[1])
            only_one = named is None and number is None and len(known) == 1
            if link.url == named or by_number or only_one:
                self._note(link, state)
                return
        if urls:
            self._note(_link(urls[0]), state)


def _link(found: re.Match[str]) -> Link:
    issue = found[2] == "issues"
    return Link("issue" if issue else "pull_request", found[0], int(found[3]), found[1])
