"""Write the policy that allows a Gemini agent to read its prompt and its documents.

Gemini's read tool refuses files outside the directory and files that git ignores, such as handoff
documents. The model then uses `cat`, for which Gemini asks in most modes. So a policy file for this
run allows `cat` for exactly these files, and writing a document's draft. A user's own rule with a
higher priority still applies.

Gemini matches a pattern against the tool's arguments as JSON with sorted names, with a NUL
character before and after each top-level argument (0.61.0). Within a JSON string, NUL is escaped.
So the text between two NUL characters is one whole top-level argument.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from cockpit.adapters.agents.gemini.settings import config_folder, user_settings
from cockpit.adapters.agents.reporter import write_whole

PRIORITY = 500
"""The priority of cockpit's rules; Gemini's maximum is 999. Rules that a user adds with "always
allow" have a higher priority."""
MOST_FILES = 10_000
"""Maximum number of files in a folder of documents. In a larger folder, the policy allows no
document, so Gemini asks about every document."""
ASKS_ABOUT_PAGES = """[[rule]]
toolName = "web_fetch"
decision = "ask_user"
priority = 0
modes = ["autoEdit"]
"""
"""A rule that makes Gemini ask before it fetches a web page in `auto_edit`; by default, Gemini does
not ask. Any rule of the user overrides this rule."""
_PROMPT = r"prompt-[0-9a-f]{16}\.md"
_PAPER = r"(?:handoff|draft)-[0-9a-f-]{1,60}\.md"
_DRAFT = r"draft-[0-9a-f-]{1,60}\.md"
_IS_PAPER = re.compile(_PAPER)
_NOT_IN_QUOTES = re.compile(r'["$`\\!]')


def write_policy(
    path: Path, directory: Path, documents: Path | None, prompts: Path, more: str = ""
) -> None:
    """Write the policy of one session, with access for the user only. `more`: additional rules.

    `documents` is the folder of the session's handoff documents, below `directory`. The repository
    may contain this folder. If the path below `directory` contains a symlink, if a document is a
    symlink or has several hard links, or if the folder is too large, Gemini asks as for any other
    file.
    """
    rules = [("run_shell_command", cat) for cat in _cats(Path(os.path.realpath(prompts)), _PROMPT)]
    if documents is not None and _is_its_own(directory, documents):
        folder = Path(os.path.realpath(documents))
        rules += [("run_shell_command", cat) for cat in _cats(folder, _PAPER)]
        draft = _argument("file_path", _literal(f"{folder}/") + _DRAFT)
        rules += [("write_file", draft), ("replace", draft)]
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(path, "\n".join([*(_rule(*rule) for rule in rules), more]).encode(), 0o600)


def policy_arguments(ours: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the arguments for cockpit's policy and the user's policies.

    With cockpit's policy alone, Gemini would ignore the user's.
    """
    named = user_settings(environment).get("policyPaths")
    theirs = [str(path) for path in named] if isinstance(named, list) else []
    folder = config_folder(environment) / "policies"
    paths = [str(ours), *(theirs or ([str(folder)] if folder.is_dir() else []))]
    return [word for path in paths for word in ("--policy", path)]


def _is_its_own(directory: Path, documents: Path) -> bool:
    """Return whether cockpit may allow reading the documents without a question.

    False if the path below `directory` contains a symlink, if a document is a symlink or has
    several hard links, or if the folder has more than `MOST_FILES` entries.
    """
    if not documents.is_relative_to(directory) or ".." in documents.parts:
        return False
    folder = Path(os.path.realpath(directory)) / documents.relative_to(directory)
    if os.path.realpath(folder) != str(folder):
        return False
    try:
        with os.scandir(folder) as scan:
            entries = list(islice(scan, MOST_FILES + 1))
            return len(entries) <= MOST_FILES and all(map(_is_one_file, entries))
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _is_one_file(entry: os.DirEntry[str]) -> bool:
    if not _IS_PAPER.fullmatch(entry.name):
        return True
    return not entry.is_symlink() and entry.stat(follow_symlinks=False).st_nlink == 1


def _cats(folder: Path, name: str) -> Iterator[str]:
    """Yield patterns for `cat` of one file in a folder, with quotes if the path needs them."""
    text = f"{folder}/"
    if shlex.quote(text) == text:
        yield _argument("command", _literal(f"cat {text}") + name)
        return
    if "'" not in text:
        yield _argument("command", _literal(f"cat '{text}") + name + "'")
    if not _NOT_IN_QUOTES.search(text):
        yield _argument("command", _literal(f'cat "{text}') + name + _literal('"'))


def _argument(name: str, value: str) -> str:
    """Return a pattern for a top-level argument whose whole value matches `value`."""
    return rf'\x00"{name}":"{value}"\x00'


def _rule(tool: str, pattern: str) -> str:
    return (
        f'[[rule]]\ntoolName = "{tool}"\nargsPattern = {json.dumps(pattern, ensure_ascii=False)}\n'
        f'decision = "allow"\npriority = {PRIORITY}\n'
    )


def _literal(text: str) -> str:
    """Return a pattern that matches this text in a JSON string."""
    return re.escape(json.dumps(text, ensure_ascii=False)[1:-1]).replace(r"\-", "-")
