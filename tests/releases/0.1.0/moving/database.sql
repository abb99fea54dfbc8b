CREATE TABLE seats (
             name text primary key, settings text not null, config_file text,
             wanted integer not null, directory text not null, worktree text, branch text,
             job text, session text, run text, pane text, pid integer, started integer,
             boot text, note text, ending text, gave_up text) strict;
insert into seats (name, settings, config_file, wanted, directory, worktree, branch, job, session, run, pane, pid, started, boot, note, ending, gave_up) values ('api', '{"runtime": "claude", "mode": "auto", "permission_mode": "acceptEdits", "handoff": {"writers": ["agent", "facts"], "deadline": "30s"}, "name": "api", "prompt": "Count the steps.", "directory": "@HOME@/repository"}', '@HOME@/cockpit.toml', 1, '@HOME@/repository', NULL, 'main', '6076468f-bd93-45e2-a157-47eef437f968', 'c37c3420-7511-4d7f-b832-d5bc825204b1', 'api-a2845fabd5d3', '%1', 6157, 1923178, '368c82dd-94c2-4242-87a6-5aaa999dc159', NULL, NULL, NULL);
CREATE TABLE jobs (
             id text primary key, agent text not null, prompt text, created real not null,
             base_commit text) strict;
insert into jobs (id, agent, prompt, created, base_commit) values ('6076468f-bd93-45e2-a157-47eef437f968', 'api', 'Count the steps.', 1.79576543707293200492e+09, '78a59b230d5b60499c75a35b3cbcd53ffac6a074');
CREATE TABLE sessions (
             id text primary key, agent text not null, job text not null references jobs(id),
             number integer not null, previous text, run text not null, created real not null,
             document text, transcript text, permission_mode text not null, state text not null,
             cost_usd real, tokens integer, compactions integer not null default 0, ended real, cli_id text, runtime text not null default '', model text not null default '') strict;
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended, cli_id, runtime, model) values ('c37c3420-7511-4d7f-b832-d5bc825204b1', 'api', '6076468f-bd93-45e2-a157-47eef437f968', 1, NULL, 'api-a2845fabd5d3', 1.79576543712450790403e+09, NULL, '@HOME@/claude/projects/@HOME-SLUG@-repository/c37c3420-7511-4d7f-b832-d5bc825204b1.jsonl', 'acceptEdits', 'live', 0.08004, 24700, 0, NULL, NULL, 'claude', '');
CREATE TABLE handoffs (
             id text primary key, agent text not null, job text not null references jobs(id),
             old_session text not null, reason text not null, created real not null,
             boot text not null, record text not null, details text not null, ended real,
             outcome text, why text, new_session text, document text, copy text, sha256 text,
             writer text) strict;
insert into handoffs (id, agent, job, old_session, reason, created, boot, record, details, ended, outcome, why, new_session, document, copy, sha256, writer) values ('562bcca2-a0e9-42fe-aed2-0b89803c18e5', 'api', '6076468f-bd93-45e2-a157-47eef437f968', 'c37c3420-7511-4d7f-b832-d5bc825204b1', 'manual', 1.79576543715232801439e+09, '368c82dd-94c2-4242-87a6-5aaa999dc159', '{"plan": {"reason": "manual", "ask": false, "review": false, "successors": [{"session": "8d2e1c8c-9f68-4f47-a736-0385ea2c73ff", "run": "api-b30ea464c011"}, {"session": "3658d297-ce09-4f51-b3c5-d44b26935bcf", "run": "api-5a26cf6f64c1"}, {"session": "f24b081e-6792-4ae6-96c0-efbbdc92c7b5", "run": "api-ed755d0b8c12"}], "now": false, "writers": ["agent", "facts"], "given": null, "deadline": 30.0, "grace": 600.0, "confirm_within": 180.0, "runtime": "", "model": "", "re_asks": 2, "move_to": "gpu1"}, "state": {"is": "Moving", "document": {"path": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-27-074427.md", "sha256": "fad3f58dc6d0b828efc171a9e742dab8689bc1d036a6b698d13359e2485d3c5b", "writer": "facts"}}}', '{"draft": "@HOME@/repository/.cockpit/handoffs/draft-562bcca2.md", "began": 1795765437.1631584, "phase_since": "2026-11-27T07:44:27Z", "filling": false, "sealed_calls": 8, "writers_failed": ["agent: no valid document within 30 s (All sections together have fewer than 200 characters)"]}', NULL, NULL, NULL, NULL, '@HOME@/repository/.cockpit/handoffs/handoff-2026-11-27-074427.md', '@HOME@/ck/state/handoffs/562bcca2-a0e9-42fe-aed2-0b89803c18e5.md', 'fad3f58dc6d0b828efc171a9e742dab8689bc1d036a6b698d13359e2485d3c5b', 'facts');
CREATE TABLE latches (
             session text not null, name text not null, at real not null,
             primary key (session, name)) strict;
