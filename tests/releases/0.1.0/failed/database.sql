CREATE TABLE seats (
             name text primary key, settings text not null, config_file text,
             wanted integer not null, directory text not null, worktree text, branch text,
             job text, session text, run text, pane text, pid integer, started integer,
             boot text, note text, ending text, gave_up text) strict;
insert into seats (name, settings, config_file, wanted, directory, worktree, branch, job, session, run, pane, pid, started, boot, note, ending, gave_up) values ('api', '{"runtime": "claude", "mode": "auto", "permission_mode": "acceptEdits", "handoff": {"writers": ["agent", "facts"], "deadline": "30s"}, "name": "api", "prompt": "Count the steps.", "directory": "@HOME@/repository"}', '@HOME@/cockpit.toml', 1, '@HOME@/repository', NULL, 'main', '0bbb7293-ed4d-473c-bb9d-7866e677455a', '19bf6937-c023-4d4f-be42-6c45455d4944', 'api-374ee78fde33', '%1', 6744, 1647394, 'f02d749e-17a3-4ab8-9854-5973b0b13735', NULL, NULL, NULL);
CREATE TABLE jobs (
             id text primary key, agent text not null, prompt text, created real not null,
             base_commit text) strict;
insert into jobs (id, agent, prompt, created, base_commit) values ('0bbb7293-ed4d-473c-bb9d-7866e677455a', 'api', 'Count the steps.', 1.79538535796191906935e+09, '1b62c7e112b7d44854d1a613bee2b6a145fd9ba2');
CREATE TABLE sessions (
             id text primary key, agent text not null, job text not null references jobs(id),
             number integer not null, previous text, run text not null, created real not null,
             document text, transcript text, permission_mode text not null, state text not null,
             cost_usd real, tokens integer, compactions integer not null default 0, ended real) strict;
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended) values ('19bf6937-c023-4d4f-be42-6c45455d4944', 'api', '0bbb7293-ed4d-473c-bb9d-7866e677455a', 1, NULL, 'api-374ee78fde33', 1795385358.10059, NULL, '@HOME@/claude/projects/@HOME-SLUG@-repository/19bf6937-c023-4d4f-be42-6c45455d4944.jsonl', 'acceptEdits', 'live', NULL, NULL, 0, NULL);
CREATE TABLE handoffs (
             id text primary key, agent text not null, job text not null references jobs(id),
             old_session text not null, reason text not null, created real not null,
             boot text not null, record text not null, details text not null, ended real,
             outcome text, why text, new_session text, document text, copy text, sha256 text,
             writer text) strict;
insert into handoffs (id, agent, job, old_session, reason, created, boot, record, details, ended, outcome, why, new_session, document, copy, sha256, writer) values ('501b34a2-28b3-4b33-b7ef-5908f3ea9aa7', 'api', '0bbb7293-ed4d-473c-bb9d-7866e677455a', '19bf6937-c023-4d4f-be42-6c45455d4944', 'threshold', 1.79538535877903604508e+09, 'f02d749e-17a3-4ab8-9854-5973b0b13735', '{"plan": {"reason": "threshold", "ask": false, "review": false, "successors": [{"session": "3f0ca931-d2e3-435d-90d1-0bfc2af38e6a", "run": "api-25de5d5e57b0"}, {"session": "86847b63-8e54-4127-a628-93e7548c20fe", "run": "api-202d3629abd8"}, {"session": "b4d46892-25ed-4470-9990-019353b07182", "run": "api-59ac4b621be0"}], "now": false, "writers": ["agent", "facts"], "given": null, "deadline": 30.0, "grace": 600.0, "confirm_within": 180.0, "re_asks": 2}, "state": {"is": "Ended", "outcome": "failed", "why": "processes of the old session cannot be ended: 6744", "document": {"path": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220919.md", "sha256": "b7fe0e4ff1e1b430d78414347955414e74dc0e63cb2ea220d61b5220857de3e6", "writer": "agent"}, "attempt": 0}}', '{"draft": "@HOME@/repository/.cockpit/handoffs/draft-501b34a2.md", "began": 1795385358.7988677, "phase_since": "2026-11-22T22:09:19Z", "due": "act mark", "sealed_calls": 6, "permission_mode": "acceptEdits", "left": {"tokens": 151500, "forced": false, "turns": 1, "at": 16475.022781999}, "closed": 1795385359.192477}', 1.79538535919291806219e+09, 'failed', 'processes of the old session cannot be ended: 6744', NULL, '@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220919.md', '@HOME@/ck/state/handoffs/501b34a2-28b3-4b33-b7ef-5908f3ea9aa7.md', 'b7fe0e4ff1e1b430d78414347955414e74dc0e63cb2ea220d61b5220857de3e6', 'agent');
CREATE TABLE latches (
             session text not null, name text not null, at real not null,
             primary key (session, name)) strict;
