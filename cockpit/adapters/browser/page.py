"""The page around the terminal in a browser.

It replaces textual-serve's page, which loads fonts from another server. cockpit's page requests
nothing from other servers.
"""

from __future__ import annotations

import html

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/css/xterm.css">
<style>
@font-face {{
  font-family: "Roboto Mono";
  src: url("/static/fonts/RobotoMono-VariableFont_wght.ttf");
}}
html, body {{ margin: 0; height: 100%; background: #12161c; color: #c9d1d9; }}
.textual-terminal {{ position: absolute; inset: 0; }}
.closed {{
  display: none; position: absolute; inset: 0; z-index: 10; background: #12161ce6;
  font: 16px "Roboto Mono", monospace; text-align: center; padding-top: 35vh;
}}
.closed a {{ color: #8ec7d2; }}
body.-closed .closed {{ display: block; }}
</style>
<script src="/static/js/textual.js"></script>
<script src="/keys.js"></script>
</head>
<body>
<div class="closed" role="alert">
  <p>This tab is no longer connected. Agents and supervisor keep running.</p>
  <p><a href="/">Open cockpit again</a></p>
</div>
<div class="textual-terminal" data-session-websocket-url="ws://{host}/ws"
  data-font-size="{font_size}"></div>
</body>
</html>
"""

KEYS = """\
const toTerminal = () => document.querySelector(".xterm-helper-textarea")?.focus();
const begin = onload;
onload = async (event) => {
  await document.fonts.load("16px 'Roboto Mono'").catch(() => {});
  begin(event);
  toTerminal();
};
addEventListener("focus", toTerminal);
"""
"""The page's own script. Without it, textual-serve's page accepts keys only after a click; the
script focuses the terminal immediately. The terminal measures the font once, so the script loads
the font first: otherwise the terminal uses another font's height, and its last rows are below the
window."""

NOT_LET_IN = "Open the whole URL that `cockpit serve` printed; it contains a token.\n"


API_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "cockpit",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every API response: no caching, no framing, no MIME sniffing."""


def page(title: str, host: str, font_size: int) -> str:
    """Return the page for a browser that connected to `host`, a name with a port."""
    return _PAGE.format(title=html.escape(title), host=html.escape(host), font_size=font_size)


def headers(host: str) -> dict[str, str]:
    """Return the headers of the screen's responses: no resources of other sites, no framing."""
    policy = (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # inline styles of the terminal's colours
        "font-src 'self'",
        "img-src 'self' data:",
        f"connect-src 'self' ws://{host}",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
    return {
        "Content-Security-Policy": "; ".join(policy),
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
