"""Show an untrusted document: without links, images and HTML, so that nothing can be clicked."""

from __future__ import annotations

import asyncio

from markdown_it import MarkdownIt
from textual.await_complete import AwaitComplete
from textual.widgets import Markdown


def plain_parser() -> MarkdownIt:
    """Return a Markdown parser that shows links, images and HTML as plain text.

    Link reference definitions are disabled too, because they would hide text.
    """
    parser = MarkdownIt("gfm-like", {"html": False, "linkify": False})
    return parser.disable(
        ["link", "image", "autolink", "html_inline", "html_block", "linkify", "reference"]
    )


async def updated(document: Markdown, text: str) -> None:
    """Show `text` in the document, and wait until all of it is displayed.

    Cancelling the caller does not cancel the update, because that would cancel the tasks of the
    document's widgets, and Textual would then exit silently.
    """
    await asyncio.shield(asyncio.ensure_future(_complete(document, document.update(text))))


async def _complete(document: Markdown, update: AwaitComplete) -> None:
    try:
        await update
    except Exception:
        if document.is_attached:
            raise
