"""The database schema, as the list of its migrations.

A released migration is never changed; a new schema is a new migration. `user_version` is the number
of applied migrations.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from cockpit.core.errors import Failed
from cockpit.core.redaction import Redactor

Migration = Callable[[sqlite3.Connection], None]


def m001_first(database: sqlite3.Connection) -> None:
    """Create the tables of agents, jobs, sessions, handoffs, stored flags and events."""
    for statement in (
        """create table seats (
             name text primary key, settings text not null, config_file text,
             wanted integer not null, directory text not null, worktree text, branch text,
             job text, session text, run text, pane text, pid integer, started integer,
             boot text, note text) strict""",
        """create table jobs (
             id text primary key, agent text not null, prompt text, created real not null,
             base_commit text) strict""",
        """create table sessions (
             id text primary key, agent text not null, job text not null references jobs(id),
             number integer not null, previous text, run text not null, created real not null,
             document text, transcript text, permission_mode text not null, state text not null,
             cost_usd real, tokens integer, compactions integer not null default 0) strict""",
        "create index sessions_by_job on sessions(job, number)",
        """create table handoffs (
             id text primary key, agent text not null, job text not null references jobs(id),
             old_session text not null, reason text not null, created real not null,
             boot text not null, record text not null, details text not null, ended real,
             outcome text, why text, new_session text, document text, copy text, sha256 text,
             writer text) strict""",
        "create index handoffs_by_job on handoffs(job, created)",
        """create table latches (
             session text not null, name text not null, at real not null,
             primary key (session, name)) strict""",
        """create table events (
             id integer primary key autoincrement, at real not null, agent text,
             kind text not null, text text not null, data text not null) strict""",
    ):
        database.execute(statement)


def m002_ended(database: sqlite3.Connection) -> None:
    """Add the column with the time at which a session ended."""
    database.execute("alter table sessions add column ended real")


def m003_outgoing(database: sqlite3.Connection) -> None:
    """Create the table of messages that were not sent yet."""
    database.execute(
        """create table outgoing (
             id text primary key, created real not null, agent text not null, kind text not null,
             hook text not null, payload text not null, next_at real not null,
             attempts integer not null) strict"""
    )
    database.execute("create index outgoing_by_time on outgoing(next_at)")


def m004_ending(database: sqlite3.Connection) -> None:
    """Add the column with the exit reason of an agent's last process."""
    database.execute("alter table seats add column ending text")


def m005_search(database: sqlite3.Connection) -> None:
    """Create the full-text index of documents; `indexed` lists the indexed documents."""
    database.execute(
        """create table indexed (
             number integer primary key, handoff text not null unique,
             sha256 text not null) strict"""
    )
    make_searchable(database)


def make_searchable(database: sqlite3.Connection) -> None:
    """Create the full-text index. Raises `Failed` if this Python's SQLite does not support it."""
    try:
        database.execute(
            "create virtual table document_words using fts5(text, tokenize = 'trigram')"
        )
    except sqlite3.OperationalError as missing:
        # Not reported as a damaged file, which would be moved aside: another Python can read it.
        raise cannot_search(missing) from missing


def cannot_search(missing: sqlite3.Error) -> Failed:
    return Failed(
        "This Python's SQLite has no full-text search",
        f"cockpit needs SQLite 3.34 or later with FTS5; this is {sqlite3.sqlite_version}: "
        f"{missing}.",
        "Install cockpit with another Python.",
    )


def m006_threads(database: sqlite3.Connection) -> None:
    """Create the table of chat threads for each job's messages."""
    database.execute(
        """create table threads (
             place text not null, job text not null, thread text not null,
             primary key (place, job)) strict"""
    )


def m007_gave_up(database: sqlite3.Connection) -> None:
    """Add the column with the reason why an agent is not restarted until the user acts."""
    database.execute("alter table seats add column gave_up text")


def m008_dialogs(database: sqlite3.Connection) -> None:
    """Create the table with the text of each agent's open dialog."""
    database.execute(
        """create table dialogs (
             agent text primary key, session text not null, at real not null, kind text not null,
             detail text not null, tool text not null, command text not null) strict"""
    )


def m009_damaged(database: sqlite3.Connection) -> None:
    """Create the table for unreadable values of other tables, with their locations."""
    database.execute(
        """create table damaged (
             at integer not null, place text not null, id text not null, why text not null,
             content text not null) strict"""
    )


def m010_compaction_points(database: sqlite3.Connection) -> None:
    """Create the table of token counts at which a CLI was observed to compact."""
    database.execute(
        """create table compaction_points (
             key text primary key, passed integer, compacted integer) strict"""
    )


