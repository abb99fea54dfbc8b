"""Send one message to one Apprise URL, in a separate process.

Importing Apprise takes 0.1 s and 20 MB, and Apprise's network calls may block. So the supervisor
runs this module as a process, and never imports Apprise. The URL is read from stdin, because
process lists show arguments. Exit codes: 0 sent, 1 not sent, 2 invalid URL.
"""

from __future__ import annotations

import json
import sys

COMMAND = (sys.executable, "-P", "-m", "cockpit.adapters.outgoing.notify")
NO_ADDRESS = 2


def order(url: str, title: str, body: str) -> str:
    """Return the message as one line of JSON, the input of the process that sends it."""
    return json.dumps({"url": url, "title": title, "body": body}) + "\n"


def main() -> int:
    """Read a message from stdin and send it; return the exit code."""
    import apprise

    message = json.loads(sys.stdin.readline())
    sender = apprise.Apprise()
    if not sender.add(message["url"]):
        return NO_ADDRESS
    sent = sender.notify(
        title=message["title"],
        body=message["body"],
        body_format=apprise.NotifyFormat.TEXT,
        interpret_escapes=False,
    )
    return 0 if sent else 1


if __name__ == "__main__":
    sys.exit(main())
