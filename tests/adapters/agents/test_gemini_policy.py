"""Which calls of tools cockpit's policy allows in Gemini: exact files, and nothing like them.

The second half asks the policy engine of the real Gemini CLI, where it is installed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.gemini.policy import ASKS_ABOUT_PAGES, write_policy

MODULES = Path(__file__).parents[3] / ".venv" / "npm" / "node_modules"
BUNDLE = MODULES / "@google" / "gemini-cli" / "bundle"
ENGINE = Path(__file__).with_name("gemini_policy.mjs")
SHELL = "run_shell_command"
NAME = "handoff-2026-11-23-134700.md"


@dataclass(frozen=True)
class Session:
    """A session's directory with the policy that cockpit writes for it."""

    policy: Path
    directory: Path
    documents: Path
    prompts: Path

    @property
    def document(self) -> str:
        return str(self.documents / NAME)

    @property
    def draft(self) -> str:
        return str(self.documents / "draft-0a1b2c3d.md")

    @property
    def prompt(self) -> str:
        return str(self.prompts / "prompt-0123456789abcdef.md")

    def write(self, more: str = "") -> None:
        write_policy(self.policy, self.directory, self.documents, self.prompts, more)

    def allows(self, tool: str, **given: Any) -> bool:
        """Whether a rule matches, by the text that Gemini 0.61.0 makes of a tool's arguments."""
        pairs = (f"{json.dumps(key)}:{_json(given[key])}" for key in sorted(given))
        text = "{" + ",".join(f"\0{pair}\0" for pair in pairs) + "}"
        return any(
            rule["toolName"] == tool and re.search(rule["argsPattern"], text)
            for rule in tomllib.loads(self.policy.read_text())["rule"]
        )


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def session(tmp_path: Path, folder: str = "work") -> Session:
    directory = tmp_path / folder
    directory.mkdir()
    documents = directory / ".cockpit" / "handoffs"
    found = Session(tmp_path / "policy.toml", directory, documents, tmp_path / "prompts" / "run")
    found.write()
    return found


@pytest.fixture
def work(tmp_path: Path) -> Session:
    return session(tmp_path)


def test_the_files_of_a_session_are_allowed(work: Session) -> None:
    rules = tomllib.loads(work.policy.read_text())["rule"]
    assert {rule["decision"] for rule in rules} == {"allow"}
    assert work.allows(SHELL, command=f"cat {work.prompt}", description="x")
    assert work.allows(SHELL, command=f"cat {work.document}")
    assert work.allows(SHELL, command=f"cat {work.draft}")
    assert work.allows("write_file", content="x", file_path=work.draft)
    assert work.allows("replace", file_path=work.draft, old_string="a", new_string="b")


def test_other_commands_and_files_are_not(work: Session) -> None:
    for command in (
        f"cat {work.prompt}; rm x",
        f"cat {work.prompt} > x",
        f"cat {work.prompts}/../x.md",
        f"cat {work.directory}/docs/{NAME}",
        f"cat {work.documents}/x/{NAME}",
        f"echo; cat {work.document}",
    ):
        assert not work.allows(SHELL, command=command), command
    for path in (
        work.document,
        f"{work.directory}/README.md",
        f"{work.directory}/draft-1.md",
        f"{work.directory}/src/draft-1.md",
        f"./{work.draft}",
    ):
        assert not work.allows("write_file", content="x", file_path=path), path
    inner = f'"file_path":"{work.draft}"'
    assert not work.allows("write_file", content=inner, file_path="/work/x.md")
    assert not work.allows("write_file", content=f"\0{inner}\0", file_path="/work/x.md")


def test_an_argument_inside_of_another_one_is_not_taken_for_the_tools_own(work: Session) -> None:
    for place in ("a", "z"):
        inside: dict[str, Any] = {place: {"command": f"cat {work.document}"}}
        assert not work.allows(SHELL, command="touch x", **inside)
        inside = {place: {"file_path": work.draft}}
        assert not work.allows("write_file", content="x", file_path="/root/.bashrc", **inside)
        assert not work.allows("replace", file_path="/root/.bashrc", **inside)


def test_no_path_leads_out_of_the_folder(work: Session) -> None:
    for path in (
        f"{work.documents}/../../../other/draft-1.md",
        f"{work.directory}/../other/.cockpit/handoffs/draft-1.md",
        f"{work.documents}/../handoffs/draft-1.md",
    ):
        assert not work.allows("write_file", content="x", file_path=path)
        assert not work.allows(SHELL, command=f"cat {path}")


