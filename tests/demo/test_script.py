"""The script finds its place in nothing but the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.core.continuation import Succession, continuation
from cockpit.core.document import read, validate
from cockpit.core.prompt_files import IN_A_FILE_FOR_CAT
from cockpit.core.request import ask_again, request
from cockpit.demo.conversation import COMPACTED, Reply, Request
from cockpit.demo.job import Job
from cockpit.demo.jobs import (
    DURATIONS,
    JOBS,
    LOOK_UP,
    ROUNDING,
    WEEKS,
    answers_needed,
    jobs_for,
)
from cockpit.demo.more_jobs import INVOICES, MORE
from cockpit.demo.script import UNKNOWN_JOB, Script, document, position, summary

PATH = "/w/.cockpit/handoffs/handoff-2026-11-21-201500.md"
DRAFT = "/w/.cockpit/handoffs/draft-9af5a76a.md"
QUESTION = {"name": "AskUserQuestion"}
TOOLS = [{"name": name} for name in ("Bash", "Read", "Write", "Edit", "TaskCreate", "TaskUpdate")]


class Talk:
    """A conversation with the script, as the CLI would lead it."""

    def __init__(self, opening: str, *, asks: bool = False) -> None:
        self.tools = [*TOOLS, QUESTION] if asks else TOOLS
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": opening}]
        self.replies: list[Reply] = []

    @property
    def request(self) -> Request:
        system = "Primary working directory: /w"
        return Request({"system": system, "tools": self.tools, "messages": self.messages})

    def step(self, result: str = "ok") -> Reply:
        reply = Script(pace=0)(self.request)
        self.replies.append(reply)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}]
        results: list[dict[str, Any]] = []
        for call in reply.tool_calls:
            blocks.append({"type": "tool_use", "id": "t", "name": call.name, "input": call.input})
            results.append({"type": "tool_result", "tool_use_id": "t", "content": result})
        self.messages.append({"role": "assistant", "content": blocks})
        if results:
            self.messages.append({"role": "user", "content": results})
        return reply

    def tell(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def remind(self, text: str) -> None:
        """Put a hook's words where the CLI puts them: into the last tool result."""
        self.messages[-1]["content"][-1]["content"] += (
            f"\n<system-reminder>{text}</system-reminder>"
        )


def test_a_prompt_whose_text_the_cli_lost_is_read_again() -> None:
    talk = Talk(IN_A_FILE_FOR_CAT.format("/s/prompt-0123456789abcdef.md"))
    empty = "<untrusted_context>\nOutput: (empty)\n</untrusted_context>"
    assert talk.step(empty).tool_calls == talk.step(empty).tool_calls != ()
    assert talk.step(ROUNDING.title).tool_calls
    assert talk.step().text == ROUNDING.steps[0].say


def test_a_prompt_that_stays_empty_is_given_up() -> None:
    talk = Talk(IN_A_FILE_FOR_CAT.format("/s/prompt-0123456789abcdef.md"))
    said = [talk.step("Output: (empty)").text for _ in range(6)]
    assert said[:5] == [said[0]] * 5
    assert said[5] == UNKNOWN_JOB


def test_no_step_says_what_another_says() -> None:
    for job in (*JOBS, *MORE):
        words = [step.say for step in job.steps]
        assert not [(a, b) for a in words for b in words if a is not b and a in b]


@pytest.mark.parametrize("job", [ROUNDING, WEEKS])
def test_a_job_without_interruption_comes_to_its_end(job: Job) -> None:
    talk = Talk(job.prompt)
    while (reply := talk.step()).tool_calls:
        assert len(talk.replies) < 20
    assert reply.text.endswith("HANDOFF: COMPLETE")
    assert [reply.text for reply in talk.replies] == [step.say for step in job.steps]


def test_file_paths_are_absolute_and_read_before_they_are_edited() -> None:
    talk = Talk(ROUNDING.prompt)
    while talk.step().tool_calls:
        pass
    calls = [call for reply in talk.replies for call in reply.tool_calls if call.path]
    assert all(call.path.startswith("/w/") for call in calls)
    report = [call.name for call in calls if call.path.endswith("report.py")]
    assert report[:2] == ["Read", "Edit"]


def test_context_grows_by_twelve_per_cent_and_then_settles() -> None:
    talk = Talk(ROUNDING.prompt)
    contexts = [talk.step().tokens.context for _ in range(8)]
    assert contexts == [24_000, 48_000, 72_000, 96_000, 120_000, 144_000, 146_500, 149_000]


@pytest.mark.parametrize("path", [PATH, DRAFT])
def test_a_hooks_request_is_answered_with_a_document_that_cockpit_accepts(path: str) -> None:
    talk = Talk(ROUNDING.prompt)
    for _ in range(6):
        talk.step()
    talk.remind(request(path, "tool"))
    (call,) = talk.step().tool_calls
    assert (call.name, call.path) == ("Write", path)
    assert validate(call.input["content"]) == []
    assert not talk.step().tool_calls


@pytest.mark.parametrize("done", [0, 3, 6])
@pytest.mark.parametrize("job", [*JOBS, *MORE])
def test_every_document_is_valid_and_starts_with_something_to_run(job: Job, done: int) -> None:
    text = document(job, done)
    assert validate(text) == []
    assert "`python3 -m unittest -q`" in (read(text).first_step or "")


