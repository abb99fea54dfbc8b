"""What must never break, each broken on purpose: exact text that is replaced, and who must notice.

A mutant fits while its old text stands exactly once in its file; `test_mutants` says so in every
run of the suite, so whoever moves a line moves it here too. `mutation` applies and judges them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from tests.faults.cycle import Cycle
from tests.faults.trap import Fault

STOPPING = "sql.insert into handoffs Stopping before"
PLAIN = Cycle()
APART = Cycle(working=True, worktree=True)
DEAF = Cycle(faults="deaf,orphan")
TAMPERED = Cycle(first=(Fault(STOPPING, "DOCUMENT"),))
COPY = Cycle(first=(Fault(STOPPING, "COPY"),))
SPAWNED = Cycle(first=(Fault("panes.reopen after", "KILL"),))

POWERLESS = Cycle(first=(Fault("processes.signal after", "CUT"),))

Check = Cycle | str
"""A flight of the fault harness, or what pytest is given."""

GUARDED, DOCUMENTS = "adapters/files/guarded_folder.py", "adapters/documents/files.py"
STORE, DATABASE = "adapters/store/store.py", "adapters/store/database.py"
DATABASE_FILE, PROCESSES = "adapters/store/database_file.py", "adapters/process/processes.py"
ACTS, ENGINE, SESSIONS = (
    "supervisor/handoff/effects.py",
    "supervisor/handoff/engine.py",
    "supervisor/sessions/lifecycle.py",
)
REMOVAL, PROOF = "adapters/git/removal.py", "adapters/git/proof.py"
PAPERWORK, UNDOING = "supervisor/handoff/documents.py", "supervisor/sessions/undo.py"
ADVANCE = "tests/core/handoff/test_advance.py tests/core/handoff/test_rules.py"
JOURNEYS = "tests/supervisor/journeys/test_"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One thing broken, and the check that must fail because of it."""

    name: str
    breaks: str
    file: str
    """Below `cockpit/`."""
    edits: tuple[tuple[str, str], ...]
    check: Check


def one(name: str, breaks: str, file: str, old: str, new: str, check: Check) -> Mutant:
    return Mutant(name, breaks, file, ((old, new),), check)


def described(check: Check) -> str:
    """The check as it can be run by hand."""
    if isinstance(check, str):
        return f"pytest {check}"
    return f"faults {json.dumps(asdict(check), separators=(',', ':'))}"


