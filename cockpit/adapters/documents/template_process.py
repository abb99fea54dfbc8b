"""Render one template in a separate process; run as a module (`python -m`).

A sandboxed template can still loop forever or produce gigabytes. The kernel limits the process's
time, memory and output size, and a process can be killed.

Reads JSON from stdin: `source`, `values`, and the limits `cpu`, `memory` and `largest`. Prints
JSON: `text`, or `error` with its `line`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from cockpit.config.kernel import IS_MACOS
from cockpit.core.safetext import safe_line

SECONDS = 10.0
"""Seconds after which the process is killed."""
CPU_SECONDS = 3
MEMORY = 512 * 1024 * 1024
"""Maximum bytes of address space; rendering a document needs a tenth of this."""
_JSON_EXPANDS = 6
"""Maximum bytes of JSON for each byte of the result, such as `\\u0001` for a control character."""


class Unrendered(Exception):
    """An error in rendering a template, with the template's line if known."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.line = line


def render_in_process(source: str, values: Mapping[str, Any], largest: int) -> str:
    """Return the rendered template, at most `largest` bytes of UTF-8. Raises `Unrendered`."""
    limits = {"cpu": CPU_SECONDS, "memory": MEMORY, "largest": largest}
    order = json.dumps({"source": source, "values": values, **limits}).encode()
    with tempfile.TemporaryFile() as made:
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", __name__],
                input=order,
                stdout=made,
                stderr=subprocess.DEVNULL,
                env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Unrendered(f"the template took more than {SECONDS:g} s") from None
        except OSError as error:
            raise Unrendered(f"cannot start a process: {error.strerror}") from None
        made.seek(0)
        output = made.read(largest * _JSON_EXPANDS + 4096)
    try:
        answer = json.loads(output)
    except ValueError:
        # The kernel killed the process, or the process had no memory left to report the error.
        why = (
            f"the template used more than {CPU_SECONDS} s of CPU time, or {MEMORY >> 20} "
            "MB of memory"
        )
        raise Unrendered(f"{why} (exit code {done.returncode})") from None
    if "text" not in answer:
        raise Unrendered(str(answer.get("error")), answer.get("line"))
    return str(answer["text"])


def _render(source: str, values: Mapping[str, Any], largest: int) -> dict[str, Any]:
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        autoescape=False, undefined=StrictUndefined, keep_trailing_newline=True
    )
    size, pieces = 0, []
    try:
        for piece in environment.from_string(source).generate(values):
            size += len(piece.encode("utf-8", "surrogatepass"))
            if size > largest:
                return {"error": f"the result is larger than {largest // 1024} KiB"}
            pieces.append(piece)
    except TemplateError as error:
        message = safe_line(error.message or type(error).__name__)
        return {"error": message, "line": getattr(error, "lineno", None)}
    except MemoryError:
        return {"error": f"the template used more than {MEMORY >> 20} MB of memory"}
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        return {"error": f"{type(error).__name__}: {safe_line(str(error))}"}
    return {"text": "".join(pieces)}


def main() -> None:
    """Render the template from stdin, and print the result."""
    order = json.load(sys.stdin)
    largest = order["largest"]
    # Limits file sizes too, because the result is written to a file.
    bounds = {
        resource.RLIMIT_CPU: order["cpu"],
        resource.RLIMIT_AS: order["memory"],
        resource.RLIMIT_FSIZE: largest * _JSON_EXPANDS + 4096,
        resource.RLIMIT_CORE: 0,
    }
    for which, most in bounds.items():
        try:
            resource.setrlimit(which, (most, most))
        except (OSError, ValueError):
            if not IS_MACOS or which != resource.RLIMIT_AS:  # macOS does not limit memory
                raise
    json.dump(_render(order["source"], order["values"], largest), sys.stdout)


if __name__ == "__main__":
    main()