def test_the_prompt_job_stops_and_writes_when_it_is_asked_at_its_composer() -> None:
    talk = Talk(DURATIONS.prompt)
    while talk.step().tool_calls:
        pass
    assert talk.replies[-1].tokens.context == 144_000
    talk.tell(request(PATH, "prompt"))
    (call,) = talk.step().tool_calls
    assert call.path == PATH
    assert "[x] Stop for a look at the first half" in call.input["content"]


def test_a_document_that_is_sent_back_is_written_again() -> None:
    talk = Talk(ROUNDING.prompt)
    talk.step()
    talk.tell(request(PATH, "stop"))
    talk.step()
    talk.step()
    talk.tell(ask_again(PATH, ["missing: Goal"]))
    (call,) = talk.step().tool_calls
    assert call.path == PATH


def test_a_file_that_somebody_changed_is_no_request() -> None:
    talk = Talk(ROUNDING.prompt)
    talk.step()
    talk.tell(request(PATH, "stop"))
    talk.step()
    talk.step()
    talk.tell(f"<system-reminder>Note: {PATH} was modified.</system-reminder>\nGo on.")
    assert talk.step().text == ROUNDING.steps[1].say


def test_a_successor_reads_the_document_and_goes_on_after_it() -> None:
    talk = Talk(
        continuation(Succession(document=PATH, goal=ROUNDING.prompt, branch="agent/rounding"))
    )
    first = talk.step(result=document(ROUNDING, 6))
    assert [call.name for call in first.tool_calls] == ["Read", "Bash"]
    assert talk.step().text == ROUNDING.steps[6].say
    while talk.step().tool_calls:
        pass
    assert len(talk.replies) == 5
    assert talk.replies[-1].tokens.context < 140_000


def test_a_successor_with_nothing_left_to_do_says_so_once() -> None:
    talk = Talk(continuation(Succession(document=PATH, goal=ROUNDING.prompt)))
    talk.step(result=document(ROUNDING, len(ROUNDING.steps)))
    assert talk.step().text.endswith("HANDOFF: COMPLETE")
    talk.tell("Thanks.")
    assert "HANDOFF" not in talk.step().text


def test_a_successor_of_a_document_without_a_model_goes_by_the_commits() -> None:
    talk = Talk(continuation(Succession(document=PATH, goal=ROUNDING.prompt)))
    talk.step(result="ee5fe80 Round minutes up to a step\nbb86261 Add up a time sheet")
    assert talk.step().text == ROUNDING.steps[5].say


def test_a_compacted_session_goes_on_where_it_was() -> None:
    asked = Talk(WEEKS.prompt)
    for _ in range(8):
        asked.step()
    asked.tell("Your task is to create a detailed summary of the conversation so far.")
    kept = asked.step()
    assert not kept.tool_calls
    talk = Talk(f"{COMPACTED}.\n{kept.text}")
    assert position(WEEKS, talk.request) == 8
    reply = talk.step()
    assert reply.text == WEEKS.steps[8].say
    assert "TaskUpdate" in [call.name for call in reply.tool_calls]


def test_a_successor_has_no_task_list_to_update_after_a_compaction() -> None:
    talk = Talk(continuation(Succession(document=PATH, goal=WEEKS.prompt)))
    talk.step(result=document(WEEKS, 8))
    talk.tell("Your task is to create a detailed summary of the conversation so far.")
    kept = talk.step()
    after = Talk(f"{COMPACTED}.\n{kept.text}")
    reply = after.step()
    assert reply.text == WEEKS.steps[8].say
    assert "TaskUpdate" not in [call.name for call in reply.tool_calls]


def test_a_document_names_the_commits_that_git_showed() -> None:
    talk = Talk(INVOICES.prompt)
    for _ in range(4):
        talk.step(result="ee5fe80 Price minutes by task")
    talk.remind(request(PATH, "tool"))
    (call,) = talk.step().tool_calls
    assert "- [x] Commit the rates (ee5fe80)" in call.input["content"]


@pytest.mark.parametrize(
    ("chosen", "file"), [("In the README", "/w/README.md"), ("On its own page", "/w/docs/weeks.md")]
)
def test_the_answer_to_a_question_decides_what_is_written(chosen: str, file: str) -> None:
    talk = Talk(WEEKS.prompt, asks=True)
    while "AskUserQuestion" not in [call.name for call in talk.step().tool_calls]:
        assert len(talk.replies) < 20
    talk.messages[-1]["content"][-1]["content"] = f'User has answered: "Where?"="{chosen}".'
    assert file in [call.path for call in talk.step().tool_calls]


def test_a_cli_that_cannot_ask_goes_on_without_a_question() -> None:
    talk = Talk(WEEKS.prompt)
    while (reply := talk.step()).tool_calls:
        assert "AskUserQuestion" not in [call.name for call in reply.tool_calls]
    assert reply.text.endswith("HANDOFF: COMPLETE")


def test_the_answers_that_a_run_needs_are_those_of_its_jobs() -> None:
    assert answers_needed(jobs_for(2)) == set()
    assert answers_needed(jobs_for(3)) == {LOOK_UP, "Where should the weeks be described?"}


def test_no_job_is_mistaken_for_another() -> None:
    told = [Talk(job.prompt).step().text for job in (*JOBS, *MORE)]
    assert told == [job.steps[0].say for job in (*JOBS, *MORE)]


def test_a_summary_holds_the_prompt() -> None:
    assert WEEKS.prompt in summary(WEEKS, 3, has_tasks=False)


def test_side_requests_and_strangers_get_short_answers() -> None:
    side = Request({"messages": [{"role": "user", "content": "A title?"}]})
    assert Script()(side).text == "ok"
    assert "simulated" in Talk("Write a compiler.").step().text
