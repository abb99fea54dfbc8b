"""The section `Verified Facts` of a handoff document, written from git and the transcript.

A commit that the transcript or the agent's text names, but that git does not have, is marked as
unverified. This module does not run git: the caller passes a `GitView`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from cockpit.core import fact_lines
from cockpit.core.claimed_files import Trace
from cockpit.core.collectors.files import is_scratch
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.facts import BackgroundTask, CommitMade, Facts, Subagent, Todo
from cockpit.core.front_matter import FrontMatter
from cockpit.core.markdown import code, fenced, marked_lines, one_line

MOST_LINES = 100
"""Maximum lines of one list, because every line uses the context of the new session."""
MOST_CLAIMS = 50
MOST_OVER = 10
"""Maximum listed background tasks that have ended. All running tasks are listed."""
REPORT_SHOWN = 300
"""Maximum characters of a subagent's report that a document quotes."""
_IN_BACKGROUND = deferred_pattern(
    r"- (?:[\w -]{1,40} `[^`]+`(?: \([^)]*\))?, [\w -]{1,40}: |… and \d+ more$)"
)
"""Matches the beginning of each line that `background_work` writes."""
UNVERIFIED = "(unverified: git does not know this commit)"
VERIFIED = "(verified: git has this commit)"
NOT_CHECKED = "(not checked: git was not asked)"
COMMIT_MARKS = (VERIFIED, UNVERIFIED, NOT_CHECKED)
"""Every mark that cockpit adds to a commit."""
NOT_KNOWN = "Unknown."
NO_TEXT = "(no text)"

_YES, _NO = "\0y", "\0n"

_LISTED_MARKS = {True: "", False: f" {UNVERIFIED}", None: f" {NOT_CHECKED}"}
"""The mark of a commit in the list, by whether git has the commit; None: git was not asked."""
_MARKS = {"completed": "[x]", "in_progress": "[~]"}
_AFTER_COMMIT = r"(?:(?<=\b[Cc]ommit )|(?<=\b[Cc]ommit `)|(?<=\b[Cc]ommits )|(?<=\b[Cc]ommits `))"
"""Matches the position after the word `commit`, where even a number without letters is read as a
hash."""
_HASH = deferred_pattern(
    r"(?<![\w/.#:-])(?=[0-9a-f]*[0-9])"
    rf"(?:(?=[0-9a-f]*[a-f])|{_AFTER_COMMIT})[0-9a-f]{{7,40}}(?![\w/:-])"
)
_ABOUT_COMMITS = deferred_pattern(
    r"\b(?:commit|sha\b|hash|head\b|merge|revert|cherry|rebase)", re.I
)
_LISTED_HASH = deferred_pattern(r"\s*(?:[-*+]|\d{1,3}[.)])?\s*`?(?=[0-9a-f]{7,40}\b)")


