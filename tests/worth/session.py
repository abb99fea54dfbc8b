"""One session of the corpus: its transcript, its repository, and what is planted in both.

A project, a language and a seed decide what happens; the order of the three parts is always the
same. Things of the first part lie before a compaction, if there is one; those of the last part
are far enough from the end that the last twenty messages do not hold them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.worth.items import NOT, Outdated, Planted
from tests.worth.stage import Stage

LEAST_CALLS = 100
AHEAD = (
    "ahead 1|1 ahead|ahead: 1|ahead by 1|1 commit ahead|1 commits ahead|one commit ahead"
    "|1 commit not pushed|1 commits not pushed|1 commit is not pushed|1 not pushed|1 unpushed"
    "|1 unpushed commit|not pushed: 1|1 voraus|1 commit voraus|1 por delante"
)
_BEFORE_EDIT = (
    "before the last edit|before the last change|before the edit|before later edits|changed since"
    "|changed after|edited after|edits after|edited since|not run since|not rerun|stale|outdated"
    "|vor der letzten|antes del último|antes de la última"
)


@dataclass(frozen=True, slots=True)
class Session:
    """A written session, and what a document about it must and must not say."""

    number: int
    language: str
    transcript: Path
    repository: Path
    planted: tuple[Planted, ...]
    outdated: tuple[Outdated, ...]
    calls: int
    summary: str
    """What a model's compaction at the end of the session would hold."""


def write_session(folder: Path, number: int) -> Session:
    """Write session `number`, from 1 to `SESSIONS`, into a new folder."""
    return _Plot(folder, number).play()