insert into latches (session, name, at) values ('', 'boot.368c82dd-94c2-4242-87a6-5aaa999dc159', 1.79574620535278105734e+09);
insert into latches (session, name, at) values ('c37c3420-7511-4d7f-b832-d5bc825204b1', 'began.368c82dd-94c2-4242-87a6-5aaa999dc159', 19231.779626586);
CREATE TABLE events (
             id integer primary key autoincrement, at real not null, agent text,
             kind text not null, text text not null, data text not null) strict;
insert into events (id, at, agent, kind, text, data) values (1, 1.79576543705622506145e+09, 'api', 'verb.asked', 'start requested by you', '{"verb": "start", "by": {"kind": "user", "pid": 6117}}');
insert into events (id, at, agent, kind, text, data) values (2, 1.79576543714201307291e+09, 'api', 'agent.started', 'api started in @HOME@/repository', '{"session": "c37c3420-7511-4d7f-b832-d5bc825204b1", "directory": "@HOME@/repository", "branch": "main"}');
insert into events (id, at, agent, kind, text, data) values (3, 1.79576543715138506893e+09, 'api', 'verb.asked', 'handoff requested by you', '{"verb": "handoff", "by": {"kind": "user", "pid": 6117}}');
insert into events (id, at, agent, kind, text, data) values (4, 1.79576543716874289513e+09, 'api', 'handoff.begun', 'A handoff of api is requested (manual)', '{"tokens": null, "window": 200000, "reason": "manual"}');
insert into events (id, at, agent, kind, text, data) values (5, 1.79576543761578702931e+09, 'api', 'handoff.documenting', 'api: the handoff document is being written', '{"phase": "documenting"}');
insert into events (id, at, agent, kind, text, data) values (6, 1795765467.68466, 'api', 'handoff.writer_failed', 'The writer agent wrote no handoff document for api: no valid document within 30 s (All sections together have fewer than 200 characters)', '{"writer": "agent"}');
insert into events (id, at, agent, kind, text, data) values (7, 1.79576546773186898229e+09, 'api', 'handoff.document', 'The handoff document of api was written (facts)', '{"document": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-27-074427.md", "writer": "facts"}');
insert into events (id, at, agent, kind, text, data) values (8, 1.79576546774202489855e+09, 'api', 'handoff.waiting', 'api: the document is approved; the agent is finishing its turn', '{"phase": "waiting"}');
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
             detail text not null, tool text not null, command text not null, body text not null default '') strict;
CREATE TABLE damaged (
             at integer not null, place text not null, id text not null, why text not null,
             content text not null) strict;
CREATE TABLE compaction_points (
             key text primary key, passed integer, compacted integer) strict;
CREATE INDEX sessions_by_job on sessions(job, number);
CREATE INDEX handoffs_by_job on handoffs(job, created);
CREATE INDEX outgoing_by_time on outgoing(next_at);
CREATE INDEX handoffs_by_time on handoffs(created, id);
pragma user_version = 16;