MUTANTS: tuple[Mutant, ...] = (
    # What is durable
    one(
        "document-not-synced",
        "a document's bytes are not forced to the disk before it gets its name",
        GUARDED,
        "            sync_descriptor(file.fileno())\n",
        "",
        PLAIN,
    ),
    one(
        "folder-not-synced",
        "a document's name is not forced to the disk",
        GUARDED,
        "        sync_descriptor(folder)\n    except BaseException:",
        "    except BaseException:",
        PLAIN,
    ),
    one(
        "database-not-synced",
        "what SQLite commits is not forced to the disk",
        DATABASE_FILE,
        "pragma synchronous = full",
        "pragma synchronous = off",
        PLAIN,
    ),
    one(
        "document-lost-with-the-power",
        "a document's bytes are not forced to the disk, and the power goes",
        GUARDED,
        "            sync_descriptor(file.fileno())\n",
        "",
        POWERLESS,
    ),
    one(
        "database-lost-with-the-power",
        "what SQLite commits is not forced to the disk, and the power goes",
        DATABASE_FILE,
        "pragma synchronous = full",
        "pragma synchronous = off",
        POWERLESS,
    ),
    Mutant(
        "sealed-without-rename",
        "a document is written under its own name, half of it for a while",
        GUARDED,
        (
            ('temporary = f".{name}.{secrets.token_hex(6)}.tmp"', "temporary = name"),
            ("        _move_into_place(folder, temporary, name, replace=replace)\n", ""),
        ),
        PLAIN,
    ),
    one(
        "copy-not-written",
        "the document of a handoff has no copy of ours when it is sealed",
        DOCUMENTS,
        "            self.copies.keep(handoff, data)\n"
        "            with guarded_folder.opened(place, make_below",
        "            with guarded_folder.opened(place, make_below",
        PLAIN,
    ),
    one(
        "copy-not-renewed",
        "our copy stays changed when the old session is ended",
        "supervisor/handoff/integrity.py",
        "        if not is_copied:\n            ident",
        "        if False:\n            ident",
        COPY,
    ),
    one(
        "scraps-left",
        "temporary files stay beside the documents",
        GUARDED,
        "    else:\n        os.unlink(temporary, dir_fd=folder)",
        "    else:\n        pass",
        PLAIN,
    ),
    one(
        "draft-left",
        "the agent's draft stays in its worktree",
        PAPERWORK,
        "self._dependencies.documents.discard_draft, self._draft_path(agent)",
        "Path.exists, self._draft_path(agent)",
        PLAIN,
    ),
    # The order of a swap
    one(
        "ended-before-sealing",
        "the old session is ended before there is a document",
        ACTS,
        "            document = await self._document_builder.seal(agent, writer)",
        "            await self._sessions.end(agent)\n"
        "            document = await self._document_builder.seal(agent, writer)",
        PLAIN,
    ),
    one(
        "ended-before-intent",
        "the old session is ended, and only then that is written down",
        ENGINE,
        "            # Save first: if saving raises, nothing has changed.\n",
        '            if type(after.state).__name__ == "Stopping":\n'
        "                await self._sessions.end(agent)\n",
        PLAIN,
    ),
    one(
        "stopping-not-written",
        "that the old session is being ended is never written down",
        ENGINE,
        "            record=to_record(handoff),\n            boot=",
        "            record=held.record\n"
        '            if type(handoff.state).__name__ == "Stopping"\n'
        "            else to_record(handoff),\n            boot=",
        PLAIN,
    ),
    one(
        "starting-not-written",
        "that the successor is being started is never written down",
        ENGINE,
        "            record=to_record(handoff),\n            boot=",
        "            record=held.record\n"
        '            if type(handoff.state).__name__ == "Starting"\n'
        "            else to_record(handoff),\n            boot=",
        PLAIN,
    ),
    one(
        "agreement-not-checked",
        "the successor reads what somebody made of the document that was agreed",
        ACTS,
        "            await ensure_approved("
        "self._dependencies, agent, agent.handoff.state.document)",
        "            pass",
        TAMPERED,
    ),
    one(
        "swapped-at-a-bad-moment",
        "an agent is ended in the middle of its turn",
        "core/handoff/swapping.py",
        "    return not_now(seen, boundary=not ignored)",
        "    return None",
        ADVANCE,
    ),
    one(
        "confirmed-without-a-reply",
        "a successor that never answered counts as one that took over",
        "core/handoff/swapping.py",
        "case Observation(successor_replied=True):",
        "case Observation():",
        ADVANCE,
    ),
    one(
        "survivor-started-over",
        "a successor is started beside an old session that cannot be ended",
        "core/handoff/swapping.py",
        "            return end(handoff, Outcome.FAILED, why)\n",
        "            return enter(handoff, Starting(state.document))\n",
        ADVANCE,
    ),
    one(
        "empty-sections-taken",
        "a draft whose sections say nothing is taken as the document",
        "core/document.py",
        "    return problems + _problems_of_content(document)",
        "    return problems",
        "tests/core/test_document.py",
    ),
    # Ending
    one(
        "never-asked-to-end",
        "processes are killed and never asked to end",
        PROCESSES,
        "            self.signal(process, first)\n",
        "",
        PLAIN,
    ),
    one(
        "never-killed",
        "who does not listen to TERM lives on",
        PROCESSES,
        "            self.signal(process, signal.SIGKILL)\n",
        "            pass\n",
        DEAF,
    ),
    one(
        "not-waited-for",
        "who was asked to end counts as gone at once",
        PROCESSES,
        "            if not await self.wait_for_end(process, end - time.monotonic()):",
        "            if False:",
        DEAF,
    ),
    Mutant(
        "stragglers-left",
        "what an old session left running is not ended",
        PROCESSES,
        (
            (
                "for _ in range(ROUNDS):\n            carriers",
                "for _ in range(0):\n            carriers",
            ),
            (
                "        survivors = [survivor for survivor in remaining "
                "if self.alive(survivor)]\n",
                "        survivors = []\n",
            ),
        ),
        DEAF,
    ),
    one(
        "another-process-signalled",
        "a pid that belongs to somebody else by now is signalled",
        PROCESSES,
        "            yield descriptor if self.alive(process) else None",
        "            yield descriptor",
        "tests/adapters/test_processes.py -k another_process",
    ),
    # Starting
    one(
        "lease-not-given",
        "an agent is started without the lock of its seat",
        SESSIONS,
        "        return self.leases.with_leases(agent, launch)",
        "        return launch",
        PLAIN,
    ),
    one(
        "lease-not-taken",
        "the launcher does not wait for the lock that it was given",
        "adapters/process/launcher.py",
        "    wait_for(held, path, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)\n",
        "",
        PLAIN,
    ),
    one(
        "claim-not-given",
        "an agent is started without the lock of its worktree",
        "supervisor/agents/leases.py",
        "lease=self._lease(agent), claim=claim(agent))",
        "lease=self._lease(agent))",
        APART,
    ),
    one(
        "successor-bypasses",
        "the successor asks for no permission any more",
        ACTS,
        "        return self._frozen_modes(agent, old).save_in(new)",
        '        return JobModes("bypassPermissions").save_in(new)',
        PLAIN,
    ),
    one(
        "wider-mode-chosen",
        "of two permission modes the wider one is taken",
        "core/permission.py",
        "(was is not None and was.within(seen))",
        "(was is not None and seen.within(was))",
        "tests/core/test_permission.py",
    ),
    one(
        "successor-not-told",
        "the successor is never told of the document",
        ACTS,
        "        return self._document_builder.continuation(agent, agent.handoff.document)",
        '        return "Go on."',
        PLAIN,
    ),
    Mutant(
        "identity-written-late",
        "a process is started before it is written down who it is",
        SESSIONS,
        (
            (
                "        self._save_start(agent, session)\n        agent.runtime = runtime\n",
                "        agent.runtime = runtime\n",
            ),
            (
                "        pane = await self._open_pane(agent, launch)\n",
                "        pane = await self._open_pane(agent, launch)\n"
                "        self._save_start(agent, session)\n",
            ),
        ),
        SPAWNED,
    ),
    one(
        "successor-not-adopted",
        "after a crash a successor that lives already is started a second time",
        ACTS,
        "        if agent.record.run == successor.run and await reattach(",
        "        if False and await reattach(",
        SPAWNED,
    ),
    # Undoing
    one(
        "undo-without-intent",
        "a session is ended for an undo that is written down nowhere",
        UNDOING,
        "        self._dependencies.store.save_session(agent.session)\n"
        "        return await self._swap_back(",
        "        return await self._swap_back(",
        f"{JOURNEYS}undo.py -k cut_short",
    ),
    # What holds back
    one(
        "guards-skipped",
        "handoffs begin whatever holds them back",
        "supervisor/handoff/triggers.py",
        "progress.waits = self._guards.reason_to_wait(agent, due) if due is not None else None",
        "progress.waits = None",
        f"{JOURNEYS}starters.py -k refused_question",
    ),
    one(
        "breaker-ignored",
        "an agent is handed off again and again within minutes",
        "supervisor/handoff/policy.py",
        'if starter != "loop" and swaps >= BREAKER_HANDOFFS:',
        "if False:",
        f"{JOURNEYS}starters.py -k breaker",
    ),
    one(
        "cooldown-ignored",
        "the next handoff begins the moment the last one ended",
        "core/guards.py",
        "    if left.elapsed is None or left.elapsed >= cooldown:",
        "    if True:",
        "tests/core/test_guards.py",
    ),
    Mutant(
        "latch-not-kept",
        "what was told once is told again",
        STORE,
        (
            (
                "        if self.latched(session, name) is not None:\n            return False",
                "        if False:\n            return False",
            ),
            ("insert or ignore into latches", "insert or replace into latches"),
        ),
        "tests/adapters/store/test_store.py -k latch",
    ),
    # What is kept, and from whom
    one(
        "broken-database-removed",
        "a database that cannot be read is thrown away",
        DATABASE_FILE,
        "    path.rename(aside)\n",
        "    path.unlink()\n",
        "tests/adapters/store/test_store.py -k put_aside",
    ),
    one(
        "halves-committed",
        "half of a transaction stays when the other half failed",
        DATABASE,
        '                self._database.execute("rollback")',
        '                self._database.execute("commit")',
        "tests/adapters/store/test_store.py -k transaction",
    ),
    one(
        "commits-not-kept",
        "no reference keeps the commits of a session that was handed off",
        "supervisor/history/commit_refs.py",
        "if record.kind != WHEN or agent is None",
        "if True or agent is None",
        APART,
    ),
    one(
        "secrets-in-documents",
        "secrets of the environment stand in the document",
        PAPERWORK,
        "            redactor=self._redactor(agent),",
        "            redactor=Redactor(),",
        f"{JOURNEYS}content.py -k secret_of_the_agents_environment",
    ),
    one(
        "anybody-may-ask",
        "the socket answers other users of the machine",
        "supervisor/api/connections.py",
        "        if uid not in (os.geteuid(), 0):",
        "        if False:",
        "tests/supervisor/api/test_doors.py",
    ),
    Mutant(
        "two-supervisors",
        "a second supervisor works in the same state folder",
        "supervisor/main.py",
        (
            ("            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)\n", ""),
            ("            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)\n", ""),
        ),
        "tests/supervisor/api/test_doors.py",
    ),
    one(
        "removed-lock-makes-room",
        "a second supervisor works in the same state folder once the lock's file was removed",
        "supervisor/main.py",
        "            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
        "",
        "tests/supervisor/api/test_doors.py",
    ),
    one(
        "answered-twice",
        "an answer laid ready for a hook is given to every hook that comes",
        "reporter.sh",
        '    mv "$verdicts/$event" "$taken" 2>/dev/null && answer=$taken || :',
        '    cp "$verdicts/$event" "$taken" 2>/dev/null && answer=$taken || :',
        "tests/test_reporter.py -k exactly_one",
    ),
    # What is deleted of a worktree
    one(
        "salvage-not-read-back",
        "objects of a salvage are taken for whole because they have a name",
        PROOF,
        '    return output.read(1) == b"\\n" and digest.hexdigest() == name\n',
        '    return output.read(1) == b"\\n"\n',
        "tests/adapters/test_git_proof.py -k damaged",
    ),
    one(
        "salvage-not-synced",
        "a worktree is deleted before its salvage is on the disk",
        PROOF,
        '                sync_file_systems, (common, common / "objects", common / "refs")\n',
        "                sync_file_systems, ()\n",
        "tests/adapters/test_git_proof.py -k synced",
    ),
    one(
        "path-not-looked-at-again",
        "git forgets a worktree that was made again while it was removed",
        REMOVAL,
        "        if await asyncio.to_thread(os.path.lexists, tree.directory):\n"
        "            reason =",
        "        if False:\n            reason =",
        "tests/adapters/test_git_proof.py -k at_its_path",
    ),
    one(
        "replaced-objects",
        "git shows another object in the place of one that is asked for",
        "adapters/git/command.py",
        '    "GIT_NO_REPLACE_OBJECTS": "1",\n',
        "",
        "tests/adapters/test_git_replaced.py",
    ),
)
