"""Context windows of Codex's models, and the point at which Codex compacts.

Every turn in a transcript reports the window, so this table is used only before the first turn. The
reported window is 95% of the model's window; Codex compacts at 90% of the model's window (0.169.0).
"""

from __future__ import annotations

from cockpit.core.reading import Confidence, Window

NAMED_SHARE = 0.95
COMPACTION_SHARE = 0.9
MODEL_WINDOW = 272_000
"""Context window in tokens of every model that is not in `LARGE`, as in Codex."""
LARGE = {"gpt-6.1-terra": 500_000}
_KNOWN_PREFIXES = ("gpt-5", "gpt-6")


def window(model: str | None) -> Window:
    """Return the window that Codex reports for a model; marked `ASSUMED` for an unknown model."""
    name = (model or "").lower()
    tokens = round(LARGE.get(name, MODEL_WINDOW) * NAMED_SHARE)
    known = name.startswith(_KNOWN_PREFIXES)
    return Window(tokens, Confidence.DERIVED if known else Confidence.ASSUMED)


def compacts_at(window_tokens: int) -> int:
    """Return the token count at which Codex compacts automatically.

    `window_tokens` is the window that Codex reports. The user's setting
    `model_auto_compact_token_limit` can lower this count, but is not read.
    """
    return round(window_tokens / NAMED_SHARE * COMPACTION_SHARE)
