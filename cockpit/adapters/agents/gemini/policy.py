"""Write the policy that lets a Gemini agent read its prompt and its documents, and nothing else.

Gemini's own tool for reading refuses files outside of the directory, and files that git ignores; a
handoff document is such a file. The model then uses `cat`, for which Gemini asks in most modes. So
a policy file of this run allows `cat` for these files, and the writing of a document's draft, by
their exact form. A rule of the user's own with a higher priority still counts.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.agents.gemini.settings import config_folder, user_settings
from cockpit.adapters.agents.reporter import write_whole

PRIORITY = 500
"""Of 999; below what the user chose to allow always in a session."""
_BELOW = r"[A-Za-z0-9_./-]{0,200}"
"""Folders below the directory, in a JSON string."""


def write_policy(path: Path, directory: Path, prompts: Path) -> None:
    """Write the policy of one session, readable only by the user."""
    prompt = rf"{_literal(prompts)}/prompt-[0-9a-f]{{16}}\.md"
    paper = rf"{_literal(directory)}/{_BELOW}(?:handoff|draft)-[0-9a-f-]{{1,60}}\.md"
    draft = rf"{_literal(directory)}/{_BELOW}draft-[0-9a-f-]{{1,60}}\.md"
    rules = (
        ("run_shell_command", f'"command":"cat {prompt}"'),
        ("run_shell_command", f'"command":"cat {paper}"'),
        ("write_file", f'"file_path":"{draft}"'),
        ("replace", f'"file_path":"{draft}"'),
    )
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(path, "\n".join(_rule(*rule) for rule in rules).encode(), 0o600)


def policy_arguments(ours: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the arguments that add our policy to the user's, which it would replace otherwise."""
    named = user_settings(environment).get("policyPaths")
    theirs = [str(path) for path in named] if isinstance(named, list) else []
    folder = config_folder(environment) / "policies"
    paths = [str(ours), *(theirs or ([str(folder)] if folder.is_dir() else []))]
    return [word for path in paths for word in ("--policy", path)]


def _rule(tool: str, pattern: str) -> str:
    return (
        f'[[rule]]\ntoolName = "{tool}"\nargsPattern = {json.dumps(pattern, ensure_ascii=False)}\n'
        f'decision = "allow"\npriority = {PRIORITY}\n'
    )


def _literal(path: Path) -> str:
    """Return an expression for this path within a JSON string."""
    text = json.dumps(os.path.realpath(path), ensure_ascii=False)[1:-1]
    return re.escape(text).replace(r"\-", "-")
