"""A headless Chromium that a test drives over its own debugging protocol."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
PATIENCE = 120.0

_LISTEN = """
window.heard = "";
const decoder = new TextDecoder();
window.WebSocket = class extends WebSocket {
  constructor(...words) {
    super(...words);
    this.addEventListener("message", (message) => {
      if (typeof message.data !== "string") window.heard += decoder.decode(message.data);
    });
  }
};
"""
"""What the page's terminal draws is pixels; this keeps the words that it was sent."""


class Chromium:
    """One browser with one page. `async with Chromium(folder) as browser:`"""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._number = 0

    async def __aenter__(self) -> Chromium:
        self.process = subprocess.Popen(
            [
                PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-dev-shm-usage", "--disable-background-networking",
                "--window-size=1200,760", "--remote-debugging-port=0",
                f"--user-data-dir={self.folder}", "about:blank",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            await self._connect()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_error: object) -> None:
        if hasattr(self, "session"):
            await self.session.close()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _connect(self) -> None:
        note = self.folder / "DevToolsActivePort"
        await until(lambda: note.exists() and len(note.read_text().splitlines()) == 2, "a port")
        port = note.read_text().splitlines()[0]
        self.session = aiohttp.ClientSession()
        async with self.session.get(f"http://127.0.0.1:{port}/json/list") as answer:
            pages = json.loads(await answer.text())
        where = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        self.socket = await self.session.ws_connect(where, max_msg_size=0)
        await self.do("Page.enable")
        await self.do("Page.addScriptToEvaluateOnNewDocument", source=_LISTEN)

    async def do(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol, and its answer; events in between are passed over."""
        self._number += 1
        await self.socket.send_json({"id": self._number, "method": method, "params": parameters})
        async with asyncio.timeout(PATIENCE):
            while True:
                said = json.loads((await self.socket.receive()).data)
                if said.get("id") == self._number:
                    assert "error" not in said, said["error"]
                    return dict(said["result"])

    async def open(self, address: str) -> None:
        await self.do("Page.navigate", url=address)

    async def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = await self.do("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    async def press(self, key: str, text: str = "") -> None:
        """A key by its JavaScript name, with the text that it makes."""
        codes = {"Enter": 13, "F12": 123}
        code = codes.get(key) or ord(key.upper())
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        down = {"type": "keyDown", **common, **({"text": text} if text else {})}
        await self.do("Input.dispatchKeyEvent", **down)
        await self.do("Input.dispatchKeyEvent", type="keyUp", **common)

    async def heard(self) -> str:
        """Everything that the terminal in the page was sent."""
        return str(await self.ask("window.heard"))

    async def picture(self, file: Path) -> None:
        answer = await self.do("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(answer["data"]))


async def until(true: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"never: {what}"
        await asyncio.sleep(0.05)