@dataclass(frozen=True, slots=True)
class GitView:
    """The state of the directory in git, as determined by the caller."""

    is_repository: bool = False
    branch: str | None = None
    """The current branch; None if HEAD is detached, or without a repository."""
    head: str | None = None
    status: tuple[str, ...] = ()
    """Lines of `git status --porcelain`."""
    status_known: bool = True
    """False if git failed, or if `git status` was not run. If `is_repository` is False too, it is
    unknown whether the directory is in a repository."""
    problem: str = ""
    """Why git failed; empty if git did not fail, or if the reason is unknown."""
    busy: str | None = None
    """The git operation in progress; None if there is none."""
    commits: tuple[CommitMade, ...] = ()
    """Commits of this session, newest first."""
    root: str | None = None
    """Absolute path of the top folder of the worktree; None outside a repository."""
    committed: tuple[str, ...] = ()
    """Files that the session's commits changed; paths are relative to the top folder of the
    worktree."""
    known: frozenset[str] | None = None
    """The commits of `claimed_commits` and of the transcript that the repository has.

    None if git was not asked; then `mark_claims` marks only commits in `commits` and `head`.
    """
    lost: frozenset[str] = frozenset()
    """The commits of the transcript that no branch has now, such as after an amend or a reset."""
    upstream: str | None = None
    """The branch on the remote; None if there is none."""
    ahead: int | None = None
    """Number of commits that are not pushed to the upstream branch; None if unknown."""
    behind: int | None = None
    looked_for: Mapping[str, Trace] = field(default_factory=dict)
    """The result of the check for each path in the document, by the path as written. A file that
    could not be checked is left out."""

    @property
    def may_be_repository(self) -> bool:
        """Whether the directory is in a repository, or git could not answer that."""
        return self.is_repository or not self.status_known

    def has_commit(self, commit: str) -> bool | None:
        """Return whether the repository has a commit; None if git was not asked."""
        own = [made.hash for made in self.commits] + ([self.head] if self.head else [])
        if any(
            own_commit.startswith(commit) or commit.startswith(own_commit)
            for own_commit in own
            if own_commit
        ):
            return True
        return None if self.known is None else commit in self.known

    def place(self, path: str) -> str:
        """Return a path relative to the top folder of the worktree; unchanged if the path is not
        inside that folder."""
        return path.removeprefix(f"{self.root}/") if self.root else path

    def trace(self, places: Iterable[str], *, is_there: bool) -> Trace | None:
        """Return the result of checking a claimed file; None if git cannot answer.

        `places` are the paths that the claim may mean. A file that does not exist is `MISSING`
        even without a repository.
        """
        if any(self.has_changed(place) for place in places):
            return Trace.CHANGED
        if not self.status_known:
            return None
        if not is_there:
            return Trace.MISSING
        return Trace.UNCHANGED if self.is_repository else None

    def has_changed(self, path: str) -> bool:
        """Return whether git shows a change of the file, committed or not."""
        place = self.place(path)
        if place in self.committed:
            return True
        shown = [line[3:].strip('"') for line in self.status]
        # An untracked folder is one line of the status, with a slash at its end.
        return any(name == place or (name[-1:] == "/" and place.startswith(name)) for name in shown)


def claimed_commits(text: str) -> list[str]:
    """Return the commit hashes in a text, each once, at most `MOST_CLAIMS`.

    Reads only lines that mention commits or begin with a hash, as in `git log --oneline`, because
    other hexadecimal words are ids, digests or colours.
    """
    commits: dict[str, None] = {}
    for line in text.split("\n"):
        if len(line) > 2000 or not (_ABOUT_COMMITS.search(line) or _LISTED_HASH.match(line)):
            continue
        for claim in _HASH.findall(line):
            commits[claim] = None
            if len(commits) == MOST_CLAIMS:
                return list(commits)
    return list(commits)


def mark_claims(text: str, git: GitView, claims: Sequence[str]) -> str:
    """Return the text with each claimed commit marked as verified or unverified. Idempotent.

    Marks that the agent wrote are removed. A commit that git was not asked about gets no mark. Code
    blocks are not changed; `verified_facts` lists the unverified commits in them.
    """
    answers = {claim: git.has_commit(claim) for claim in claims}
    return "\n".join(
        line if is_code else _mark_line(line, answers) for line, is_code in marked_lines(text)
    )


def verified_facts(facts: Facts, git: GitView, front: FrontMatter, claims: Sequence[str]) -> str:
    """Return the body of `## Verified Facts`; `claims` are the commits in the agent's text."""
    parts = [
        "Written by cockpit from git and the session's transcript, not by the agent.",
        "### Repository\n\n" + _repository(git),
        "### Uncommitted Changes\n\n" + uncommitted(git),
        "### Commits of This Session\n\n" + commits(facts, git, claims),
        *_if_any("Pull Requests and Issues", fact_lines.links(facts.links)),
        *_if_any("Last Checks", fact_lines.checks(facts.checks)),
        "### Files Modified\n\n" + _files(facts, git),
        "### Todos\n\n" + todos(facts.todos),
        "### Last Tool Calls\n\n" + _activity(facts),
        *_if_any("Most Read Files", _most_read(facts, git)),
        *_if_any("Instruction Files", fact_lines.listed(map(code, facts.instructions))),
        "### Usage\n\n" + _usage(facts, front),
    ]
    return "\n\n".join(parts)


def _if_any(title: str, body: str) -> tuple[str, ...]:
    return (f"### {title}\n\n{body}",) if body else ()


def _most_read(facts: Facts, git: GitView) -> str:
    return fact_lines.listed(
        f"{code(git.place(path), 300)} ({count} times)" for path, count in facts.most_read
    )


