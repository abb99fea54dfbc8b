CREATE TABLE seats (
             name text primary key, settings text not null, config_file text,
             wanted integer not null, directory text not null, worktree text, branch text,
             job text, session text, run text, pane text, pid integer, started integer,
             boot text, note text, ending text, gave_up text) strict;
insert into seats (name, settings, config_file, wanted, directory, worktree, branch, job, session, run, pane, pid, started, boot, note, ending, gave_up) values ('api', '{"runtime": "claude", "mode": "prompt", "permission_mode": "acceptEdits", "handoff": {"writers": ["agent", "facts"], "deadline": "30s"}, "name": "api", "prompt": "Count the steps.", "directory": "@HOME@/repository"}', '@HOME@/cockpit.toml', 1, '@HOME@/repository', NULL, 'main', '5cc54ab4-3b11-431d-b4e0-cdd0a02099b4', '6c9bc08f-f2dc-408d-80ce-3e2edc826a75', 'api-c03391e1d9a6', '%1', 8467, 1648459, 'f02d749e-17a3-4ab8-9854-5973b0b13735', NULL, NULL, NULL);
CREATE TABLE jobs (
             id text primary key, agent text not null, prompt text, created real not null,
             base_commit text) strict;
insert into jobs (id, agent, prompt, created, base_commit) values ('5cc54ab4-3b11-431d-b4e0-cdd0a02099b4', 'api', 'Count the steps.', 1.79538536864867711065e+09, '6950883f1e5549330bc76e46e9b28f06f2c4d422');
CREATE TABLE sessions (
             id text primary key, agent text not null, job text not null references jobs(id),
             number integer not null, previous text, run text not null, created real not null,
             document text, transcript text, permission_mode text not null, state text not null,
             cost_usd real, tokens integer, compactions integer not null default 0, ended real) strict;
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended) values ('6c9bc08f-f2dc-408d-80ce-3e2edc826a75', 'api', '5cc54ab4-3b11-431d-b4e0-cdd0a02099b4', 1, NULL, 'api-c03391e1d9a6', 1.79538536874259090428e+09, NULL, '@HOME@/claude/projects/@HOME-SLUG@-repository/6c9bc08f-f2dc-408d-80ce-3e2edc826a75.jsonl', 'acceptEdits', 'live', NULL, NULL, 0, NULL);
CREATE TABLE handoffs (
             id text primary key, agent text not null, job text not null references jobs(id),
             old_session text not null, reason text not null, created real not null,
             boot text not null, record text not null, details text not null, ended real,
             outcome text, why text, new_session text, document text, copy text, sha256 text,
             writer text) strict;
insert into handoffs (id, agent, job, old_session, reason, created, boot, record, details, ended, outcome, why, new_session, document, copy, sha256, writer) values ('d4a7b733-5332-4cd5-ba51-299eabed5770', 'api', '5cc54ab4-3b11-431d-b4e0-cdd0a02099b4', '6c9bc08f-f2dc-408d-80ce-3e2edc826a75', 'manual', 1.79538536882197594644e+09, 'f02d749e-17a3-4ab8-9854-5973b0b13735', '{"plan": {"reason": "manual", "ask": false, "review": true, "successors": [{"session": "8cc543e8-1e4f-407f-8926-419b4ca949a8", "run": "api-304e8b8377fc"}, {"session": "160d31ef-6572-41df-b1cb-14cc8e9263f0", "run": "api-5ad8e5fa146c"}, {"session": "ae225fdd-f3a1-4aa4-bca7-1a3b98dde4fc", "run": "api-c69a1f7f96de"}], "now": false, "writers": ["agent", "facts"], "given": null, "deadline": 30.0, "grace": 600.0, "confirm_within": 180.0, "re_asks": 2}, "state": {"is": "Ended", "outcome": "refused", "why": "the pilot said no", "document": {"path": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220930.md", "sha256": "23ed8686211374f6f63fde47514f933496068258579f6c57cb7293b50f53d4d1", "writer": "agent"}, "attempt": 0}}', '{"draft": "@HOME@/repository/.cockpit/handoffs/draft-d4a7b733.md", "began": 1795385368.8634737, "phase_since": "2026-11-22T22:09:30Z", "filling": false, "sealed_calls": 11, "left": {"tokens": 25000, "forced": false, "turns": 2, "at": 16486.368977361}, "closed": 1795385370.53867}', 1.79538537053914690018e+09, 'refused', 'the pilot said no', NULL, '@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220930.md', '@HOME@/ck/state/handoffs/d4a7b733-5332-4cd5-ba51-299eabed5770.md', '23ed8686211374f6f63fde47514f933496068258579f6c57cb7293b50f53d4d1', 'agent');
CREATE TABLE latches (
             session text not null, name text not null, at real not null,
             primary key (session, name)) strict;
insert into latches (session, name, at) values ('', 'boot.f02d749e-17a3-4ab8-9854-5973b0b13735', 1.79536888416973471646e+09);
insert into latches (session, name, at) values ('6c9bc08f-f2dc-408d-80ce-3e2edc826a75', 'began.f02d749e-17a3-4ab8-9854-5973b0b13735', 16484.582991033);
CREATE TABLE events (
             id integer primary key autoincrement, at real not null, agent text,
             kind text not null, text text not null, data text not null) strict;
insert into events (id, at, agent, kind, text, data) values (1, 1.79538536863216495517e+09, 'api', 'verb.asked', 'start asked for by you', '{"verb": "start", "by": {"kind": "user", "pid": 4311}}');
insert into events (id, at, agent, kind, text, data) values (2, 1.79538536878208589554e+09, 'api', 'agent.started', 'api started in @HOME@/repository', '{"session": "6c9bc08f-f2dc-408d-80ce-3e2edc826a75", "directory": "@HOME@/repository", "branch": "main"}');
insert into events (id, at, agent, kind, text, data) values (3, 1.79538536880871510501e+09, 'api', 'verb.asked', 'handoff asked for by you', '{"verb": "handoff", "by": {"kind": "user", "pid": 4311}}');
insert into events (id, at, agent, kind, text, data) values (4, 1.79538536888191604607e+09, 'api', 'handoff.begun', 'A handoff of api is asked for (manual)', '{"tokens": null, "window": 200000, "reason": "manual"}');
insert into events (id, at, agent, kind, text, data) values (5, 1.79538537022500801088e+09, 'api', 'handoff.documenting', 'api: the handoff document is being written', '{"phase": "documenting"}');
insert into events (id, at, agent, kind, text, data) values (6, 1.79538537044873309136e+09, 'api', 'handoff.document', 'The handoff document of api is written (agent)', '{"document": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220930.md", "writer": "agent"}');
insert into events (id, at, agent, kind, text, data) values (7, 1.79538537049084711075e+09, 'api', 'handoff.review', 'api: the handoff document waits for your review', '{"phase": "review"}');
insert into events (id, at, agent, kind, text, data) values (8, 1.79538537051344704621e+09, 'api', 'verb.asked', 'refuse asked for by you', '{"verb": "refuse", "by": {"kind": "user", "pid": 4311}}');
insert into events (id, at, agent, kind, text, data) values (9, 1.79538537054652595518e+09, 'api', 'handoff.refused', 'The handoff of api was refused: the pilot said no', '{"why": "the pilot said no", "handoff": "d4a7b733-5332-4cd5-ba51-299eabed5770", "old_session": "6c9bc08f-f2dc-408d-80ce-3e2edc826a75", "new_session": null, "number": 0, "document": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220930.md"}');
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
