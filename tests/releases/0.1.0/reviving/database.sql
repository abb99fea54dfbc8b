CREATE TABLE seats (
             name text primary key, settings text not null, config_file text,
             wanted integer not null, directory text not null, worktree text, branch text,
             job text, session text, run text, pane text, pid integer, started integer,
             boot text, note text, ending text, gave_up text) strict;
insert into seats (name, settings, config_file, wanted, directory, worktree, branch, job, session, run, pane, pid, started, boot, note, ending, gave_up) values ('api', '{"runtime": "claude", "mode": "auto", "permission_mode": "acceptEdits", "handoff": {"writers": ["agent", "facts"], "deadline": "30s"}, "name": "api", "prompt": "Count the steps.", "directory": "@HOME@/repository"}', '@HOME@/cockpit.toml', 1, '@HOME@/repository', NULL, 'main', 'ae2f2dde-6b0c-4e49-8c39-5d0d4e52dad9', 'ca78032c-3929-4f51-95d5-0e3693b3949c', 'api-a6a9834c4b68', '%1', 8162, 1648329, 'f02d749e-17a3-4ab8-9854-5973b0b13735', NULL, NULL, NULL);
CREATE TABLE jobs (
             id text primary key, agent text not null, prompt text, created real not null,
             base_commit text) strict;
insert into jobs (id, agent, prompt, created, base_commit) values ('ae2f2dde-6b0c-4e49-8c39-5d0d4e52dad9', 'api', 'Count the steps.', 1795385360.1177, 'de532582942d61360889f9be90c48130de0991ac');
CREATE TABLE sessions (
             id text primary key, agent text not null, job text not null references jobs(id),
             number integer not null, previous text, run text not null, created real not null,
             document text, transcript text, permission_mode text not null, state text not null,
             cost_usd real, tokens integer, compactions integer not null default 0, ended real) strict;
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended) values ('c80583a1-900f-4e0d-97c8-996281970edd', 'api', 'ae2f2dde-6b0c-4e49-8c39-5d0d4e52dad9', 1, NULL, 'api-bbe162c19096', 1.79538536021875309942e+09, NULL, '@HOME@/claude/projects/@HOME-SLUG@-repository/c80583a1-900f-4e0d-97c8-996281970edd.jsonl', 'acceptEdits', 'ended', 0.2259, 151500, 0, 1.79538536158871889119e+09);
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended) values ('bf5e4c66-8c86-4ebf-a29d-9e988b81d2a5', 'api', 'ae2f2dde-6b0c-4e49-8c39-5d0d4e52dad9', 2, 'c80583a1-900f-4e0d-97c8-996281970edd', 'api-04131b5374d7', 1.79538536157245206831e+09, '@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220921.md', '@HOME@/claude/projects/@HOME-SLUG@-repository/bf5e4c66-8c86-4ebf-a29d-9e988b81d2a5.jsonl', 'acceptEdits', 'ended', NULL, NULL, 0, 1.79538536296536493301e+09);
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended) values ('3f72a3bd-df85-4478-9e05-6c1b252ac1b8', 'api', 'ae2f2dde-6b0c-4e49-8c39-5d0d4e52dad9', 2, 'c80583a1-900f-4e0d-97c8-996281970edd', 'api-2041581ed3c5', 1.79538536293092298502e+09, '@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220921.md', '@HOME@/claude/projects/@HOME-SLUG@-repository/3f72a3bd-df85-4478-9e05-6c1b252ac1b8.jsonl', 'acceptEdits', 'ended', NULL, NULL, 0, 1.79538536743619608882e+09);
insert into sessions (id, agent, job, number, previous, run, created, document, transcript, permission_mode, state, cost_usd, tokens, compactions, ended) values ('ca78032c-3929-4f51-95d5-0e3693b3949c', 'api', 'ae2f2dde-6b0c-4e49-8c39-5d0d4e52dad9', 2, 'c80583a1-900f-4e0d-97c8-996281970edd', 'api-a6a9834c4b68', 1.79538536742124199864e+09, '@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220921.md', '@HOME@/claude/projects/@HOME-SLUG@-repository/ca78032c-3929-4f51-95d5-0e3693b3949c.jsonl', 'acceptEdits', 'live', NULL, NULL, 0, NULL);
CREATE TABLE handoffs (
             id text primary key, agent text not null, job text not null references jobs(id),
             old_session text not null, reason text not null, created real not null,
             boot text not null, record text not null, details text not null, ended real,
             outcome text, why text, new_session text, document text, copy text, sha256 text,
             writer text) strict;
insert into handoffs (id, agent, job, old_session, reason, created, boot, record, details, ended, outcome, why, new_session, document, copy, sha256, writer) values ('c22f50ff-f2c0-44d7-afc4-0371a77247f3', 'api', 'ae2f2dde-6b0c-4e49-8c39-5d0d4e52dad9', 'c80583a1-900f-4e0d-97c8-996281970edd', 'threshold', 1.79538536086404395099e+09, 'f02d749e-17a3-4ab8-9854-5973b0b13735', '{"plan": {"reason": "threshold", "ask": false, "review": false, "successors": [{"session": "bf5e4c66-8c86-4ebf-a29d-9e988b81d2a5", "run": "api-04131b5374d7"}, {"session": "3f72a3bd-df85-4478-9e05-6c1b252ac1b8", "run": "api-2041581ed3c5"}, {"session": "ca78032c-3929-4f51-95d5-0e3693b3949c", "run": "api-a6a9834c4b68"}], "now": false, "writers": ["agent", "facts"], "given": null, "deadline": 30.0, "grace": 600.0, "confirm_within": 180.0, "re_asks": 2}, "state": {"is": "Reviving", "document": {"path": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220921.md", "sha256": "968bdd364649b08aff8d75db794ed37deda5e7b7f00984803c682972e53dcc5f", "writer": "agent"}, "why": "the new session ended before its first reply"}}', '{"draft": "@HOME@/repository/.cockpit/handoffs/draft-c22f50ff.md", "began": 1795385360.90261, "phase_since": "2026-11-22T22:09:27Z", "due": "act mark", "sealed_calls": 6, "permission_mode": "acceptEdits"}', NULL, NULL, NULL, NULL, '@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220921.md', '@HOME@/ck/state/handoffs/c22f50ff-f2c0-44d7-afc4-0371a77247f3.md', '968bdd364649b08aff8d75db794ed37deda5e7b7f00984803c682972e53dcc5f', 'agent');
CREATE TABLE latches (
             session text not null, name text not null, at real not null,
             primary key (session, name)) strict;