def todos(items: Sequence[Todo]) -> str:
    """Format the agent's todo list: `[x]` completed, `[~]` in progress, `[ ]` anything else;
    `None.` if the list is empty."""
    if not items:
        return "None."
    return _listed([f"{_MARKS.get(todo.status, '[ ]')} {_text(todo.content)}" for todo in items])


def background_work(facts: Facts) -> str:
    """Return one line for each subagent and background task, with advice for the successor.

    Of the tasks that have ended, only the last `MOST_OVER` are listed. Empty without subagents and
    background tasks. `is_background_line` recognises these lines by their beginning: the kind and
    the id.
    """
    open_ = [task for task in facts.background if task.status in ("running", "unknown")]
    over = [task for task in facts.background if task not in open_]
    shown = open_ + over[-MOST_OVER:]
    lines = [_subagent(agent) for agent in facts.subagents] + [_task(task) for task in shown]
    return _listed(lines) if lines else ""


def is_background_line(line: str, facts: Facts) -> bool:
    """Return whether `background_work` wrote the line, from these facts or earlier ones."""
    if _IN_BACKGROUND.match(line):
        return True
    known = [("subagent", agent.id) for agent in facts.subagents]
    known += [(_kind(task), task.id) for task in facts.background]
    return any(line.startswith(f"- {kind} {code(ident, 80)}") for kind, ident in known)


def _kind(task: BackgroundTask) -> str:
    return one_line(task.type, 40) or "task"


def _subagent(agent: Subagent) -> str:
    done = agent.status == "completed"
    check = (
        "its result is in the work that followed; check with `git log` and `git diff`"
        if done
        else "it ended with the previous session; check what it left with `git status` and "
        "`git diff`, and start it again only if its result is missing"
    )
    status = "running when this was written" if agent.status == "running" else agent.status
    task = one_line(agent.task) or "task unknown"
    kind = f" ({kind})" if (kind := one_line(agent.type, 60)) else ""
    report = f'; it reported: "{one_line(agent.result, REPORT_SHOWN)}"' if agent.result else ""
    return f"subagent {code(agent.id, 80)}{kind}, {one_line(status, 40)}: {task}{report}: {check}"


def _task(task: BackgroundTask) -> str:
    kind = _kind(task)
    what = one_line(task.description, 200)
    command = f"{code(one_line(task.command, 500), 600)}" if task.command else ""
    text = ": ".join(part for part in (what, command) if part) or "not described"
    log = f"; its output was written to {code(task.log, 4096)}" if task.log else ""
    if task.status == "unknown":
        return (
            f"{kind} {code(task.id, 80)}, perhaps still running: {text}: it was started with `&`, "
            "so its end is not recorded; look for its process before you start it again"
        )
    if task.status != "running":
        return f"{kind} {code(task.id, 80)}, {one_line(task.status, 40)}: {text}{log}"
    again = (
        "if the job needs it, start it again with that command in the background"
        if task.command
        else "start it again if the job needs it"
    )
    return (
        f"{kind} {code(task.id, 80)}, running when this was written: {text}: it ended with the "
        f"previous session; {again}{log}"
    )


def _text(text: str) -> str:
    return one_line(text, 500) or NO_TEXT