insert into latches (session, name, at) values ('', 'boot.f02d749e-17a3-4ab8-9854-5973b0b13735', 1.79536888416973447806e+09);
insert into latches (session, name, at) values ('19bf6937-c023-4d4f-be42-6c45455d4944', 'began.f02d749e-17a3-4ab8-9854-5973b0b13735', 16473.940252726);
insert into latches (session, name, at) values ('19bf6937-c023-4d4f-be42-6c45455d4944', 'band.notice', 1795385358.7528);
insert into latches (session, name, at) values ('19bf6937-c023-4d4f-be42-6c45455d4944', 'band.warn', 1.79538535875729107858e+09);
insert into latches (session, name, at) values ('19bf6937-c023-4d4f-be42-6c45455d4944', 'band.act', 1.79538535876388692853e+09);
CREATE TABLE events (
             id integer primary key autoincrement, at real not null, agent text,
             kind text not null, text text not null, data text not null) strict;
insert into events (id, at, agent, kind, text, data) values (1, 1.79538535792592406276e+09, 'api', 'verb.asked', 'start asked for by you', '{"verb": "start", "by": {"kind": "user", "pid": 4311}}');
insert into events (id, at, agent, kind, text, data) values (2, 1.79538535813808488843e+09, 'api', 'agent.started', 'api started in @HOME@/repository', '{"session": "19bf6937-c023-4d4f-be42-6c45455d4944", "directory": "@HOME@/repository", "branch": "main"}');
insert into events (id, at, agent, kind, text, data) values (3, 1.7953853587701189518e+09, 'api', 'band.crossed', 'api is at 72% of its context (act)', '{"band": "act", "reached": ["notice", "warn", "act"], "tokens": 144000, "window": 200000, "confidence": "reported"}');
insert into events (id, at, agent, kind, text, data) values (4, 1.79538535881425905232e+09, 'api', 'handoff.begun', 'A handoff of api is due (act mark)', '{"tokens": 144000, "window": 200000, "reason": "threshold"}');
insert into events (id, at, agent, kind, text, data) values (5, 1.79538535896560692787e+09, 'api', 'handoff.documenting', 'api: the handoff document is being written', '{"phase": "documenting"}');
insert into events (id, at, agent, kind, text, data) values (6, 1.79538535913502502435e+09, 'api', 'handoff.document', 'The handoff document of api is written (agent)', '{"document": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220919.md", "writer": "agent"}');
insert into events (id, at, agent, kind, text, data) values (7, 1.79538535914889788632e+09, 'api', 'handoff.waiting', 'api: the document is agreed; the agent finishes its turn', '{"phase": "waiting"}');
insert into events (id, at, agent, kind, text, data) values (8, 1.79538535917627596854e+09, 'api', 'handoff.stopping', 'api: the old session is being ended', '{"phase": "stopping"}');
insert into events (id, at, agent, kind, text, data) values (9, 1.79538535919864606854e+09, 'api', 'handoff.failed', 'The handoff of api failed: processes of the old session cannot be ended: 6744', '{"why": "processes of the old session cannot be ended: 6744", "handoff": "501b34a2-28b3-4b33-b7ef-5908f3ea9aa7", "old_session": "19bf6937-c023-4d4f-be42-6c45455d4944", "new_session": null, "number": 0, "document": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220919.md"}');
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
