CREATE TABLE seats (
             name text primary key, settings text not null, config_file text,
             wanted integer not null, directory text not null, worktree text, branch text,
             job text, session text, run text, pane text, pid integer, started integer,
             boot text, note text, ending text, gave_up text) strict;
insert into seats (name, settings, config_file, wanted, directory, worktree, branch, job, session, run, pane, pid, started, boot, note, ending, gave_up) values ('api', '{"runtime": "claude", "mode": "auto", "permission_mode": "acceptEdits", "handoff": {"writers": ["agent", "facts"], "deadline": "30s"}, "name": "api", "prompt": "Count the steps.", "directory": "@HOME@/repository"}', '@HOME@/cockpit.toml', 1, '@HOME@/repository', NULL, 'main', '87069de0-1ec0-4219-859b-3653c02f6993', 'c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'api-ff8081f1c6ae', '%1', 5389, 1646689, 'f02d749e-17a3-4ab8-9854-5973b0b13735', NULL, NULL, NULL);
CREATE TABLE jobs (
             id text primary key, agent text not null, prompt text, created real not null,
             base_commit text) strict;
insert into jobs (id, agent, prompt, created, base_commit) values ('87069de0-1ec0-4219-859b-3653c02f6993', 'api', 'Count the steps.', 1.79538535097319793703e+09, 'f44ef78d85eacf148306c5bf389b8625ec8458ad');
CREATE TABLE sessions (
             id text primary key, agent text not null, job text not null references jobs(id),
             number integer not null, previous text, run text not null, created real not null,
             document text, transcript text, permission_mode text not null, state text not null,
             cost_usd real, tokens integer, compactions integer not null default 0, ended real) strict;
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended) values ('c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'api', '87069de0-1ec0-4219-859b-3653c02f6993', 1, NULL, 'api-ff8081f1c6ae', 1.79538535103519201283e+09, NULL, '@HOME@/claude/projects/@HOME-SLUG@-repository/c8fd6e00-d546-4574-81f6-9cc1eba1f177.jsonl', 'acceptEdits', 'live', NULL, NULL, 0, NULL);
CREATE TABLE handoffs (
             id text primary key, agent text not null, job text not null references jobs(id),
             old_session text not null, reason text not null, created real not null,
             boot text not null, record text not null, details text not null, ended real,
             outcome text, why text, new_session text, document text, copy text, sha256 text,
             writer text) strict;
insert into handoffs (id, agent, job, old_session, reason, created, boot, record, details, ended, outcome, why, new_session, document, copy, sha256, writer) values ('0f2ce8cb-7572-45b2-9c45-04c2ffb0a5c7', 'api', '87069de0-1ec0-4219-859b-3653c02f6993', 'c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'threshold', 1.79538535150009298329e+09, 'f02d749e-17a3-4ab8-9854-5973b0b13735', '{"plan": {"reason": "threshold", "ask": false, "review": false, "successors": [{"session": "3399e895-4a1d-44b5-818e-4d90b06e6bfc", "run": "api-69797626e235"}, {"session": "58dc66f7-28a5-48f7-940f-70e6abc00fad", "run": "api-4de48bb62ae8"}, {"session": "866c3937-6f0f-4bd2-ad2c-2fa600c1e54b", "run": "api-bf6b7521da0b"}], "now": false, "writers": ["agent", "facts"], "given": null, "deadline": 30.0, "grace": 600.0, "confirm_within": 180.0, "re_asks": 2}, "state": {"is": "Waiting", "since": 16467.330317787, "why": "", "requested_at": null, "tries": 0, "interrupted_at": null, "laid": false, "idle_since": null}}', '{"draft": "@HOME@/repository/.cockpit/handoffs/draft-0f2ce8cb.md", "began": 1795385351.5161877, "phase_since": "2026-11-22T22:09:11Z", "due": "act mark"}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE latches (
             session text not null, name text not null, at real not null,
             primary key (session, name)) strict;
insert into latches (session, name, at) values ('', 'boot.f02d749e-17a3-4ab8-9854-5973b0b13735', 1.795368884169732809e+09);
insert into latches (session, name, at) values ('c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'began.f02d749e-17a3-4ab8-9854-5973b0b13735', 16466.880807932);
insert into latches (session, name, at) values ('c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'band.notice', 1.79538535149415302274e+09);
insert into latches (session, name, at) values ('c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'band.warn', 1795385351.49491);
insert into latches (session, name, at) values ('c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'band.act', 1795385351.49641);
CREATE TABLE events (
             id integer primary key autoincrement, at real not null, agent text,
             kind text not null, text text not null, data text not null) strict;
insert into events (id, at, agent, kind, text, data) values (1, 1.79538535094623303419e+09, 'api', 'verb.asked', 'start asked for by you', '{"verb": "start", "by": {"kind": "user", "pid": 4311}}');
insert into events (id, at, agent, kind, text, data) values (2, 1.79538535108361601826e+09, 'api', 'agent.started', 'api started in @HOME@/repository', '{"session": "c8fd6e00-d546-4574-81f6-9cc1eba1f177", "directory": "@HOME@/repository", "branch": "main"}');
insert into events (id, at, agent, kind, text, data) values (3, 1.79538535149788689611e+09, 'api', 'band.crossed', 'api is at 72% of its context (act)', '{"band": "act", "reached": ["notice", "warn", "act"], "tokens": 144000, "window": 200000, "confidence": "reported"}');
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