class _Plot(Stage):
    def play(self) -> Session:
        self._begin()
        self._middle()
        self._end()
        self.records.write(self.transcript)
        return Session(
            self.number,
            self.language,
            self.transcript,
            self.root,
            tuple(self.planted),
            tuple(self.outdated),
            self.records.calls,
            self._summary(),
        )

    # The three parts

    def _begin(self) -> None:
        names, records = self.names, self.records
        records.prompt(self.say("goal"))
        self.plant(1, "goal", "{feature}", "{ticket}", kept=0.95)
        self.wander(3)
        records.instructions(self.root / names["instruction"], "Keep functions short.")
        self.plant(15, "instruction file", "{instruction}", kept=0.3)
        for _ in range(self.random.randint(7, 9)):
            self.read(names["often"])
        self.plant(15, "most-read file", "{often}", kept=0.3)
        self.wander(3)
        records.prompt(self.say("keep"))
        self.plant(5, "path to keep", "{keep}", NOT, kept=0.8, note="User: " + self.say("keep"))
        self._ask()
        records.prompt(self.say("limit"))
        if self.random.random() < 0.7:
            records.prompt(self.say("habit"))
            self.has_habit = True
        else:
            self.has_habit = False
        self._fail("error1", "fix1")
        self._plan("step_old", "step_old")
        self.green_before = self.random.randint(61, 99)
        self.bash(
            self.stack.test, "Run the tests", self.stack.green.format(passed=self.green_before)
        )
        self.commit(self.commits[0])
        self.plant(8, "first commit", self.commits[0], kept=0.5)
        self.wander(6)
        self.started_job = records.call(
            "Bash",
            {"command": names["job"], "description": "Import", "run_in_background": True},
            f"Command running in background with ID: j{self.number}x. Output is being written to: "
            f"/tmp/claude-1000/tasks/j{self.number}x.output",
            backgroundTaskId=f"j{self.number}x",
        )
        if self.compacts:
            decided = self.say("summary")
            records.compacted(
                f"1. Primary Request and Intent:\n   {names['feature']}\n"
                f"2. Key Decisions:\n   - {decided}\n"
                f"3. Errors and fixes:\n   - {names['error1']}: {names['fix1']}\n"
                f"4. Pending Tasks:\n   - {names['remaining']}"
            )
            self.plant(3, "decision", "{decision}", "{reason}", kept=0.85)
        self.wander(4)

    def _middle(self) -> None:
        records = self.records
        records.prompt(self.say("relimit"))
        self.plant(5, "corrected limit", "{limit}", "{after}", kept=0.85)
        self.outdate(5, "limit before", "{limit}", "{before}", instead="{after}")
        if self.has_habit:
            self.wander(3)
            records.prompt(self.say("unhabit"))
            self.outdate(
                5,
                "revoked habit",
                "{script}",
                "always|immer|siempre|every commit|jedem commit|cada commit|before you commit",
                instead="forget {script}|stop running {script}",
            )
        self._refuse()
        self._amend_and_reset()
        self.wander(5)
        records.prompt(self.say("release"))
        self.plant(
            5, "frozen branch", "{release}", NOT, kept=0.8, note="User: " + self.say("release")
        )
        self._pull_request()
        self._subagent()
        self._plan("step1", "step2")
        self.plant(12, "plan", "{step1}", "{step2}", kept=0.6)
        self.outdate(12, "plan before", "{step_old}", instead="{step1}")
        self._fail("error2", "fix2")
        if self.random.random() < 0.5:
            records.prompt(self.say("reanswer"))
            self.plant(7, "changed answer", "{topic}", "{later}", kept=0.7)
            self.outdate(7, "answer before", "{topic}", "{answer}", instead="{later}")
        else:
            self.plant(7, "answer", "{topic}", "{answer}", kept=0.7)
        records.notice(
            f"j{self.number}x", self.started_job, "completed", "Background command completed"
        )
        self.outdate(
            13,
            "ended job as running",
            "{job}",
            "running|still runs|läuft|alive",
            instead="completed|ended|finished|done",
        )
        self._server()
        self.wander(8)

    def _end(self) -> None:
        names, records = self.names, self.records
        prompts = [
            ("rename", ("{old}", "{new}")),
            ("endpoint", ("{endpoint}", "{code}")),
            ("table", ("{table}", "{column}")),
            ("host", ("{host}", "{person}")),
        ]
        self.random.shuffle(prompts)
        for number, (phrase, terms) in enumerate(prompts):
            said = self.say(phrase)
            records.prompt(said)
            self.plant(1, f"prompt: {phrase}", *terms, kept=0.9, note=f"User: {said}")
            self.wander(self.random.randint(4, 6))
            self.edit(self.project["files"][number])
            if number == 1:
                queued = self.say("queued")
                records.queued(queued)
                self.plant(1, "queued prompt", "{flag}", kept=0.6, note=f"User: {queued}")
            if number == 2:
                self._users_commit()
        self._checks()
        self._files()
        if self.random.random() < 0.5:
            records.away(self.say("away"))
            self.plant(2, "away summary", "{remaining}", "{topic}", kept=0.4)
        while records.calls < LEAST_CALLS:
            self.wander(2)
        records.text(self.say("reply"))
        self.plant(2, "last reply", "{module}", "{remaining}", kept=0.75)
        self.wander(self.random.randint(3, 7))
        last = f"Count callers of {names['new']}"
        self.bash(f"rg -c {names['new']} {self.root} | sort", last, "3")
        self.plant(11, "last call", last, kept=0.1)

    # The kinds, one by one

    def _ask(self) -> None:
        names = self.names
        question = self.say("question")
        options = [{"label": names[key], "description": ""} for key in ("opt_a", "opt_b", "opt_c")]
        asked = {"question": question, "header": "Choice", "options": options, "multiSelect": False}
        self.records.call(
            "AskUserQuestion",
            {"questions": [asked]},
            f'User has answered your questions: "{question}"="{names["answer"]}". You can now '
            "continue with the user's answers in mind.",
            questions=[asked],
            answers={question: names["answer"]},
        )

    def _fail(self, error: str, fix: str) -> None:
        message, command = self.names[error], self.names[fix]
        told = {"command": f"make {error}", "description": "Try it"}
        self.records.failed("Bash", told, f"Exit code 1\n{message}\n    at line 3")
        self.wander(1)
        self.records.call("Bash", {"command": command, "description": "Try another way"}, "ok")
        told = {"command": f"make {error}", "description": "Try it again"}
        self.records.call("Bash", told, "ok")
        self.plant(10, error, message[:40].rsplit(" ", 1)[0], command, kept=0.65)

    def _plan(self, *steps: str) -> None:
        lines = "\n".join(f"{number}. {self.names[step]}" for number, step in enumerate(steps, 1))
        plan = f"# Plan\n\n{lines}\n"
        self.records.call(
            "ExitPlanMode",
            {"plan": plan},
            f"User has approved your plan. You can now start coding.\n\n## Approved Plan:\n{plan}",
            plan=plan,
            isAgent=False,
        )

    def _refuse(self) -> None:
        names = self.names
        add = {"command": f"install {names['lib']}", "description": f"Add {names['lib']}"}
        if self.random.random() < 0.4:
            self.records.refused("Bash", {"command": "git push --force"}, "")
        if self.random.random() < 0.8:
            self.records.refused("Bash", add, self.say("refusal"))
            self.plant(4, "refusal", "{lib}", "{libalt}", kept=0.5)

    def _amend_and_reset(self) -> None:
        repository, amended = self.repository, self.commits[1]
        self.commit("WIP " + self.commits[1].lower())
        output = repository.git("commit", "--amend", "-m", amended)
        self.bash(f"git commit --amend -m '{amended}'", "Reword the commit", output)
        self.plant(8, "amended commit", amended, kept=0.5)
        self.outdate(8, "commit before the amend", "wip " + amended.lower(), instead="amend")
        self.commit(f"Try {self.names['lib']} for {self.names['module']}")
        repository.git("reset", "-q", "--hard", "HEAD~1")
        self.bash("git reset --hard HEAD~1", "Drop the commit", "HEAD is now at " + amended)
        self.outdate(8, "reset commit", "try {lib} for {module}", instead="git reset|dropped")
        quiet = self.commits[2]
        self.edit(self.project["files"][0])
        repository.git("add", "-A")
        repository.git("commit", "-q", "-m", quiet)
        self.bash(
            f"git commit -qam '{quiet}' && git log --oneline -1",
            "Commit quietly",
            f"{repository.head()} {quiet}",
        )
        self.plant(8, "quiet commit", quiet, kept=0.5)
        self.repository.git("push", "-q")
        self.bash("git push -q", "Push")

    def _users_commit(self) -> None:
        subject = self.commits[3]
        output = self.repository.commit(subject)
        self.records.shell(f"git commit -am '{subject}'", output)
        self.plant(8, "the user's commit", subject, kept=0.3)

    def _pull_request(self) -> None:
        number, name = self.number_of_pull, self.names["name"]
        url = f"https://github.com/example/{name}/pull/{number}"
        self.bash(
            f"gh pr create --fill --head {self.branch}", "Create the pull request", url + "\n"
        )
        self.records.pull_request(number, url)
        self.plant(6, "pull request", f"#{number}|pull/{number}|pr {number}", kept=0.6)
        issue = number + 400
        told = f"✓ Closed issue example/{name}#{issue} ({self.names['feature']})"
        self.bash(f"gh issue close {issue}", "Close the issue", told)
        self.plant(6, "closed issue", f"{issue}", "close|closed|geschlossen|cerrado", kept=0.3)
        self.wander(3)
        states = ["MERGED", "OPEN", "CLOSED"]
        self.state = self.random.choice(states)
        self.bash(
            f"gh pr view {number} --json state,number",
            "Look at the pull request",
            f'{{"number":{number},"state":"{self.state}"}}',
        )
        self.plant(
            6,
            "state of the pull request",
            f"#{number}|pull/{number}|pr {number}",
            self.state.lower(),
            kept=0.4,
            note=f"PR #{number} is {self.state.lower()}",
        )
        if self.state != "OPEN":
            self.outdate(
                6,
                "pull request as open",
                f"#{number}|pull/{number}|pr {number}",
                "open|offen",
                instead=self.state.lower(),
            )
        self.plant(6, "branch", self.branch, kept=0.7)
        self.plant(
            6,
            "commits not pushed",
            AHEAD,
        )

    def _subagent(self) -> None:
        names, ident = self.names, f"a{self.random.getrandbits(48):012x}"
        told = {"description": names["probe"], "prompt": names["probe"], "subagent_type": "Explore"}
        tool = self.records.call(
            "Agent", told, "Async agent launched", agentId=ident, status="async_launched"
        )
        self.wander(4)
        self.records.notice(
            ident, tool, "completed", f'Agent "{names["probe"]}" finished', names["finding"]
        )
        self.plant(13, "subagent", "{probe}", "completed|finished|done|ended|{finding}", kept=0.4)
        self.plant(13, "subagent's finding", "{finding}", kept=0.5)

    def _server(self) -> None:
        ident = f"s{self.number}q"
        log = f"/tmp/claude-1000/tasks/{ident}.output"
        self.records.call(
            "Bash",
            {
                "command": self.names["server"],
                "description": "Start the server",
                "run_in_background": True,
            },
            f"Command running in background with ID: {ident}. Output is being written to: {log}",
            backgroundTaskId=ident,
        )
        self.plant(13, "running server", "{server}", f"{ident}|{log}", kept=0.2)

    def _checks(self) -> None:
        stack = self.stack
        passed, failed = self.random.randint(101, 139), self.random.randint(2, 4)
        red = self.random.random() < 0.4
        output = (stack.red if red else stack.green).format(passed=passed, failed=failed)
        count = f"{failed} failed" if red else f"{passed} passed"
        runs = {"command": stack.test, "description": "Run the tests"}
        if red:
            self.records.failed("Bash", runs, f"Exit code 1\n{output}")
        else:
            self.records.call("Bash", runs, output)
        self.plant(9, "last test", stack.test, count, kept=0.5)
        self.outdate(9, "test before", f"{self.green_before} passed", instead=count)
        self.records.failed(
            "Bash", {"command": stack.lint, "description": "Lint"}, f"Exit code 1\n{stack.linted}"
        )
        self.plant(9, "last lint", *stack.lint_terms, kept=0.3)
        self.bash(stack.build, "Build", stack.built)
        self.plant(9, "last build", *stack.build_terms, kept=0.2)
        self.wander(2)
        if self.random.random() < 0.6:
            self.edit(self.project["files"][3])
            self.plant(9, "tested before the last edit", count, _BEFORE_EDIT, kept=0.2)

    def _files(self) -> None:
        names = self.names
        self.repository.append(names["shellfile"], "changed by a shell")
        self.bash(f"echo changed by a shell >> {names['shellfile']}", "Change the setting")
        self.plant(14, "file written by a shell", "{shellfile}", kept=0.5)
        self.edit(self.project["files"][1])
        self.plant(14, "edited file", self.project["files"][1], kept=0.9)
        scratch = f"/tmp/scratch-{self.number}.txt"
        told = {"file_path": scratch, "content": "x"}
        self.records.call("Write", told, "File created successfully", filePath=scratch)
        self.outdate(14, "scratch file", scratch, instead="scratch file")

    def _summary(self) -> str:
        """Write what a model's compaction would: most of what users said, less of the rest."""
        kept = [text for share, text in self.notes if self.random.random() < share]
        old = [item for item in self.outdated if item.kind in (5, 9) and self.random.random() < 0.2]
        kept += [" ".join(term.split("|")[0] for term in item.terms) for item in old]
        points = "\n".join(f"   - {text}" for text in kept)
        return (
            "This session is being continued from a previous conversation that ran out of context. "
            "The summary below covers the earlier portion of the conversation.\n\n"
            f"Summary:\n{points}\n"
        )
