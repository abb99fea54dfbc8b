"""The simulated model's replies: one step of a job after another.

The position in the job is found in the request: in the model's earlier messages, the document that
the model read, the summary of a compaction, and the commits in git's output. There is no other
state, so that new, resumed and compacted sessions continue at the right step. The jobs are in
`jobs.py`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.prompt_files import prompt_files_in
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.job import ASK_USER, COMPLETE, TESTS, Growth, Job, Step, bash
from cockpit.demo.jobs import JOBS
from cockpit.demo.more_jobs import MORE

OUTPUT_TOKENS = 180
LOST_OUTPUT = "Output: (empty)"
"""The text that Gemini CLI gives the model after a command without output."""
MOST_READS = 5
"""Maximum attempts of the model to read its prompt, if the output is empty."""
NO_QUESTION = bash("git status --short", "See whether all is committed")
"""The call in place of a question, in a CLI that cannot ask questions. Without a call, the turn
would end."""
UNKNOWN_JOB = "I am a simulated model. I only know the jobs of the demo."
HAS_TASKS = "I keep a task list for this job."
FINISHED = "This job is finished. I cannot do other jobs, because I am a simulated model."


@dataclass(frozen=True, slots=True)
class Script:
    """Answers the requests of all agents of the demo."""

    jobs: Sequence[Job] = (*JOBS, *MORE)
    pace: float = 0.8
    """Seconds before each reply."""
    growth: Growth = field(default_factory=Growth)
    """The growth of the context, for jobs that define none."""
    larger: Mapping[str, float] = field(default_factory=lambda: {"gemini-2.5-pro": 2.25})
    """Growth factors by model, for CLIs that compact at more tokens than Claude Code."""

    def __call__(self, request: Request) -> Reply:
        job = self.job(request)
        if not request.has_tools:
            aside = job is not None and request.asks_for_answer
            text = written(job, request) if job and aside else "ok"
            return Reply(text, tokens=TokenCount(cache_creation=0, cache_read=400, output=1))
        if job is None:
            return self._read_prompt(request)
        text, calls = turn(job, request)
        growth = (job.growth or self.growth).times(self.larger.get(request.model, 1.0))
        return Reply(text, calls, tokens_for(job, request, growth), self.pace)

    def _read_prompt(self, request: Request) -> Reply:
        """Return a reply that reads the file with the prompt.

        If there is no such file, or the file was already read, the reply says that the job is
        unknown.
        """
        files = prompt_files_in(request.opening)
        # Gemini CLI sometimes loses the output of a command, so the file is read again.
        lost = min(request.everything.count(LOST_OUTPUT), MOST_READS - 1)
        if not files or request.replies_made > lost:
            return Reply(UNKNOWN_JOB, delay=self.pace)
        tokens = TokenCount(3, 400, self.growth.opening // 2, OUTPUT_TOKENS)
        return Reply("I read the task first.", (show(files[0]),), tokens, self.pace)

    def job(self, request: Request) -> Job | None:
        """Return the job whose title is in the first prompt, else anywhere in the conversation."""
        for text in (request.opening, request.everything):
            for job in self.jobs:
                if job.title in text:
                    return job
        return None


def turn(job: Job, request: Request) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the model's next text and tool calls."""
    done = position(job, request)
    if request.asks_for_summary:
        return summary(job, done, has_tasks=has_task_list(request)), ()
    path = request.document_asked
    if path is not None:
        say = "The current step is finished. Now I write the handoff document."
        return say, (ToolCall("Write", {"file_path": path, "content": written(job, request)}),)
    if just_wrote_document(request):
        return "The handoff document is written. I end my turn here.", ()
    if request.told_to_end:
        return "The current step and the document are finished. I end my turn here.", ()
    if request.documents_named and not request.steps_made:
        return take_over(job, request)
    if done >= len(job.steps):
        is_reported = any(job.steps[-1].say in own or FINISHED in own for own in request.own_words)
        return FINISHED if is_reported else f"{FINISHED}\n\n{COMPLETE}", ()
    step = job.steps[done]
    return step.say, tool_calls(job, step, request)


def position(job: Job, request: Request) -> int:
    """Return the number of finished steps, as the conversation shows.

    The last step that appears in the conversation is finished, and so are all steps before it. A
    step appears as the model's text, as a ticked task or as a commit.
    """
    own = "\n".join(request.own_words)
    conversation = request.everything
    done = 0
    for place, step in enumerate(job.steps, start=1):
        committed = (
            step.commit is not None and shown_as_commit(step.commit, conversation) is not None
        )
        if step.say in own or f"[x] {step.title}" in conversation or committed:
            done = place
    return done


def shown_as_commit(subject: str, text: str) -> re.Match[str] | None:
    """Find a commit with this subject in a text. Group 1 of the match is the commit's hash."""
    return re.search(rf"\b([0-9a-f]{{7,40}})\b\W+{re.escape(subject)}", text)


def just_wrote_document(request: Request) -> bool:
    """Return whether the model's last message wrote a handoff document."""
    return any(call.name == "Write" and call.is_about_document for call in request.last_calls)


def show(path: str) -> ToolCall:
    """Return a call that prints a file, for CLIs whose own tools may not read the file."""
    return ToolCall("Bash", {"command": f"cat {shlex.quote(path)}", "description": "Read it"})


def take_over(job: Job, request: Request) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the new session's first message and its tool calls, which read the document and list
    the branch's commits."""
    look = "git status --short && git log --oneline -12"
    # Gemini CLI's own tool does not read files that git ignores. In Claude Code, the `Read` tool
    # must be used: cockpit recognises it as reading the document.
    reads_all = "TaskCreate" in request.tools
    calls = [
        ToolCall("Read", {"file_path": path}) if reads_all else show(path)
        for path in request.documents_named[-1:]
    ]
    calls.append(ToolCall("Bash", {"command": look, "description": "List the commits"}))
    return (
        "I continue this job. First I read the handoff document, then I look at the branch.",
        tuple(calls),
    )