@pytest.mark.parametrize("folder", ["a b", "a$(touch x)", "a;touch x", "it's"])
def test_a_path_that_a_shell_would_split_is_allowed_in_quotes_only(
    tmp_path: Path, folder: str
) -> None:
    work = session(tmp_path, folder)
    assert work.allows("write_file", content="x", file_path=work.draft)
    assert not work.allows(SHELL, command=f"cat {work.document}")
    assert work.allows(SHELL, command=f"cat '{work.document}'") == ("'" not in folder)
    assert work.allows(SHELL, command=f'cat "{work.document}"') == ("$" not in folder)


@pytest.mark.parametrize("kind", ["folder", "parent", "draft", "document", "hard link"])
def test_links_that_a_repository_brings_are_not_followed(work: Session, kind: str) -> None:
    """Gemini writes where a link leads, and would read outside of the directory."""
    target = work.directory / "target"
    target.mkdir()
    (target / "file").write_text("x")
    if kind == "folder":
        work.documents.parent.mkdir()
        work.documents.symlink_to(target)
    elif kind == "parent":
        work.documents.parent.symlink_to(target)
    else:
        work.documents.mkdir(parents=True)
        name = Path(work.document if kind == "document" else work.draft)
        if kind == "hard link":
            name.hardlink_to(target / "file")
        else:
            name.symlink_to(target / "file")
    work.write()
    assert not work.allows("write_file", content="x", file_path=work.draft)
    assert not work.allows("replace", file_path=work.draft)
    assert not work.allows(SHELL, command=f"cat {work.document}")
    assert work.allows(SHELL, command=f"cat {work.prompt}")


def test_documents_outside_of_the_directory_have_no_rule(work: Session) -> None:
    for documents in (work.directory / ".." / "x", work.policy.parent / "x", None):
        write_policy(work.policy, work.directory, documents, work.prompts)
        assert len(tomllib.loads(work.policy.read_text())["rule"]) == 1


# The policy engine of the real Gemini CLI


def decisions(work: Session, *calls: tuple[str, str, dict[str, Any]]) -> list[str]:
    node = shutil.which("node")
    if node is None or not BUNDLE.is_dir():
        pytest.skip("Gemini CLI is not installed; `make clis` installs it")
    given = [{"mode": mode, "name": name, "args": args} for mode, name, args in calls]
    done = subprocess.run(
        [node, str(ENGINE), str(BUNDLE), str(work.policy), str(work.directory)],
        input=json.dumps(given).encode(),
        env={**os.environ, "GEMINI_CLI_HOME": str(work.policy.parent)},
        capture_output=True,
        timeout=120,
        check=True,
    )
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.long
@pytest.mark.parametrize("folder", ["work", "a b (c)*{2}"])
def test_gemini_itself_allows_the_files_and_nothing_else(tmp_path: Path, folder: str) -> None:
    work = session(tmp_path, folder)
    quote = '"' if " " in folder else ""
    cat = {"command": f"cat {quote}{work.document}{quote}"}
    draft = {"file_path": work.draft}
    outside = {"file_path": f"{work.documents}/../../../draft-1.md", "content": "x"}
    allowed = [
        (mode, *call)
        for mode in ("default", "plan", "autoEdit")
        for call in (
            (SHELL, cat),
            ("write_file", {**draft, "content": "x"}),
            ("replace", {**draft, "old_string": "a", "new_string": "b"}),
        )
    ]
    assert decisions(work, *allowed) == ["allow"] * len(allowed)
    refused = [
        (mode, *call)
        for mode in ("default", "plan")
        for call in (
            (SHELL, {"command": "touch x", "z": cat}),
            (SHELL, {"command": f"{cat['command']}; touch x"}),
            ("write_file", {"file_path": "/root/.bashrc", "content": "x", "z": draft}),
            ("write_file", outside),
        )
    ]
    # In `default`, Gemini runs `cat` without a rule.
    refused.append(("plan", SHELL, {"command": f"cat {work.documents}/../{NAME}"}))
    assert "allow" not in decisions(work, *refused)


def test_gemini_asks_about_web_pages_where_edits_are_accepted(work: Session) -> None:
    page = ("web_fetch", {"prompt": "Read http://127.0.0.1/x"})
    edit = ("write_file", {"file_path": f"{work.directory}/x", "content": "x"})
    calls = [("autoEdit", *page), ("autoEdit", *edit), ("yolo", *page)]
    assert decisions(work, *calls) == ["allow", "allow", "allow"]
    work.write(ASKS_ABOUT_PAGES)
    assert decisions(work, *calls) == ["ask_user", "allow", "allow"]
    work.write(
        f'{ASKS_ABOUT_PAGES}[[rule]]\ntoolName = "web_fetch"\ndecision = "allow"\npriority = 1\n'
    )
    assert decisions(work, *calls) == ["allow", "allow", "allow"]