def _listed(lines: Sequence[str]) -> str:
    kept = [f"- {line}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        kept.append(f"- … and {len(lines) - MOST_LINES} more")
    return "\n".join(kept)


def _mark_line(line: str, answers: Mapping[str, bool | None]) -> str:
    for mark in COMMIT_MARKS:
        line = line.replace(f" {mark}", "")
    if not (_ABOUT_COMMITS.search(line) or _LISTED_HASH.match(line)):
        return line

    def marked(match: re.Match[str]) -> str:
        known = answers.get(match[0])
        if known is None:
            return match[0]
        # The mark goes after the code span that contains the hash.
        span = line[match.end() : match.end() + 1] == "`"
        return f"{match[0]}{_YES if known else _NO}" if span else f"{match[0]} {_mark(known)}"

    line = _HASH.sub(marked, line)
    for sign, known in ((_YES, True), (_NO, False)):
        line = line.replace(f"{sign}`", f"` {_mark(known)}")
    return line


def _mark(known: bool) -> str:
    return VERIFIED if known else UNVERIFIED


def _repository(git: GitView) -> str:
    if not git.may_be_repository:
        return "The directory is not a git repository: nothing below could be checked with git."
    if not git.is_repository:
        return f"{unknown_state(git)} Nothing below could be checked with git."
    lines = [
        f"branch: {code(git.branch)}" if git.branch else "branch: none (detached HEAD)",
        f"head: {code(git.head)}" if git.head else "head: no commit yet",
    ]
    if git.upstream:
        lines.append(f"upstream: {code(git.upstream)}{_distance(git)}")
    if git.busy:
        lines.append(f"in progress: {one_line(git.busy)}")
    return _listed(lines)


def unknown_state(git: GitView) -> str:
    """Return the sentence for a directory about which git could not be asked."""
    why = f": {one_line(git.problem, 400).rstrip('.')}" if git.problem else ""
    return f"The state of git is unknown{why}."


def _distance(git: GitView) -> str:
    if git.ahead is None or git.behind is None:
        return ""
    return f", {git.ahead} ahead and {git.behind} behind, as of the last fetch"


def uncommitted(git: GitView) -> str:
    """Return the fenced lines of `git status --porcelain`, or a sentence if there are none or the
    status is unknown."""
    if not git.is_repository:
        return NOT_KNOWN if git.status_known else unknown_state(git)
    if not git.status_known:
        return (
            "Unknown: `git status` failed, or would run a program that the repository configures."
        )
    if not git.status:
        return "None: the working tree is clean."
    lines = [line.rstrip()[:300] for line in git.status[:MOST_LINES]]
    if len(git.status) > MOST_LINES:
        lines.append(f"… and {len(git.status) - MOST_LINES} more")
    return fenced("\n".join(_flat(line) for line in lines))


def _flat(line: str) -> str:
    lead = len(line) - len(line.lstrip(" "))
    return " " * min(lead, 8) + one_line(line, 300)


def commits(facts: Facts, git: GitView, claims: Sequence[str] = ()) -> str:
    """List the session's commits in git, newest first; then the other commits of the transcript,
    and commits in `claims` that git does not have.

    A commit that git does not have is marked as unverified. A commit that git was not asked about
    is marked as not checked. A commit that no branch has now is left out. Returns `None.` without
    commits.
    """
    lines = [f"{code(made.hash, 40)} {_text(made.subject)}" for made in git.commits]
    known = [made.hash for made in git.commits]
    for made in facts.commits:
        if made.hash in git.lost or any(
            commit.startswith(made.hash) or made.hash.startswith(commit) for commit in known
        ):
            continue
        known.append(made.hash)
        mark = _LISTED_MARKS[git.has_commit(made.hash)]
        lines.append(f"{code(made.hash, 40)} {_text(made.subject)}{mark}")
    lines += [
        f"{code(claim, 40)} is named in this document {UNVERIFIED}"
        for claim in claims
        if git.has_commit(claim) is False and claim not in known
    ]
    return _listed(lines) if lines else "None."


def _files(facts: Facts, git: GitView) -> str:
    """List the changed files: those in the transcript, then those only in commits.

    Each file has its source in parentheses: transcript, git or both.
    """
    named = [path for path in dict.fromkeys(facts.files_modified) if not is_scratch(path, git.root)]
    lines = [f"{code(git.place(path), 300)}{_sources(path, git)}" for path in named]
    places = {git.place(path) for path in named}
    lines += [f"{code(path, 300)} (git)" for path in git.committed if path not in places]
    if not lines:
        by_git = "; git shows changes (see Uncommitted Changes)" if git.status else ""
        return f"No modified files in the transcript{by_git}."
    return _listed(lines)


def _sources(path: str, git: GitView) -> str:
    if git.is_repository and git.has_changed(path):
        return " (transcript and git)"
    return " (transcript)"


def _activity(facts: Facts) -> str:
    if not facts.recent_activity:
        return "None."
    return fenced("\n".join(one_line(line, 300) for line in facts.recent_activity[-5:]))


def _usage(facts: Facts, front: FrontMatter) -> str:
    if front.tokens is None:
        context = "unknown"
    elif front.window is None:
        context = f"{front.tokens:,} tokens (window size unknown)"
    else:
        share = front.percent
        if share is None and front.window:
            share = 100 * front.tokens / front.window
        used = f", {share:.0f} %" if share is not None else ""
        context = f"{front.tokens:,} of {front.window:,} tokens{used} ({front.confidence})"
    return _listed([f"context: {context}", f"compactions: {facts.compactions}"])
