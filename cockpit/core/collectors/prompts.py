"""Collect the user's prompts of a session, and the goal that the first prompt states."""

from __future__ import annotations

from collections import deque

from cockpit.core import document
from cockpit.core.continuation import is_continuation, quoted_goal, without_completion
from cockpit.core.facts import Prompt
from cockpit.core.prompt_files import prompt_files
from cockpit.core.request import is_from_cockpit
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import DocumentShown, PromptFileTaken, PromptQueued, UserSaid

PROMPTS_KEPT = 5
PROMPT_KEPT = 20_000
"""Maximum characters of one of the last prompts."""
EARLIER_KEPT = 60
EARLIER_KEPT_OF_ONE = 300
"""Maximum characters of an earlier prompt. Its beginning is kept, because it often has orders that
no pattern matches."""


class PromptCollector:
    """Counts the prompts, and keeps the goal and the last prompts."""

    __slots__ = ("_earlier", "_goal", "_interrupted", "_pieces", "_prompts", "turn")

    def __init__(self) -> None:
        self._goal: str | None = None
        self._interrupted = False
        self._pieces: dict[str, str | None] = {}
        self._prompts: deque[Prompt] = deque(maxlen=PROMPTS_KEPT)
        self._earlier: deque[Prompt] = deque(maxlen=EARLIER_KEPT)
        self.turn = 0
        """Number of the last prompt, from 1; 0 without a prompt."""

    @property
    def goal(self) -> str | None:
        """The first prompt, or the goal that this prompt quotes, or the goal in the prompt files or
        handoff document that this prompt names; None without a prompt."""
        return self._goal

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """The last prompts, oldest first. A prompt that only names prompt files is left out until
        the content of the files is known."""
        return tuple(prompt for prompt in self._prompts if not prompt_files(prompt.text))

    @property
    def earlier(self) -> tuple[Prompt, ...]:
        return tuple(self._earlier)

    def said(self, event: UserSaid) -> str:
        """Record a prompt, and return its text; empty if the user did not write the prompt.

        A continuation, which cockpit wrote, only sets the goal.
        """
        text = without_completion(event.command or event.text)
        by_user = bool(event.command) or not (event.meta or event.compact_summary)
        if not by_user or event.sidechain or not text.strip() or is_from_cockpit(text):
            return ""
        if self._goal is None or self._interrupted:
            self._set_goal(text)
        if is_continuation(text):
            return ""
        self._note(text, queued=False)
        return text

    def queued(self, event: PromptQueued) -> str:
        """Record a prompt that reached the agent during a turn, and return its text.

        Empty if the prompt is from cockpit.
        """
        if is_from_cockpit(event.text):
            return ""
        self._note(event.text, queued=True)
        return event.text

    def interrupted(self, *, worked: bool) -> None:
        """Record that the user pressed Esc.

        If the agent has not worked yet, the next prompt replaces the goal.
        """
        self._interrupted = self._goal is not None and not worked

    def file_taken(self, event: PromptFileTaken) -> Prompt | None:
        """Record the content of a prompt file that the first prompt names.

        Return the first prompt when the content of all its files is known; else None. Also None for
        a continuation, which the user did not write.
        """
        if event.path not in self._pieces:
            return None
        self._pieces[event.path] = event.text
        pieces = [piece for piece in self._pieces.values() if piece is not None]
        if len(pieces) < len(self._pieces):
            return None
        prompt, self._pieces = without_completion("".join(pieces)), {}
        is_first = bool(self._prompts) and self._prompts[0].text == self._goal
        self._goal = quoted_goal(prompt) or prompt
        return self._replace_first(prompt) if is_first else None

    def document_shown(self, event: DocumentShown) -> None:
        """Take the session's goal from the shown handoff document, if the goal so far names the
        document's file."""
        name = event.path.replace("\\", "/").rpartition("/")[2]
        if self._goal is None or not name or name.casefold() not in self._goal.casefold():
            return
        goal = document.read(event.text[: document.LARGEST]).goal
        if goal and goal.strip():
            self._goal, self._pieces = goal, {}

    def _set_goal(self, text: str) -> None:
        self._goal = quoted_goal(text) or text
        self._pieces = dict.fromkeys(prompt_files(text))
        self._interrupted = False

    def _replace_first(self, text: str) -> Prompt | None:
        """Replace the first prompt, which names the prompt files, with the text of the files.

        Return the new first prompt. If the text is a continuation, removes the first prompt
        instead, because the user did not write it, and returns None.
        """
        first = self._prompts.popleft()
        if not is_continuation(text):
            prompt = Prompt(first.turn, cut_at_word(text, PROMPT_KEPT), first.queued)
            self._prompts.appendleft(prompt)
            return prompt
        if not self._prompts:
            self.turn = 0
        return None

    def _note(self, text: str, *, queued: bool) -> None:
        self.turn += 1
        if len(self._prompts) == PROMPTS_KEPT and (oldest := self._prompts[0]).turn > 1:
            beginning = cut_at_word(oldest.text, EARLIER_KEPT_OF_ONE)
            self._earlier.append(Prompt(oldest.turn, beginning, oldest.queued))
        self._prompts.append(Prompt(self.turn, cut_at_word(text, PROMPT_KEPT), queued))
