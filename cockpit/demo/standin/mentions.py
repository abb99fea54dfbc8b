"""Files that a prompt mentions, in the real CLI's format for requests and transcripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.prompt_files import prompt_files


@dataclass(frozen=True, slots=True)
class Mentioned:
    """One file that a prompt mentions, and the file's text."""

    path: str
    text: str

    @property
    def reminders(self) -> tuple[str, str]:
        """The two reminders for the model: the `Read` call, and the text with line numbers."""
        lines = enumerate(self.text.split("\n"), start=1)
        numbered = "\n".join(f"{number}\t{line}" for number, line in lines)
        return (
            _reminder(
                f'Called the Read tool with the following input: {{"file_path":"{self.path}"}}'
            ),
            _reminder(f"Result of calling the Read tool:\n{numbered}"),
        )


def mentioned(prompt: str) -> Iterator[Mentioned]:
    """Yield the prompt files that a prompt of cockpit mentions; unreadable files are left out."""
    for file in prompt_files(prompt):
        try:
            text = Path(file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        yield Mentioned(file, text)


def _reminder(text: str) -> str:
    return f"<system-reminder>\n{text}\n</system-reminder>"
