CREATE TABLE seats (
             name text primary key, settings text not null, config_file text,
             wanted integer not null, directory text not null, worktree text, branch text,
             job text, session text, run text, pane text, pid integer, started integer,
             boot text, note text, ending text, gave_up text) strict;
insert into seats (name, settings, config_file, wanted, directory, worktree, branch, job, session, run, pane, pid, started, boot, note, ending, gave_up) values ('api', '{"runtime": "claude", "mode": "prompt", "permission_mode": "acceptEdits", "handoff": {"writers": ["agent", "facts"], "deadline": "30s"}, "name": "api", "prompt": "Count the steps.", "directory": "@HOME@/repository"}', '@HOME@/cockpit.toml', 1, '@HOME@/repository', NULL, 'main', 'a1c8ada9-fd8a-43aa-abd2-4692203094ab', '7a03100b-7b82-4704-98bb-2c883015326a', 'api-0f770e76928c', '%1', 6020, 1647022, 'f02d749e-17a3-4ab8-9854-5973b0b13735', NULL, NULL, NULL);
CREATE TABLE jobs (
             id text primary key, agent text not null, prompt text, created real not null,
             base_commit text) strict;
insert into jobs (id, agent, prompt, created, base_commit) values ('a1c8ada9-fd8a-43aa-abd2-4692203094ab', 'api', 'Count the steps.', 1.79538535427900290491e+09, '0286e4d1008ad051fc9ef85a991d17cca678bede');
CREATE TABLE sessions (
             id text primary key, agent text not null, job text not null references jobs(id),
             number integer not null, previous text, run text not null, created real not null,
             document text, transcript text, permission_mode text not null, state text not null,
             cost_usd real, tokens integer, compactions integer not null default 0, ended real) strict;
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended) values ('7a03100b-7b82-4704-98bb-2c883015326a', 'api', 'a1c8ada9-fd8a-43aa-abd2-4692203094ab', 1, NULL, 'api-0f770e76928c', 1.79538535436607098582e+09, NULL, '@HOME@/claude/projects/@HOME-SLUG@-repository/7a03100b-7b82-4704-98bb-2c883015326a.jsonl', 'acceptEdits', 'live', NULL, NULL, 0, NULL);
CREATE TABLE handoffs (
             id text primary key, agent text not null, job text not null references jobs(id),
             old_session text not null, reason text not null, created real not null,
             boot text not null, record text not null, details text not null, ended real,
             outcome text, why text, new_session text, document text, copy text, sha256 text,
             writer text) strict;
insert into handoffs (id, agent, job, old_session, reason, created, boot, record, details, ended, outcome, why, new_session, document, copy, sha256, writer) values ('f708e487-7a61-4476-b5e5-147f4d11233e', 'api', 'a1c8ada9-fd8a-43aa-abd2-4692203094ab', '7a03100b-7b82-4704-98bb-2c883015326a', 'threshold', 1.7953853550483109951e+09, 'f02d749e-17a3-4ab8-9854-5973b0b13735', '{"plan": {"reason": "threshold", "ask": true, "review": true, "successors": [{"session": "0dabd77d-3f3e-4739-93dc-a88168011142", "run": "api-65bb5e213d18"}, {"session": "b42684ff-5c36-49e4-b2c9-2a4257ede7d5", "run": "api-bd9728120c75"}, {"session": "21342faf-e8ba-42bd-87b9-0b5aba5f0550", "run": "api-a26a3e222321"}], "now": false, "writers": ["agent", "facts"], "given": null, "deadline": 30.0, "grace": 600.0, "confirm_within": 180.0, "re_asks": 2}, "state": {"is": "Asked", "snoozed_until": null, "snoozed_tokens": null}}', '{"draft": "@HOME@/repository/.cockpit/handoffs/draft-f708e487.md", "began": 1795385355.0830073, "phase_since": "2026-11-22T22:09:15Z", "due": "act mark"}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE latches (
             session text not null, name text not null, at real not null,
             primary key (session, name)) strict;
insert into latches (session, name, at) values ('', 'boot.f02d749e-17a3-4ab8-9854-5973b0b13735', 1.79536888416973447806e+09);
insert into latches (session, name, at) values ('7a03100b-7b82-4704-98bb-2c883015326a', 'began.f02d749e-17a3-4ab8-9854-5973b0b13735', 16470.207979766);
insert into latches (session, name, at) values ('7a03100b-7b82-4704-98bb-2c883015326a', 'band.notice', 1.795385355031402111e+09);
insert into latches (session, name, at) values ('7a03100b-7b82-4704-98bb-2c883015326a', 'band.warn', 1795385355.0397);
insert into latches (session, name, at) values ('7a03100b-7b82-4704-98bb-2c883015326a', 'band.act', 1.79538535504193806644e+09);
CREATE TABLE events (
             id integer primary key autoincrement, at real not null, agent text,
             kind text not null, text text not null, data text not null) strict;
insert into events (id, at, agent, kind, text, data) values (1, 1795385354.2532, 'api', 'verb.asked', 'start asked for by you', '{"verb": "start", "by": {"kind": "user", "pid": 4311}}');
insert into events (id, at, agent, kind, text, data) values (2, 1.79538535442232108111e+09, 'api', 'agent.started', 'api started in @HOME@/repository', '{"session": "7a03100b-7b82-4704-98bb-2c883015326a", "directory": "@HOME@/repository", "branch": "main"}');
insert into events (id, at, agent, kind, text, data) values (3, 1.79538535504593396189e+09, 'api', 'band.crossed', 'api is at 72% of its context (act)', '{"band": "act", "reached": ["notice", "warn", "act"], "tokens": 144000, "window": 200000, "confidence": "reported"}');
CREATE TABLE outgoing (
             id text primary key, created real not null, agent text not null, kind text not null,
             hook text not null, payload text not null, next_at real not null,
             attempts integer not null) strict;
CREATE TABLE indexed (
             number integer primary key, handoff text not null unique,
             sha256 text not null) strict;
CREATE TABLE threads (
             place text not null, job text not null, thread text not null,
             primary key (place, job)) strict;
CREATE TABLE dialogs (
             agent text primary key, session text not null, at real not null, kind text not null,
             detail text not null, tool text not null, command text not null) strict;
CREATE TABLE damaged (
             at integer not null, place text not null, id text not null, why text not null,
             content text not null) strict;
CREATE TABLE compaction_points (
             key text primary key, passed integer, compacted integer) strict;
CREATE INDEX sessions_by_job on sessions(job, number);
CREATE INDEX handoffs_by_job on handoffs(job, created);
CREATE INDEX outgoing_by_time on outgoing(next_at);
CREATE INDEX handoffs_by_time on handoffs(created, id);
pragma user_version = 12;
