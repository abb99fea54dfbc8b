"""The entries of the command palette: actions, and in a search also settings."""

from __future__ import annotations

from textual.command import DiscoveryHit, Hit, Hits
from textual.system_commands import SystemCommandsProvider

from cockpit.tui.keys.actions import ACTIONS

NOT_NOW = "Not now: "
"""The text before the reason why an action is unavailable."""
IN_THE_HELP = 0.2
"""The score of an entry whose help has all words of the search; a matching name scores higher."""


class Actions(SystemCommandsProvider):
    """The entries of the command palette. Unavailable actions come after the available ones.

    A search also finds settings. Entries whose name matches come first, then entries whose help has
    all words of the search, or whose action has them as other words. The help is not matched
    fuzzily, because almost every help sentence would match.
    """

    async def discover(self) -> Hits:
        for name, help_text, callback, _ in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(name, callback, help=help_text)

    async def search(self, query: str) -> Hits:
        matcher, words = self.matcher(query), query.casefold().split()
        context = getattr(self.screen, "CONTEXT", None)
        also = {
            action.title.capitalize(): action.also
            for action in ACTIONS
            if action.context == context
        }
        of_settings = getattr(self.app, "setting_commands", None)
        commands = [
            *self.app.get_system_commands(self.screen),
            *(of_settings(self.screen) if of_settings else ()),
        ]
        for name, help_text, callback, _ in commands:
            score = matcher.match(name)
            text = f"{help_text} {also.get(name, '')}".casefold()
            if not score and words and all(word in text for word in words):
                score = IN_THE_HELP
            if score > 0:
                score = score / 1000 if NOT_NOW in help_text else score
                yield Hit(score, matcher.highlight(name), callback, help=help_text)