def m011_handoffs_by_time(database: sqlite3.Connection) -> None:
    """Add an index for pages of the history, which begin with the newest handoff."""
    database.execute("create index handoffs_by_time on handoffs(created, id)")


def m012_prompts(database: sqlite3.Connection) -> None:
    """Remove secrets from prompts, which earlier versions stored unchanged. The old text is
    overwritten in the file, not only unlinked.
    """
    redactor = Redactor()
    database.execute("pragma secure_delete = on")
    for ident, prompt in database.execute("select id, prompt from jobs").fetchall():
        if isinstance(prompt, str) and (clean := redactor.redact(prompt).text) != prompt:
            database.execute("update jobs set prompt = ? where id = ?", (clean, ident))
    for name, settings in database.execute("select name, settings from seats").fetchall():
        if (cleaned := _without_secrets(redactor, settings)) is not None:
            database.execute("update seats set settings = ? where name = ?", (cleaned, name))


def _without_secrets(redactor: Redactor, settings: object) -> str | None:
    """Return an agent's settings with the secrets removed from the prompt; None if nothing has to
    change."""
    try:
        held = json.loads(settings) if isinstance(settings, str) else None
    except ValueError:
        return None  # a damaged row is moved aside when it is read
    if not isinstance(held, dict):
        return None
    prompt = held.get("prompt")
    if not isinstance(prompt, str) or (clean := redactor.redact(prompt).text) == prompt:
        return None
    return json.dumps({**held, "prompt": clean})


def m013_compacted(database: sqlite3.Connection) -> None:
    """Mark the handoffs that a compaction cancelled. Earlier versions recognised such handoffs by
    their text."""
    why = "the context was compacted"
    database.execute(
        "update handoffs set details = json_set(details, '$.compacted', json('true')) "
        "where why = ? and json_valid(details)",
        (why,),
    )
    database.execute(  # ended, but the outcome was not saved yet
        "update handoffs set record = json_set(record, '$.state.compacted', json('true')) "
        "where ended is null and iif(json_valid(record), json_extract(record, '$.state.is') = "
        "'Ended' and json_extract(record, '$.state.why') = ?, false)",
        (why,),
    )


def m014_cli_ids(database: sqlite3.Connection) -> None:
    """Add the column with the session ids that the CLI chooses."""
    database.execute("alter table sessions add column cli_id text")


def m015_session_runtimes(database: sqlite3.Connection) -> None:
    """Add the columns with the CLI and the model of each session, because a handoff can change
    both."""
    database.execute("alter table sessions add column runtime text not null default ''")
    database.execute("alter table sessions add column model text not null default ''")


def m016_dialog_bodies(database: sqlite3.Connection) -> None:
    """Add the column with everything that the user needs to read before answering a dialog."""
    database.execute("alter table dialogs add column body text not null default ''")


def m017_chosen_modes(database: sqlite3.Connection) -> None:
    """Add the column with the permission modes that the user chose, by CLI, for CLIs other than
    the configured one."""
    database.execute("alter table sessions add column chosen_modes text not null default '{}'")


def m018_day_costs(database: sqlite3.Connection) -> None:
    """Create the tables of each day's cost, and of the part of each session's cost that was
    counted.

    The cost of earlier sessions is marked as counted, because the days of that cost are unknown.
    """
    database.execute("create table day_costs (day text primary key, usd real not null) strict")
    database.execute(
        "create table counted_costs (session text primary key, usd real not null) strict"
    )
    database.execute(
        "insert or ignore into counted_costs(session, usd) "
        "select coalesce(cli_id, id), max(coalesce(cost_usd, 0.0) + coalesce((select "
        "sum(iif(json_valid(details), coalesce(json_extract(details, '$.writer_cost_usd'), 0.0), "
        "0.0)) from handoffs where old_session = sessions.id), 0.0)) "
        "from sessions where cost_usd is not null group by coalesce(cli_id, id)"
    )


def m019_folders(database: sqlite3.Connection) -> None:
    """Add the column with the folder in which an agent works within its worktree."""
    database.execute("alter table seats add column folder text")


MIGRATIONS: tuple[Migration, ...] = (
    m001_first,
    m002_ended,
    m003_outgoing,
    m004_ending,
    m005_search,
    m006_threads,
    m007_gave_up,
    m008_dialogs,
    m009_damaged,
    m010_compaction_points,
    m011_handoffs_by_time,
    m012_prompts,
    m013_compacted,
    m014_cli_ids,
    m015_session_runtimes,
    m016_dialog_bodies,
    m017_chosen_modes,
    m018_day_costs,
    m019_folders,
)
