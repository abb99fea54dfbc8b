CREATE TABLE seats (
             name text primary key, settings text not null, config_file text,
             wanted integer not null, directory text not null, worktree text, branch text,
             job text, session text, run text, pane text, pid integer, started integer,
             boot text, note text, ending text, gave_up text) strict;
insert into seats (name, settings, config_file, wanted, directory, worktree, branch, job, session, run, pane, pid, started, boot, note, ending, gave_up) values ('api', '{"runtime": "claude", "mode": "auto", "permission_mode": "acceptEdits", "handoff": {"writers": ["agent", "facts"], "deadline": "30s"}, "name": "api", "prompt": "Count the steps.", "directory": "@HOME@/repository"}', '@HOME@/cockpit.toml', 1, '@HOME@/repository', NULL, 'main', '87069de0-1ec0-4219-859b-3653c02f6993', '3399e895-4a1d-44b5-818e-4d90b06e6bfc', 'api-69797626e235', '%1', 5683, 1646808, 'f02d749e-17a3-4ab8-9854-5973b0b13735', NULL, NULL, NULL);
CREATE TABLE jobs (
             id text primary key, agent text not null, prompt text, created real not null,
             base_commit text) strict;
insert into jobs (id, agent, prompt, created, base_commit) values ('87069de0-1ec0-4219-859b-3653c02f6993', 'api', 'Count the steps.', 1.79538535097319793703e+09, 'f44ef78d85eacf148306c5bf389b8625ec8458ad');
CREATE TABLE sessions (
             id text primary key, agent text not null, job text not null references jobs(id),
             number integer not null, previous text, run text not null, created real not null,
             document text, transcript text, permission_mode text not null, state text not null,
             cost_usd real, tokens integer, compactions integer not null default 0, ended real) strict;
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended) values ('c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'api', '87069de0-1ec0-4219-859b-3653c02f6993', 1, NULL, 'api-ff8081f1c6ae', 1.79538535103519201283e+09, NULL, '@HOME@/claude/projects/@HOME-SLUG@-repository/c8fd6e00-d546-4574-81f6-9cc1eba1f177.jsonl', 'acceptEdits', 'handed_off', 0.2259, 151500, 0, 1.79538535283183503152e+09);
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended) values ('3399e895-4a1d-44b5-818e-4d90b06e6bfc', 'api', '87069de0-1ec0-4219-859b-3653c02f6993', 2, 'c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'api-69797626e235', 1795385352.21844, '@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220911.md', '@HOME@/claude/projects/@HOME-SLUG@-repository/3399e895-4a1d-44b5-818e-4d90b06e6bfc.jsonl', 'acceptEdits', 'live', NULL, NULL, 0, NULL);
CREATE TABLE handoffs (
             id text primary key, agent text not null, job text not null references jobs(id),
             old_session text not null, reason text not null, created real not null,
             boot text not null, record text not null, details text not null, ended real,
             outcome text, why text, new_session text, document text, copy text, sha256 text,
             writer text) strict;
insert into handoffs (id, agent, job, old_session, reason, created, boot, record, details, ended, outcome, why, new_session, document, copy, sha256, writer) values ('0f2ce8cb-7572-45b2-9c45-04c2ffb0a5c7', 'api', '87069de0-1ec0-4219-859b-3653c02f6993', 'c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'threshold', 1.79538535150009298329e+09, 'f02d749e-17a3-4ab8-9854-5973b0b13735', '{"plan": {"reason": "threshold", "ask": false, "review": false, "successors": [{"session": "3399e895-4a1d-44b5-818e-4d90b06e6bfc", "run": "api-69797626e235"}, {"session": "58dc66f7-28a5-48f7-940f-70e6abc00fad", "run": "api-4de48bb62ae8"}, {"session": "866c3937-6f0f-4bd2-ad2c-2fa600c1e54b", "run": "api-bf6b7521da0b"}], "now": false, "writers": ["agent", "facts"], "given": null, "deadline": 30.0, "grace": 600.0, "confirm_within": 180.0, "re_asks": 2}, "state": {"is": "Ended", "outcome": "done", "why": "", "document": {"path": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220911.md", "sha256": "c0844a22b36d1c3ba810420851cf7735272a6e5e968dcacc4b554fd84bdc909b", "writer": "agent"}, "attempt": 1}}', '{"draft": "@HOME@/repository/.cockpit/handoffs/draft-0f2ce8cb.md", "began": 1795385351.5161877, "phase_since": "2026-11-22T22:09:12Z", "due": "act mark", "sealed_calls": 6, "permission_mode": "acceptEdits", "tokens_after": 24000, "closed": 1795385352.8309739}', 1.79538535283110690116e+09, 'done', '', '3399e895-4a1d-44b5-818e-4d90b06e6bfc', '@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220911.md', '@HOME@/ck/state/handoffs/0f2ce8cb-7572-45b2-9c45-04c2ffb0a5c7.md', 'c0844a22b36d1c3ba810420851cf7735272a6e5e968dcacc4b554fd84bdc909b', 'agent');
CREATE TABLE latches (
             session text not null, name text not null, at real not null,
             primary key (session, name)) strict;
insert into latches (session, name, at) values ('', 'boot.f02d749e-17a3-4ab8-9854-5973b0b13735', 1.795368884169732809e+09);
insert into latches (session, name, at) values ('c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'began.f02d749e-17a3-4ab8-9854-5973b0b13735', 16466.880807932);
insert into latches (session, name, at) values ('c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'band.notice', 1.79538535149415302274e+09);
insert into latches (session, name, at) values ('c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'band.warn', 1795385351.49491);
insert into latches (session, name, at) values ('c8fd6e00-d546-4574-81f6-9cc1eba1f177', 'band.act', 1795385351.49641);
insert into latches (session, name, at) values ('3399e895-4a1d-44b5-818e-4d90b06e6bfc', 'began.f02d749e-17a3-4ab8-9854-5973b0b13735', 16468.064449086);
insert into latches (session, name, at) values ('3399e895-4a1d-44b5-818e-4d90b06e6bfc', 'band.notice', 1.79538535305313897132e+09);
insert into latches (session, name, at) values ('3399e895-4a1d-44b5-818e-4d90b06e6bfc', 'band.warn', 1795385353.06191);
insert into latches (session, name, at) values ('3399e895-4a1d-44b5-818e-4d90b06e6bfc', 'band.act', 1.79538535306297492976e+09);
CREATE TABLE events (
             id integer primary key autoincrement, at real not null, agent text,
             kind text not null, text text not null, data text not null) strict;
insert into events (id, at, agent, kind, text, data) values (1, 1.79538535094623303419e+09, 'api', 'verb.asked', 'start asked for by you', '{"verb": "start", "by": {"kind": "user", "pid": 4311}}');
insert into events (id, at, agent, kind, text, data) values (2, 1.79538535108361601826e+09, 'api', 'agent.started', 'api started in @HOME@/repository', '{"session": "c8fd6e00-d546-4574-81f6-9cc1eba1f177", "directory": "@HOME@/repository", "branch": "main"}');
insert into events (id, at, agent, kind, text, data) values (3, 1.79538535149788689611e+09, 'api', 'band.crossed', 'api is at 72% of its context (act)', '{"band": "act", "reached": ["notice", "warn", "act"], "tokens": 144000, "window": 200000, "confidence": "reported"}');
insert into events (id, at, agent, kind, text, data) values (4, 1.79538535153922390935e+09, 'api', 'handoff.begun', 'A handoff of api is due (act mark)', '{"tokens": 144000, "window": 200000, "reason": "threshold"}');
insert into events (id, at, agent, kind, text, data) values (5, 1.79538535171210694319e+09, 'api', 'handoff.documenting', 'api: the handoff document is being written', '{"phase": "documenting"}');
insert into events (id, at, agent, kind, text, data) values (6, 1.795385351870570898e+09, 'api', 'handoff.document', 'The handoff document of api is written (agent)', '{"document": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220911.md", "writer": "agent"}');
insert into events (id, at, agent, kind, text, data) values (7, 1.79538535189862298972e+09, 'api', 'handoff.waiting', 'api: the document is agreed; the agent finishes its turn', '{"phase": "waiting"}');
insert into events (id, at, agent, kind, text, data) values (8, 1.79538535205792403222e+09, 'api', 'handoff.stopping', 'api: the old session is being ended', '{"phase": "stopping"}');
insert into events (id, at, agent, kind, text, data) values (9, 1.79538535219401597974e+09, 'api', 'agent.ended', 'The old session of api is gone', '{"killed": false, "stragglers": []}');
insert into events (id, at, agent, kind, text, data) values (10, 1.79538535221306705478e+09, 'api', 'handoff.starting', 'api: the new session is being started', '{"phase": "starting"}');
insert into events (id, at, agent, kind, text, data) values (11, 1.79538535230224895484e+09, 'api', 'handoff.confirming', 'api: the new session runs; waiting for its first reply', '{"phase": "confirming"}');
insert into events (id, at, agent, kind, text, data) values (12, 1.79538535283967208861e+09, 'api', 'handoff.confirmed', 'api goes on in session 2', '{"why": "", "handoff": "0f2ce8cb-7572-45b2-9c45-04c2ffb0a5c7", "old_session": "c8fd6e00-d546-4574-81f6-9cc1eba1f177", "new_session": "3399e895-4a1d-44b5-818e-4d90b06e6bfc", "number": 1, "document": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220911.md"}');
insert into events (id, at, agent, kind, text, data) values (13, 1.79538535306398510933e+09, 'api', 'band.crossed', 'api is at 72% of its context (act)', '{"band": "act", "reached": ["notice", "warn", "act"], "tokens": 144000, "window": 200000, "confidence": "reported"}');
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
