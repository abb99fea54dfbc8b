"""Everything wrong with a file is said with file, line, key, and what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.core.errors import BadConfig

AGENT = '[[agents]]\nname = "api"\n'
SLACK = AGENT + '[[agents.hooks.on_error]]\ntype = "slack"\n'

CASES = {
    "unknown key": (
        "[defaults.handoff]\ndeadlin = 3\n",
        '2: defaults.handoff.deadlin: unknown key|Did you mean "deadline"?',
    ),
    "unknown table": ("[defalts]\n", '1: defalts: unknown key|Did you mean "defaults"?'),
    "key of another table": (
        '[cockpit]\nwriters = ["sdk"]\n',
        '2: cockpit.writers: unknown key here|"writers" belongs in [defaults.handoff].',
    ),
    "unknown hook event": (
        AGENT + '[[agents.hooks.on_handof_start]]\ntype = "shell"\ncommand = ["a"]\n',
        '3: agents.api.hooks.on_handof_start: unknown key|Did you mean "on_handoff_start"?',
    ),
    "nothing near": ("[cockpit]\nzzz = 1\n", "2: cockpit.zzz: unknown key|Known here: theme, ref"),
    "not one of": (
        AGENT + 'mode = "autoo"\n',
        "3: agents.api.mode: expected observe, prompt or auto, not 'autoo'|Did you mean \"auto\"?",
    ),
    "choice of a wrong type": (
        AGENT + "mode = 3\n",
        "3: agents.api.mode: expected observe, prompt or auto, not a number|",
    ),
    "text expected": (
        AGENT + "model = 5\n",
        "3: agents.api.model: expected text in quotes, not a n",
    ),
    "list expected": (
        AGENT + 'arguments = "--verbose"\n',
        "3: agents.api.arguments: expected a list in [brackets], not text",
    ),
    "element of a list": (
        AGENT + 'arguments = [\n "a",\n 5,\n]\n',
        "5: agents.api.arguments[2]: expected text in quotes, not a number",
    ),
    "whole number expected": (
        "[defaults.handoff]\nmax_per_job = 2.5\n",
        "2: defaults.handoff.max_per_job: expected a whole number, not a number",
    ),
    "number as text": (
        '[defaults.handoff]\nmax_per_job = "3"\n',
        "2: defaults.handoff.max_per_job: expected a whole number, not text",
    ),
    "truth expected": (
        '[defaults.loop]\nenabled = "yes"\n',
        "2: defaults.loop.enabled: expected true or false, not text",
    ),
    "table expected": ("defaults = 3\n", "1: defaults: expected a table, not a number"),
    "tables expected": (
        "[agents]\nname = 'x'\n",
        "1: agents: expected a list of tables, not a table|Write [[agents]] above each table.",
    ),
    "a table for each name": (
        "[agents.one]\nprompt = 'x'\n",
        '1: agents: expected a list of tables, not a table|Write [[agents]] with name = "one".',
    ),
    "hooks without a list": (
        AGENT + '[agents.hooks.on_session_start]\ntype = "shell"\ncommand = ["x"]\n',
        "|Write [[agents.hooks.on_session_start]] above each table.",
    ),
    "too small": (
        "[defaults.handoff]\nconcurrent = 0\n",
        "2: defaults.handoff.concurrent: expected at least 1|",
    ),
    "too large": (
        "[defaults.handoff]\nconcurrent = 1000\n",
        "2: defaults.handoff.concurrent: expected at most 64|",
    ),
    "duration": (
        '[defaults.handoff]\ndeadline = "3 weeks"\n',
        '2: defaults.handoff.deadline: expected a duration such as "90s"',
    ),
    "duration too short": (
        '[defaults.handoff]\ndeadline = "0"\n',
        "2: defaults.handoff.deadline: expected at least 1",
    ),
    "mark": (
        '[defaults.context]\nact = "lots"\n',
        "2: defaults.context.act: 'lots' is not a threshold|Write a percentage (\"70%\"), tokens",
    ),
    "mark of a wrong type": (
        "[defaults.context]\nact = 0.7\n",
        '2: defaults.context.act: expected a threshold such as "70%"',
    ),
    "mark in an inline table": (
        '[defaults.context]\ncap = { act = "much" }\n',
        "2: defaults.context.cap.act: 'much' is not a threshold",
    ),
    "window": (
        '[defaults.context]\nwindow = "big"\n',
        '2: defaults.context.window: expected "auto", or a number of tokens',
    ),
    "marks out of order": (
        '[defaults.context]\nwarn = "80%"\nact = "70%"\n',
        "2: defaults.context.warn: warn is higher than act|Lower warn, or remove one of the two",
    ),
    "marks out of order once they are tokens": (
        '[defaults.context]\nact = "150k"\nforce = "30% left"\n',
        "2: defaults.context.act: act is higher than force|Lower act, or remove one of the two",
    ),
    "caps out of order": (
        '[defaults.context.cap]\nact = "450k"\nforce = "400k"\n',
        "2: defaults.context.cap.act: cap_act is higher than cap_force",
    ),
    "marks of an agent against its defaults": (
        '[defaults.context]\nact = "70%"\n' + AGENT + '[agents.context]\nwarn = "75%"\n',
        "6: agents.api.context.warn: warn is higher than act",
    ),
    "writers twice": (
        '[defaults.handoff]\nwriters = ["sdk", "sdk"]\n',
        "2: defaults.handoff.writers: expected no duplicates",
    ),
    "no writers": (
        "[defaults.handoff]\nwriters = []\n",
        "2: defaults.handoff.writers: expected at least one",
    ),
    "directory outside": (
        '[defaults.handoff]\ndirectory = "../handoffs"\n',
        "2: defaults.handoff.directory: expected a path inside the worktree",
    ),
    "directory of git": (
        '[defaults.handoff]\ndirectory = ".git/handoffs"\n',
        "2: defaults.handoff.directory: expected a path outside .git",
    ),
    "name": (
        '[[agents]]\nname = "My Agent"\n',
        "2: agents[1].name: 'My Agent' is not a valid agent name|Use 1 to 32 characters: a-z",
    ),
    "name that tmux would run": (
        '[[agents]]\nname = "#(touch x)"\n',
        "2: agents[1].name: '#(touch x)' is not a valid agent name",
    ),
    "no name": ('[[agents]]\nprompt = "x"\n', "1: agents[1].name: missing"),
    "two of one name": (
        AGENT + AGENT,
        '4: agents[2].name: two agents are named "api"|The first is on line 2.',
    ),
    "two prompts": (
        AGENT + 'prompt = "a"\nprompt_file = "b"\n',
        "4: agents.api.prompt_file: prompt and prompt_file are both set|Remove prompt or",
    ),
    "prompt file missing": (
        AGENT + 'prompt_file = "job.md"\n',
        "3: agents.api.prompt_file: no such file: ",
    ),
    "prompt with a NUL": (
        AGENT + 'prompt = "a\\u0000b"\n',
        "3: agents.api.prompt: contains a NUL character",
    ),
    "command missing": (
        AGENT + 'runtime = "command"\n',
        '3: agents.api.runtime: runtime = "command" needs a command|Add a command, as a list',
    ),
    "command missing by default": (
        '[defaults]\nruntime = "command"\n' + AGENT,
        '3: agents.api.runtime: runtime = "command" needs a command',
    ),
    "reserved variable": (
        AGENT + '[agents.env]\nCOCKPIT_RUN = "1"\n',
        "3: agents.api.env: COCKPIT_RUN is set by cockpit itself",
    ),
    "no variable": (
        AGENT + '[agents.env]\n"A B" = "1"\n',
        "3: agents.api.env: 'A B' is not a valid",
    ),
    "branch": (
        AGENT + '[agents.worktree]\nbranch = "--force"\n',
        "4: agents.api.worktree.branch: expected a valid branch name",
    ),
    "branch placeholder": (
        AGENT + '[agents.worktree]\nbranch = "agent/{agnt}"\n',
        "4: agents.api.worktree.branch: expected only {agent}, {work_item}, {job} between",
    ),
    "base": (
        AGENT + '[agents.worktree]\nbase = "main..x"\n',
        "4: agents.api.worktree.base: expected a valid branch name",
    ),
    "one branch for two": (
        '[defaults.worktree]\nstrategy = "git_worktree"\nbranch = "work"\n'
        + AGENT
        + '[[agents]]\nname = "web"\n',
        '6: agents.web.worktree.branch: agents "web" and "api" would both use branch \'work\'',
    ),
    "shell hook without a command": (
        AGENT + '[[agents.hooks.on_error]]\ntype = "shell"\n',
        '4: agents.api.hooks.on_error[1].type: a hook of type "shell" needs command',
    ),
    "webhook without an address": (
        AGENT + '[[agents.hooks.on_error]]\ntype = "webhook"\n',
        '4: agents.api.hooks.on_error[1].type: a hook of type "webhook" needs url',
    ),
    "webhook to a file": (
        AGENT + '[[agents.hooks.on_error]]\ntype = "slack"\nurl = "file:///etc/passwd"\n',
        "5: agents.api.hooks.on_error[1].url: expected an http:// or https:// URL",
    ),
    "slack bot without a channel": (
        SLACK + 'token = "${T}"\n',
        "5: agents.api.hooks.on_error[1].token: a Slack bot also needs channel_id",
    ),
    "slack channel without a token": (
        SLACK + 'url = "https://hooks.slack.com/x"\nchannel_id = "C012345"\n',
        "6: agents.api.hooks.on_error[1].channel_id: a Slack bot also needs token",
    ),
    "slack channel by name": (
        SLACK + 'token = "${T}"\nchannel_id = "#general"\n',
        "6: agents.api.hooks.on_error[1].channel_id: expected the ID of a channel or "
        "user, such as C0123456789"
        "|Slack shows the ID at the end of the channel's About tab.",
    ),
    "slack bot with an incoming webhook": (
        SLACK + 'token = "${T}"\nchannel_id = "C012345"\nurl = "https://hooks.slack.com/x"\n',
        "7: agents.api.hooks.on_error[1].url: with token, url must end with /chat.postMessage"
        "|Remove url to post to slack.com",
    ),
    "slack threads without a bot": (
        SLACK + 'url = "https://hooks.slack.com/x"\nthreads = true\n',
        "6: agents.api.hooks.on_error[1].threads: a Slack incoming webhook cannot open threads"
        "|Slack does not return the message's ID. Use a bot: set token and channel_id.",
    ),
    "token of a webhook": (
        AGENT + '[[agents.hooks.on_error]]\ntype = "webhook"\ntoken = "x"\n',
        '5: agents.api.hooks.on_error[1].token: token only works with hooks of type "slack"',
    ),
    "replacing what cannot be replaced": (
        AGENT + '[[agents.hooks.on_error]]\ntype = "shell"\ncommand = ["a"]\nmode = "replace"\n',
        '6: agents.api.hooks.on_error[1].mode: mode = "replace" only works for',
    ),
    "host without a command": (
        '[[hosts]]\nname = "gpu1"\nconnect = []\n',
        "3: hosts.gpu1.connect: expected at least one",
    ),
    "host called local": (
        '[[hosts]]\nname = "local"\nconnect = ["x"]\n',
        "2: hosts[1].name: `local` is reserved",
    ),
    "two hosts": (
        '[[hosts]]\nname = "a"\nconnect = ["x"]\n[[hosts]]\nname = "a"\nconnect = ["x"]\n',
        '5: hosts[2].name: two hosts are named "a"',
    ),
    "theme by path": (
        '[cockpit]\ntheme = "../../etc/passwd"\n',
        "2: cockpit.theme: expected the name of a theme",
    ),
    "unknown action": (
        '[keys]\nundoo = "U"\n',
        '2: keys.undoo: unknown action|Did you mean "undo"?',
    ),
    "unknown action of the review": (
        '[keys]\nstop = "X"\nreview.aprove = "y"\n',
        '3: keys.review.aprove: unknown action|Did you mean "review.approve"?',
    ),
    "one key for two actions": (
        '[keys]\nstop = "f3"\nundo = ["w", "f3"]\n',
        '2: keys.stop: f3 is already taken: "undo" uses the key too|Choose another key here or for',
    ),
    "the key of another action": (
        '[keys]\nhandoff = "/"\n',
        '2: keys.handoff: slash is already taken: "filter" uses the key too|Choose another key',
    ),
    "a digit": ('[keys]\nstop = "3"\n', "2: keys.stop: 3 is already taken: the digits select"),
    "no key": (
        '[keys]\nstop = "hyper-x"\n',
        "2: keys.stop: hyper-x is not a key; expected one such",
    ),
    "the key that leads back": (
        '[keys]\nredraw = ["f5", "F12"]\n',
        "2: keys.redraw: f12 is reserved: it goes back from an agent's pane|Choose another key.",
    ),
    "the own key that leads back": (
        '[keys]\npane.back = "f9"\nredraw = "F9"\n',
        "3: keys.redraw: f9 is reserved: it goes back from an agent's pane|Choose another key.",
    ),
    "no way back": (
        '[keys]\npane.back = ""\n',
        "2: keys.pane.back: needs a key: it is the way back from an agent's pane|Choose another",
    ),
    "a way back that is typed": (
        '[keys]\npane.back = ["f9", "Q"]\n',
        "2: keys.pane.back: Q cannot be used to leave an agent's pane: the agent's CLI uses "
        "it|Choose",
    ),
    "a way back that interrupts": (
        '[keys]\npane.back = "Ctrl-C"\n',
        "2: keys.pane.back: ctrl+c cannot be used to leave an agent's pane: it interrupts the "
        "agent's",
    ),
    "a way back that the screen needs": (
        '[keys]\npane.back = "f1"\n',
        '2: keys.pane.back: f1 is already taken: "help" uses the key too|Choose another key.',
    ),
    "the palette's key as a way back": (
        '[keys]\npane.back = "ctrl+p"\n',
        "2: keys.pane.back: ctrl+p is reserved: it opens the command palette|Choose another key.",
    ),
    "the key of the palette": (
        '[keys]\nup = "Ctrl-P"\n',
        "2: keys.up: ctrl+p is reserved: it opens the command palette|Choose another key.",
    ),
    "a key that is another": (
        '[keys]\nstop = "Ctrl-M"\n',
        '2: keys.stop: enter is already taken: "attach" uses the key too|',
    ),
    "one key twice for an end": (
        '[keys]\nstop = "y"\n',
        "2: keys.stop: y confirms this action, so it cannot be the action's key too|Choose",
    ),
    "key that is a number": (
        "[keys]\n'fleet.stop' = 3\n",
        "2: keys.'fleet.stop': expected text in",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_file_is_refused_where_it_is_wrong(project: Any, case: str) -> None:
    text, expected = CASES[case]
    place, _, hint = expected.partition("|")
    with pytest.raises(BadConfig) as caught:
        project.load_named(text)
    assert caught.value.title.startswith(f"{project.file}:{place}")
    assert caught.value.hint.startswith(hint)
    assert caught.value.exit_code == 2


def test_all_that_is_wrong_is_said_at_once_in_the_order_of_lines(project: Any) -> None:
    with pytest.raises(BadConfig) as caught:
        project.load_named(
            '[[agents]]\nname = "a"\nmodel = 3\n[cockpit]\nthem = "x"\nrefresh = 1\n'
        )
    assert caught.value.title.startswith(f"{project.file}:3: agents.a.model:")
    assert [line.split(":")[0] for line in caught.value.detail.splitlines()] == ["line 5", "line 6"]


def test_a_name_is_refused_with_one_that_would_do(project: Any) -> None:
    with pytest.raises(BadConfig, match="Try: my-agent"):
        project.load_named('[[agents]]\nname = "My Agent"\n')


def test_what_a_file_says_cannot_move_the_cursor(project: Any) -> None:
    with pytest.raises(BadConfig) as caught:
        project.load_named('["a\\u001b[2J"]\nx = 1\n')
    assert str(caught.value).replace("\n", "").isprintable()


@pytest.mark.parametrize("text", ['mode = "\\u001b]0;x"\n', 'name = "\\u009b2J"\n'])
def test_what_a_value_says_cannot_either(project: Any, text: str) -> None:
    with pytest.raises(BadConfig) as caught:
        project.load_named("[[agents]]\n" + text)
    assert str(caught.value).replace("\n", "").isprintable()
