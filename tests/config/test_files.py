"""Settings that are changed from the screen: where they go, what they leave as it was, what not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.config.changed import changed_text
from cockpit.config.files import Files
from cockpit.config.paths import Places
from cockpit.config.read import load
from cockpit.config.schema import AgentSettings
from cockpit.config.trust import is_trusted, trust
from cockpit.core.errors import BadConfig, Failed, NotNow
from tests.repositories import lay_repository

ACT = ("defaults", "context", "act")
THEME = ("cockpit", "theme")
TEXT = """\
# what we fly
[defaults.context]
warn = "55%"   # early
# the handoff
act  = "70%"   # late

[[agents]]
name = "api"
command = ["./run"]   # ours
runtime = "command"
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.of({"COCKPIT_HOME": str(tmp_path / "home")})


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return lay_repository(tmp_path / "shop")


def project(repository: Path, text: str = TEXT) -> Path:
    file = repository / "cockpit.toml"
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_a_value_changes_and_everything_around_it_stays() -> None:
    changed = changed_text(TEXT, {ACT: "65%", ("defaults", "context", "force"): "90%"})
    assert changed.replace('act  = "65%"', 'act  = "70%"').replace('force = "90%"\n', "") == TEXT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only words\n",
        'defaults.context.act = "70%"\n',
        '[defaults]\ncontext = {act = "70%"}\n',
    ],
)
def test_every_way_of_writing_a_table_can_be_changed(text: str, places: Places) -> None:
    changed = changed_text(text, {ACT: "65%", THEME: "day"})
    places.config.mkdir()
    places.user_file.write_text(changed)
    places.user_file.chmod(0o600)
    settings = load(places, None, places.config, {}).settings
    assert (settings.defaults.context.act, settings.cockpit.theme) == ("65%", "day")
    assert "act" not in changed_text(changed, {ACT: None})


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('[defaults.context]\n# a\nact = "70%"   # late\nwarn = "5%"\n',
         '[defaults.context]\n# a\n# late\nwarn = "5%"\n'),
        ('[defaults]\ncontext.act = "70%" # late\ncontext.warn = "5%"\n',
         '[defaults]\n# late\ncontext.warn = "5%"\n'),
        ('[defaults]\ncontext = { act = "70%", warn = "5%" } # both\n',
         '[defaults]\ncontext = {  warn = "5%" } # both\n'),
        ('[cockpit]\ntheme = "day"\n', '[cockpit]\ntheme = "day"\n'),
    ],
)  # fmt: skip
def test_a_key_that_is_taken_out_leaves_every_word_of_the_pilots(text: str, left: str) -> None:
    assert changed_text(text, {ACT: None}) == left


def test_every_change_is_told_with_its_line_before_it_is_made(
    places: Places, repository: Path
) -> None:
    file = project(repository)
    places.config.mkdir()
    places.user_file.write_text('[defaults.context]\nact = "66%"\n')
    places.user_file.chmod(0o600)
    found = Files.read(places, None, repository, {"COCKPIT_REFRESH": "low"})
    changes = {ACT: None, ("defaults", "context", "warn"): "50%", ("defaults", "mode"): "auto"}
    act, warn, mode = found.edits(changes, found.tried(changes))
    assert (act.file, act.line, act.removed, str(act.then)) == (
        file, 5, True, f"{places.user_file}:2"
    )  # fmt: skip
    assert (warn.line, warn.removed, mode.line) == (3, False, None)
    assert found.why_not_out(ACT) is None
    assert "is the default" in str(found.why_not_out(("defaults", "mode")))
    assert "environment" in str(found.why_not_out(("cockpit", "refresh")))


def test_a_founding_name_gives_way_to_the_present_one(places: Places, repository: Path) -> None:
    old = "[context_monitor]\n# ours\nwarning_threshold = 100000   # early\n"
    file = project(repository, old)
    warn = ("defaults", "context", "warn")
    found = Files.read(places, None, repository, {})
    (edit,) = found.edits({warn: "50%"}, found.tried({warn: "50%"}))
    assert (edit.file, edit.line) == (file, 3)
    found.write({warn: "50%"})
    assert "warning_threshold" not in file.read_text()
    assert "# early" in file.read_text()
    assert Files.read(places, None, repository, {}).loaded.settings.defaults.context.warn == "50%"

    project(repository, old)
    found = Files.read(places, None, repository, {})
    found.write({warn: None})
    assert Files.read(places, None, repository, {}).loaded.settings.defaults.context.warn == "60%"