def tool_calls(job: Job, step: Step, request: Request) -> tuple[ToolCall, ...]:
    """Return a step's tool calls in this worktree, with updates of the agent's task list."""
    directory = working_directory(request)
    asks = ASK_USER in request.tools
    wanted = [
        call.within(directory) if asks or call.name != ASK_USER else NO_QUESTION
        for call in calls_after_answer(step, request)
    ]
    calls = read_before_edit(wanted, request)
    if "TaskCreate" not in request.tools:
        return tuple(calls)
    if step is job.steps[0]:
        calls.extend(
            ToolCall("TaskCreate", {"subject": text, "description": text})
            for text in job.milestones
        )
    elif step.finishes is not None and has_task_list(request):
        number = str(job.milestones.index(step.finishes) + 1)
        calls.append(ToolCall("TaskUpdate", {"taskId": number, "status": "completed"}))
    return tuple(calls)


def calls_after_answer(step: Step, request: Request) -> tuple[ToolCall, ...]:
    """Return the step's calls, which can depend on the user's answer to an earlier question."""
    for option, calls in step.instead.items():
        if request.chose(option):
            return calls
    return step.calls


def read_before_edit(calls: Sequence[ToolCall], request: Request) -> list[ToolCall]:
    """Add a `Read` before the first edit of a file: the CLI only edits files that it has read."""
    known = {call.path for call in request.calls_made}
    ordered: list[ToolCall] = []
    for call in calls:
        if call.name == "Edit" and call.path not in known:
            ordered.append(ToolCall("Read", {"file_path": call.path}))
            known.add(call.path)
        ordered.append(call)
    return ordered


def has_task_list(request: Request) -> bool:
    """Return whether this session has created a task list; a job's later sessions create none.

    After a compaction, the summary shows whether there is a task list.
    """
    made = any(call.name == "TaskCreate" for call in request.calls_made)
    return made or (request.is_compacted and HAS_TASKS in request.opening)


def working_directory(request: Request) -> str:
    """Return the agent's working directory, as named in the request; `.` if not named."""
    text = f"{request.system}\n{request.everything}"
    match = re.search(r"(?:[Ww]orking (?:in the )?directory:|<cwd>) *(/[^\n<]*)", text)
    return match.group(1).strip() if match else "."


def tokens_for(job: Job, request: Request, growth: Growth) -> TokenCount:
    """Return the token usage of this call; the context grows with each reply."""
    if request.asks_for_summary:
        return TokenCount(3, 1_500, growth.opening, 600)
    total = growth.after(request.steps_made, settles=job.settles)
    before = growth.after(request.steps_made - 1, settles=job.settles)
    return TokenCount(3, max(0, total - before - 3), before, OUTPUT_TOKENS)


def summary(job: Job, done: int, *, has_tasks: bool) -> str:
    """Return the summary of the conversation, for a compaction."""
    tasks = f"\n{HAS_TASKS}" if has_tasks else ""
    return (
        "<analysis>The job, what is done, what is open.</analysis>\n"
        f"<summary>\nThe request was:\n{job.prompt}\n\nProgress:\n{ticked(job.steps, done)}"
        f"{tasks}\n</summary>"
    )


def ticked(steps: Sequence[Step], done: int, commits: Mapping[str, str] | None = None) -> str:
    """Format the steps as a task list, with the first `done` steps ticked.

    `commits` maps the subjects of commits to hashes. If the hash of a step's commit is known, the
    step's line has the hash.
    """

    def line(place: int, step: Step) -> str:
        known = (commits or {}).get(step.commit or "")
        in_git = f" ({known})" if known else ""
        return f"- [{'x' if place < done else ' '}] {step.title}{in_git}"

    return "\n".join(line(place, step) for place, step in enumerate(steps))


def written(job: Job, request: Request) -> str:
    return document(job, position(job, request), commits_shown(job, request.everything))


def commits_shown(job: Job, text: str) -> dict[str, str]:
    """Return the hashes of the job's commits in a text, by subject."""
    subjects = [step.commit for step in job.steps if step.commit is not None]
    matches = {subject: shown_as_commit(subject, text) for subject in subjects}
    return {subject: match[1] for subject, match in matches.items() if match}


def document(job: Job, done: int, commits: Mapping[str, str] | None = None) -> str:
    """Return the handoff document after `done` steps; `commits` are hashes by subject."""
    finished, rest = job.steps[:done], job.steps[done:]
    following = rest[0] if rest else job.steps[-1]
    next_steps = "\n".join(
        f"{number}. {step.title}." for number, step in enumerate((following, *rest[1:]), start=2)
    )
    return "\n\n".join(
        [
            "# Handoff",
            f"## Goal\n\n{job.prompt}",
            f"## Current Task\n\n{following.title}.",
            "## Progress",
            f"### Completed\n\n{ticked(finished, done, commits) or 'None.'}",
            "### In Progress\n\nNone.",
            f"### Pending\n\n{ticked(rest, 0) or 'None.'}",
            f"## Current State\n\n{job.state}",
            f"## Next Steps\n\n1. `{TESTS}`: everything should pass.\n{next_steps}",
            f"## Key Decisions\n\n{job.decisions}",
            f"## What Did Not Work\n\n{job.dead_end}",
            "## Open Issues\n\nNone.",
            "## Background Work\n\nNone.",
            "## Links\n\nNone.",
            "## Instructions for the Successor\n\n"
            "Read this document, compare it with `git log`, and continue with the first next step. "
            "Do not repeat finished steps.\n",
        ]
    )