insert into latches (session, name, at) values ('', 'boot.f02d749e-17a3-4ab8-9854-5973b0b13735', 1.79536888416973543173e+09);
insert into latches (session, name, at) values ('c80583a1-900f-4e0d-97c8-996281970edd', 'began.f02d749e-17a3-4ab8-9854-5973b0b13735', 16476.062239646);
insert into latches (session, name, at) values ('c80583a1-900f-4e0d-97c8-996281970edd', 'band.notice', 1.79538536085110592838e+09);
insert into latches (session, name, at) values ('c80583a1-900f-4e0d-97c8-996281970edd', 'band.warn', 1.79538536085338401799e+09);
insert into latches (session, name, at) values ('c80583a1-900f-4e0d-97c8-996281970edd', 'band.act', 1.79538536085454702379e+09);
insert into latches (session, name, at) values ('bf5e4c66-8c86-4ebf-a29d-9e988b81d2a5', 'began.f02d749e-17a3-4ab8-9854-5973b0b13735', 16477.420471285);
insert into latches (session, name, at) values ('3f72a3bd-df85-4478-9e05-6c1b252ac1b8', 'began.f02d749e-17a3-4ab8-9854-5973b0b13735', 16478.815231627);
insert into latches (session, name, at) values ('ca78032c-3929-4f51-95d5-0e3693b3949c', 'began.f02d749e-17a3-4ab8-9854-5973b0b13735', 16483.267684101);
CREATE TABLE events (
             id integer primary key autoincrement, at real not null, agent text,
             kind text not null, text text not null, data text not null) strict;
insert into events (id, at, agent, kind, text, data) values (1, 1.79538536008476901049e+09, 'api', 'verb.asked', 'start asked for by you', '{"verb": "start", "by": {"kind": "user", "pid": 4311}}');
insert into events (id, at, agent, kind, text, data) values (2, 1.79538536025473403935e+09, 'api', 'agent.started', 'api started in @HOME@/repository', '{"session": "c80583a1-900f-4e0d-97c8-996281970edd", "directory": "@HOME@/repository", "branch": "main"}');
insert into events (id, at, agent, kind, text, data) values (3, 1.79538536085739302639e+09, 'api', 'band.crossed', 'api is at 72% of its context (act)', '{"band": "act", "reached": ["notice", "warn", "act"], "tokens": 144000, "window": 200000, "confidence": "reported"}');
insert into events (id, at, agent, kind, text, data) values (4, 1.79538536092146301268e+09, 'api', 'handoff.begun', 'A handoff of api is due (act mark)', '{"tokens": 144000, "window": 200000, "reason": "threshold"}');
insert into events (id, at, agent, kind, text, data) values (5, 1.79538536107156610488e+09, 'api', 'handoff.documenting', 'api: the handoff document is being written', '{"phase": "documenting"}');
insert into events (id, at, agent, kind, text, data) values (6, 1.79538536122129607202e+09, 'api', 'handoff.document', 'The handoff document of api is written (agent)', '{"document": "@HOME@/repository/.cockpit/handoffs/handoff-2026-11-22-220921.md", "writer": "agent"}');
insert into events (id, at, agent, kind, text, data) values (7, 1795385361.24756, 'api', 'handoff.waiting', 'api: the document is agreed; the agent finishes its turn', '{"phase": "waiting"}');
insert into events (id, at, agent, kind, text, data) values (8, 1.79538536143393802641e+09, 'api', 'handoff.stopping', 'api: the old session is being ended', '{"phase": "stopping"}');
insert into events (id, at, agent, kind, text, data) values (9, 1.79538536152786898608e+09, 'api', 'agent.ended', 'The old session of api is gone', '{"killed": false, "stragglers": []}');
insert into events (id, at, agent, kind, text, data) values (10, 1.79538536157032608988e+09, 'api', 'handoff.starting', 'api: the new session is being started', '{"phase": "starting"}');
insert into events (id, at, agent, kind, text, data) values (11, 1.79538536166555690769e+09, 'api', 'handoff.confirming', 'api: the new session runs; waiting for its first reply', '{"phase": "confirming"}');
insert into events (id, at, agent, kind, text, data) values (12, 1.79538536190634202957e+09, 'api', 'handoff.starting', 'api: the new session is being started', '{"phase": "starting"}');
insert into events (id, at, agent, kind, text, data) values (13, 1.79538536303638792041e+09, 'api', 'handoff.confirming', 'api: the new session runs; waiting for its first reply', '{"phase": "confirming"}');
insert into events (id, at, agent, kind, text, data) values (14, 1.79538536339185404774e+09, 'api', 'handoff.starting', 'api: the new session is being started', '{"phase": "starting"}');
insert into events (id, at, agent, kind, text, data) values (15, 1.79538536746730208399e+09, 'api', 'handoff.confirming', 'api: the new session runs; waiting for its first reply', '{"phase": "confirming"}');
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