def test_a_refusal_names_no_line_that_the_file_does_not_have(
    places: Places, repository: Path
) -> None:
    file = project(repository)
    found = Files.read(places, None, repository, {})
    with pytest.raises(BadConfig) as new:
        found.tried({("defaults", "context", "force"): "nonsense"})
    assert new.value.title.startswith(f"{file}: defaults.context.force: ")
    with pytest.raises(BadConfig) as there:
        found.tried({("defaults", "context", "force"): "90%", ACT: "nonsense"})
    assert there.value.title.startswith(f"{file}:5: defaults.context.act: ")


def test_a_file_that_is_read_only_is_left_alone_whoever_we_are(
    places: Places, repository: Path
) -> None:
    file = project(repository)
    file.chmod(0o400)
    found = Files.read(places, None, repository, {})
    with pytest.raises(Failed, match="is read-only") as refused:
        found.write({ACT: "60%"})
    assert "chmod u+w" in refused.value.hint
    with pytest.raises(Failed):
        found.edits({ACT: "60%"}, found.loaded)
    assert file.read_text() == TEXT


def test_marks_go_to_the_project_and_the_theme_to_the_pilots_own(
    places: Places, repository: Path
) -> None:
    file = project(repository)
    found = Files.read(places, None, repository, {})
    assert found.file_for(ACT) == file
    assert found.file_for(THEME) == places.user_file
    assert found.standing(places.user_file) == "a new file"
    assert found.write({ACT: "60%", THEME: "day"}) == (file, places.user_file)
    settings = Files.read(places, None, repository, {}).loaded.settings
    assert (settings.defaults.context.act, settings.cockpit.theme) == ("60%", "day")
    assert "# the handoff" in file.read_text()


def test_what_would_not_be_right_is_refused_and_nothing_written(
    places: Places, repository: Path
) -> None:
    file = project(repository)
    found = Files.read(places, None, repository, {})
    for wrong in ("ninety", "50%", ""):
        with pytest.raises(BadConfig, match="act"):
            found.tried({ACT: wrong})
        with pytest.raises(BadConfig):
            found.write({THEME: "day", ACT: wrong})
    assert file.read_text() == TEXT
    assert not places.user_file.exists()


def test_trying_shows_what_would_hold_and_writes_nothing(places: Places, repository: Path) -> None:
    file = project(repository)
    trust(places, file)
    found = Files.read(places, None, repository, {})
    assert found.tried({ACT: "60%"}).agent("api").context.act == "60%"
    assert file.read_text() == TEXT


def test_a_trusted_file_stays_trusted_and_an_untrusted_one_does_not_become_it(
    places: Places, repository: Path
) -> None:
    file = project(repository)
    found = Files.read(places, None, repository, {})
    assert found.standing(file) == "not trusted yet"
    found.write({ACT: "60%"})
    after = Files.read(places, None, repository, {})
    assert not after.trusted
    assert after.project
    assert not is_trusted(places, after.project)

    trust(places, file)
    Files.read(places, None, repository, {}).write({ACT: "61%"})
    again = Files.read(places, None, repository, {})
    assert again.trusted
    assert again.loaded.agent("api").command == (str(repository / "run"),)


def test_a_file_that_somebody_changed_meanwhile_is_left_alone(
    places: Places, repository: Path
) -> None:
    file = project(repository)
    found = Files.read(places, None, repository, {})
    project(repository, TEXT + "# more\n")
    with pytest.raises(NotNow, match="has changed on disk"):
        found.write({ACT: "60%"})
    assert file.read_text() == TEXT + "# more\n"


def test_an_agent_is_added_to_the_file_of_its_repository(places: Places, repository: Path) -> None:
    found = Files.read(places, None, repository, {})
    file = found.agents_file(repository)
    assert (file, found.standing(file)) == (repository / "cockpit.toml", "a new file")
    found.add(file, AgentSettings(name="api", directory=repository, prompt="Go."))
    found.add(file, AgentSettings(name="web", directory=repository / "web"))
    text = file.read_text()
    assert text.count("[[agents]]") == 2
    assert 'directory = "web"' in text
    file.chmod(0o600)
    trust(places, file)
    found.add(file, AgentSettings(name="db", directory=repository))
    assert Files.read(places, None, repository, {}).trusted
    assert found.agents_file(places.config.parent) == places.user_file
