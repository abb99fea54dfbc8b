"""Documents on a real disk: durable, private, and never through what an agent laid in the way."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from pathlib import Path

import pytest

from cockpit.adapters.documents.checked_reads import read_chosen, read_own, read_sealed, read_within
from cockpit.adapters.documents.compaction_facts import CompactionDocuments
from cockpit.adapters.documents.copies import Copies
from cockpit.adapters.documents.files import FOLDER, NOTICE, Documents, document_name
from cockpit.adapters.files import guarded_folder
from cockpit.core.document import LARGEST
from cockpit.core.errors import BadUsage, Failed
from cockpit.core.front_matter import FrontMatter, dump
from tests.faults.kernel_log import deeds, reason_against, traced

CREATED = datetime(2026, 11, 21, 20, 15, 0, tzinfo=UTC)
ID = "0a1b2c3d-0000-4000-8000-000000000001"
OTHER = "ffff2c3d-0000-4000-8000-000000000002"


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    made = tmp_path / "worktree"
    made.mkdir()
    return made.resolve()


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(tmp_path / "state" / "handoffs")


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_name_is_the_moment_in_utc() -> None:
    there = CREATED.astimezone(timezone(timedelta(hours=5)))
    assert document_name(there) == "handoff-2026-11-21-201500.md"
    assert document_name(there, 3) == "handoff-2026-11-21-201500-3.md"


def test_a_sealed_document_is_there_twice_with_its_hash(
    documents: Documents, worktree: Path
) -> None:
    sealed = documents.seal(worktree, ID, "text ö", CREATED)
    assert sealed.path == worktree / FOLDER / "handoff-2026-11-21-201500.md"
    assert sealed.copy == documents.copies.path(ID)
    assert sealed.path.read_text() == sealed.copy.read_text() == "text ö"
    assert sealed.sha256 == sha256("text ö".encode()).hexdigest()
    assert names(sealed.path.parent) == [sealed.path.name]
    assert documents.is_intact(sealed.path, sealed.sha256)
    sealed.path.write_text("changed")
    assert not documents.is_intact(sealed.path, sealed.sha256)
    sealed.path.unlink()
    assert not documents.is_intact(sealed.path, sealed.sha256)
    assert documents.is_intact(sealed.copy, sealed.sha256)


@pytest.mark.usefixtures("open_umask")
def test_everything_is_private_whatever_the_umask(documents: Documents, worktree: Path) -> None:
    documents.draft_path(worktree, ID)
    sealed = documents.seal(worktree, ID, "text", CREATED)
    notice = documents.leave_notice(worktree, "waiting")
    assert {mode(path) for path in (sealed.path, sealed.copy, notice)} == {0o600}
    assert {mode(worktree / ".cockpit"), mode(sealed.path.parent), mode(sealed.copy.parent)} == {
        0o700
    }


def test_a_umask_that_takes_everything_takes_nothing(documents: Documents, worktree: Path) -> None:
    before = os.umask(0o777)
    try:
        sealed = documents.seal(worktree, ID, "text", CREATED)
    finally:
        os.umask(before)
    assert mode(sealed.path) == 0o600
    assert mode(sealed.path.parent) == mode(worktree / ".cockpit") == 0o700


def test_a_name_that_is_taken_is_never_overwritten(documents: Documents, worktree: Path) -> None:
    first = documents.seal(worktree, ID, "first", CREATED)
    second = documents.seal(worktree, OTHER, "second", CREATED)
    assert second.path.name == "handoff-2026-11-21-201500-2.md"
    assert first.path.read_text() == "first"


def test_the_same_document_again_is_the_same_file(documents: Documents, worktree: Path) -> None:
    first = documents.seal(worktree, ID, "first", CREATED)
    assert documents.seal(worktree, ID, "first", CREATED) == first
    assert names(first.path.parent) == [first.path.name]


def test_what_a_handoff_has_sealed_is_replaced_at_any_later_time(
    documents: Documents, worktree: Path
) -> None:
    """As after a crash before it was written down: facts and time are others by then."""
    front = dump(FrontMatter(id=ID, created="2026-11-21T20:15:00Z"))
    first = documents.seal(worktree, ID, front + "first", CREATED)
    (first.path.parent / "handoff-odd.md").symlink_to(first.path)
    later = documents.seal(worktree, ID, front + "later", CREATED + timedelta(minutes=5))
    assert later.path == first.path
    assert later.path.read_text() == later.copy.read_text() == front + "later"
    other = documents.seal(worktree, OTHER, front + "other", CREATED)
    assert other.path != first.path
    assert first.path.read_text() == front + "later"


def test_a_link_in_the_place_of_a_document_is_a_taken_name(
    documents: Documents, worktree: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    place = documents.draft_path(worktree, ID).parent
    (place / document_name(CREATED)).symlink_to(target)
    sealed = documents.seal(worktree, ID, "precious", CREATED)
    assert sealed.path.name == document_name(CREATED, 2)
    assert target.read_text() == "precious"
    (place / NOTICE).symlink_to(target)
    documents.leave_notice(worktree, "waiting")
    assert target.read_text() == "precious"
    assert not (place / NOTICE).is_symlink()


def test_a_document_can_be_sealed_anew_in_its_place(documents: Documents, worktree: Path) -> None:
    first = documents.seal(worktree, ID, "first", CREATED)
    again = documents.reseal(first.path, ID, "second")
    assert again.path == first.path
    assert again.path.read_text() == again.copy.read_text() == "second"
    assert again.sha256 != first.sha256


@pytest.mark.parametrize("laid", [".cockpit", ".cockpit/handoffs"])
@pytest.mark.parametrize("kind", ["link out", "dangling", "file", "fifo"])
def test_a_folder_that_is_none_is_refused(
    documents: Documents, worktree: Path, tmp_path: Path, laid: str, kind: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place = worktree / laid
    place.parent.mkdir(exist_ok=True)
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "file":
        place.write_text("x")
    else:
        place.symlink_to(outside if kind == "link out" else tmp_path / "nowhere")
    for act in every_act(documents, worktree):
        with pytest.raises(Failed, match=r"Cannot use .* for handoff documents"):
            act()
    assert list(outside.iterdir()) == []
    assert not (tmp_path / "nowhere").exists()


def every_act(documents: Documents, worktree: Path) -> list[Callable[[], object]]:
    return [
        lambda: documents.draft_path(worktree, ID),
        lambda: documents.look_at_draft(worktree / FOLDER / "draft-0a1b2c3d.md"),
        lambda: documents.seal(worktree, ID, "text", CREATED),
        lambda: documents.reseal(worktree / FOLDER / "handoff.md", ID, "text"),
        lambda: documents.leave_notice(worktree, "text"),
    ]


def test_a_worktree_that_is_itself_reached_by_a_link_is_fine(
    documents: Documents, worktree: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(worktree)
    path = documents.draft_path(link, ID)
    assert path == worktree / FOLDER / "draft-0a1b2c3d.md"
    assert documents.seal(link, ID, "text", CREATED).path.parent == path.parent


def test_a_worktree_that_is_gone_is_not_made_again(documents: Documents, worktree: Path) -> None:
    worktree.rmdir()
    with pytest.raises(Failed, match="folder for the handoff document"):
        documents.draft_path(worktree, ID)
    with pytest.raises(Failed, match="No such file"):
        documents.seal(worktree, ID, "text", CREATED)
    assert not worktree.exists()
    assert documents.copies.path(ID).read_text() == "text"


@pytest.mark.parametrize(
    "folder", ["/tmp/x", "../x", "a/../../x", "", ".", ".git/x", "a/.GIT", "bare/hooks"]
)
def test_a_folder_outside_of_the_worktree_is_bad_usage(
    documents: Documents, worktree: Path, folder: str
) -> None:
    for part in ("objects", "refs"):
        (worktree / "bare" / part).mkdir(parents=True)
    (worktree / "bare" / "HEAD").write_text("ref: refs/heads/main\n")
    with pytest.raises(BadUsage):
        documents.draft_path(worktree, ID, folder)


def test_a_folder_of_the_pilots_own_keeps_its_mode_but_lets_nobody_write(
    documents: Documents, worktree: Path
) -> None:
    own = worktree / "docs"
    own.mkdir()
    own.chmod(0o775)
    documents.seal(worktree, ID, "text", CREATED, "docs")
    assert mode(own) == 0o755


def test_an_id_that_is_a_path_is_refused(documents: Documents, worktree: Path) -> None:
    for ident in ("../../x", "a/b", "", "x" * 65, "a\0"):
        with pytest.raises(BadUsage):
            documents.seal(worktree, ident, "text", CREATED)


def test_a_directory_that_cannot_be_told_is_refused(documents: Documents, tmp_path: Path) -> None:
    odd = tmp_path / "new\nline"
    odd.mkdir()
    with pytest.raises(Failed, match="cannot pass"):
        documents.draft_path(odd, ID)


# Drafts


def test_a_draft_is_seen_once_it_is_there(documents: Documents, worktree: Path) -> None:
    path = documents.draft_path(worktree, ID)
    assert documents.look_at_draft(path).signature is None
    path.write_bytes(b"half \xff")
    seen = documents.look_at_draft(path)
    assert seen.text == "half �"
    assert documents.look_at_draft(path) == seen
    path.write_text("whole")
    assert documents.look_at_draft(path).signature != seen.signature
    documents.discard_draft(path)
    documents.discard_draft(path)
    assert documents.look_at_draft(path).signature is None


def test_a_draft_of_before_the_request_is_none(documents: Documents, worktree: Path) -> None:
    path = documents.draft_path(worktree, ID)
    path.write_text("old")
    assert documents.look_at_draft(path).text == "old"
    documents.draft_path(worktree, ID)
    assert not path.exists()


def test_a_draft_must_be_what_it_seems(
    documents: Documents, worktree: Path, tmp_path: Path
) -> None:
    path = documents.draft_path(worktree, ID)
    secret = tmp_path / "secret"
    secret.write_text("private")
    ways: list[tuple[Callable[[], object], str]] = [
        (lambda: path.symlink_to(secret), "not a regular file"),
        (lambda: path.hardlink_to(secret), "hard link"),
        (lambda: os.mkfifo(path), "not a regular file"),
        (lambda: path.symlink_to("/dev/zero"), "not a regular file"),
        (
            lambda: path.write_bytes(b"x" * (LARGEST + 1)),
            "The file has 257 KiB; the limit is 256 KiB.",
        ),
    ]
    for lay, words in ways:
        lay()
        with pytest.raises(Failed, match=words):
            documents.look_at_draft(path)
        path.unlink()
    path.mkdir()
    with pytest.raises(Failed, match="not a regular file"):
        documents.look_at_draft(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_draft_of_another_user_is_refused(documents: Documents, worktree: Path) -> None:
    path = documents.draft_path(worktree, ID)
    path.write_text("x")
    os.chown(path, 12345, 12345)
    with pytest.raises(Failed, match="another user"):
        documents.look_at_draft(path)


SUPERUSERS = Path("/usr/share")
OTHER_SETTING = "Set another folder in `handoff.directory`."
OTHER_OWNER = "Give the folder to your user: sudo chown -R {} /usr/share"


@pytest.mark.parametrize(
    ("use", "hint"),
    [
        (lambda: guarded_folder.opened(SUPERUSERS).__enter__(), OTHER_SETTING),
        (lambda: Copies(SUPERUSERS).keep(ID, b"text"), OTHER_OWNER),
        (lambda: CompactionDocuments(SUPERUSERS).keep("s-1", 1.0, "text"), OTHER_OWNER),
    ],
)
def test_a_folder_of_another_user_is_refused_with_a_hint_for_that_folder(
    use: Callable[[], object], hint: str
) -> None:
    if os.geteuid() == 0:
        os.seteuid(12345)
    user = os.geteuid()
    try:
        with pytest.raises(Failed, match="/usr/share belongs to another user") as refused:
            use()
    finally:
        os.seteuid(os.getuid())
    assert refused.value.detail == f"The folder's owner is user 0; cockpit runs as user {user}."
    assert refused.value.hint == hint.format(user)


@pytest.mark.parametrize(
    ("in_state", "hint"),
    [
        (False, "Remove the link or file, or set another folder in `handoff.directory`."),
        (True, "Move the link or file away; cockpit creates the folder again."),
    ],
)
def test_a_link_in_place_of_a_folder_is_refused_with_a_hint_for_that_folder(
    tmp_path: Path, hint: str, *, in_state: bool
) -> None:
    link = tmp_path / "link here"
    link.symlink_to(tmp_path)
    with (
        pytest.raises(Failed, match="link here in this path is a link or a file") as refused,
        guarded_folder.opened(link / "sub", make_below=tmp_path, in_state=in_state),
    ):
        pass
    assert refused.value.hint == hint
    assert ("handoff documents" in refused.value.title) is not in_state


def test_what_a_crash_left_is_swept_when_it_is_old(documents: Documents, worktree: Path) -> None:
    place = documents.draft_path(worktree, ID).parent
    for name in (".handoff-x.md.0011.tmp", ".handoff-y.md.0011.tmp"):
        (place / name).write_text("half")
    os.utime(place / ".handoff-x.md.0011.tmp", (1000, 1000))
    documents.draft_path(worktree, ID)
    assert names(place) == [".handoff-y.md.0011.tmp"]


# Notices, and documents that the user names


def test_a_notice_comes_and_goes(documents: Documents, worktree: Path) -> None:
    documents.withdraw_notice(worktree)
    notice = documents.leave_notice(worktree, "one")
    documents.leave_notice(worktree, "two \x1b[31m")
    assert notice.read_text() == "two "
    documents.withdraw_notice(worktree)
    documents.withdraw_notice(worktree)
    assert not notice.exists()


def test_a_notice_names_a_document_beside_it(documents: Documents, worktree: Path) -> None:
    assert documents.waiting(worktree) is None
    sealed = documents.seal(worktree, ID, "text", CREATED)
    other = worktree / "handoff-2026-01-01-000000.md"
    other.write_text("text")
    documents.leave_notice(worktree, f"Waiting:\n\n{other}\n/etc/passwd\n{sealed.path}\n")
    assert documents.waiting(worktree) == sealed.path
    documents.leave_notice(worktree, f"Waiting:\n\n{other}\n")
    assert documents.waiting(worktree) is None
    notice = documents.leave_notice(worktree, f"{sealed.path}\n")
    notice.unlink()
    notice.symlink_to(sealed.path)
    assert documents.waiting(worktree) is None


def test_a_document_of_the_pilots_is_read_also_through_a_link(
    documents: Documents, tmp_path: Path
) -> None:
    real, link = tmp_path / "real.md", tmp_path / "link.md"
    real.write_bytes(b"text \xff")
    link.symlink_to(real)
    assert read_chosen(link) == "text �"


def test_what_cannot_be_a_document_is_bad_usage(documents: Documents, tmp_path: Path) -> None:
    long, fifo = tmp_path / "long.md", tmp_path / "fifo"
    long.write_bytes(b"x" * (LARGEST + 1))
    os.mkfifo(fifo)
    for path in (long, fifo, tmp_path, tmp_path / "none.md", Path("/dev/zero")):
        with pytest.raises(BadUsage):
            read_chosen(path)


# Faults


CHILD = """
import resource, signal, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from cockpit.adapters.documents.files import Documents
from cockpit.core.errors import CockpitError
worktree, copies, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
worktree.mkdir(exist_ok=True)
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
else:
    (worktree / "filler").write_bytes(b"x" * 150_000)
try:
    Documents(copies).seal(worktree, "id", "y" * 200_000, datetime.now(UTC))
except CockpitError as error:
    print(error)
print(sorted(path.name for path in (worktree / ".cockpit" / "handoffs").glob("*")))
"""


def in_a_child(tmp_path: Path, *before: str, worktree: Path, limit: int) -> str:
    """Seal a long document in a process of its own; what it said, and the names it left."""
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    argv = [sys.executable, str(script), str(worktree), str(tmp_path / "copies"), str(limit)]
    ran = subprocess.run(
        [*before, *argv],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    return ran.stdout if ran.returncode == 0 else f"status {ran.returncode}: {ran.stderr}"


def test_a_file_that_may_not_grow_leaves_no_scrap(tmp_path: Path, worktree: Path) -> None:
    said = in_a_child(tmp_path, worktree=worktree, limit=4096)
    assert "Cannot write the handoff document" in said
    assert "File too large" in said
    assert said.rstrip().endswith("[]")
    assert names(tmp_path / "copies") == []


def test_a_disk_that_is_full_is_said_with_a_remedy(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = 'mount -t tmpfs -o size=256k none "$1" 2>/dev/null || exit 77; shift; exec "$@"'
    said = in_a_child(
        tmp_path,
        *("unshare", "--mount", "sh", "-c", mount, "sh", str(disk)),
        worktree=disk / "wt",
        limit=0,
    )
    if said.startswith(("status 77", "status 1: unshare")):
        pytest.skip("no disk of our own can be mounted here")
    assert "Cannot write the handoff document" in said
    assert "Free some space on that disk." in said
    assert said.rstrip().endswith("[]")
    assert names(tmp_path / "copies") == ["id.md"]


def test_an_edit_that_fails_leaves_the_last_document(documents: Documents, worktree: Path) -> None:
    first = documents.seal(worktree, ID, "first", CREATED)
    first.copy.unlink()
    first.copy.mkdir()
    with pytest.raises(Failed, match="Cannot write"):
        documents.reseal(first.path, ID, "second")
    assert first.path.read_text() == "first"
    assert names(first.path.parent) == [first.path.name]
    assert names(first.copy.parent) == [first.copy.name]


def test_only_a_plain_file_of_our_own_is_taken_as_a_document(
    documents: Documents, tmp_path: Path
) -> None:
    notes, link, second = (tmp_path / name for name in ("notes.md", "link.md", "second.md"))
    notes.write_text("mine\n")
    assert read_own(notes) == "mine\n"
    link.symlink_to(notes)
    with pytest.raises(BadUsage) as by_link:
        read_own(link)
    assert "symbolic link" in by_link.value.detail
    assert read_chosen(link) == "mine\n"
    second.hardlink_to(notes)
    with pytest.raises(BadUsage) as by_name:
        read_own(second)
    assert "hard link" in by_name.value.detail
    second.unlink()
    notes.write_bytes(b"x" * (LARGEST + 1))
    with pytest.raises(BadUsage, match="Cannot use"):
        read_own(notes)
    with pytest.raises(BadUsage, match="Cannot read"):
        read_own(tmp_path / "nowhere.md")


def test_a_document_that_an_agent_names_is_in_its_own_folder(
    documents: Documents, worktree: Path
) -> None:
    notes, outside = worktree / "a" / "notes.md", worktree.parent / "notes.md"
    notes.parent.mkdir()
    for place in (notes, outside):
        place.write_text(f"{place}\n")
    (worktree / "out").symlink_to(worktree.parent)
    (worktree / "in").symlink_to(notes.parent)
    (worktree.parent / "by-link").symlink_to(worktree)

    for folder in (worktree, worktree.parent / "by-link"):
        for path in (notes, folder / "in" / "notes.md", folder / "a" / "." / "notes.md"):
            assert read_within(folder, path) == f"{notes}\n"
        for path in (outside, folder / "out" / "notes.md", folder / ".." / "notes.md"):
            with pytest.raises(BadUsage, match="not in the agent's directory"):
                read_within(folder, path)
        for path in (folder / "out", folder / "a", folder / "a" / ".."):
            with pytest.raises(BadUsage, match="Cannot use"):
                read_within(folder, path)
        with pytest.raises(BadUsage, match="Cannot read"):
            read_within(folder, folder / "nowhere" / "notes.md")


def test_a_sealed_document_is_not_read_through_a_link(documents: Documents, worktree: Path) -> None:
    sealed = documents.seal(worktree, ID, "mine\n", CREATED)
    assert read_sealed(sealed.path) == "mine\n"
    elsewhere = sealed.path.parent.rename(worktree / "elsewhere")
    sealed.path.parent.symlink_to(elsewhere)
    with pytest.raises(BadUsage, match="Cannot use"):
        read_sealed(sealed.path)
    before = mode(elsewhere)
    elsewhere.chmod(0o777)
    assert read_sealed(elsewhere / sealed.path.name) == "mine\n"
    assert mode(elsewhere) == 0o777 != before
    (elsewhere / "second.md").hardlink_to(elsewhere / sealed.path.name)
    with pytest.raises(BadUsage) as by_name:
        read_sealed(elsewhere / "second.md")
    assert "hard link" in by_name.value.detail


ARCHIVING = """
import sys
from pathlib import Path
from cockpit.adapters.documents.copies import Copies
copies = Copies(Path(sys.argv[1]))
copies.keep("h1", b"a document")
assert copies.archive("h1") is not None
"""


@pytest.mark.skipif(reason_against() is not None, reason="strace cannot trace here")
def test_an_archived_copy_is_in_both_folders_on_the_disk(tmp_path: Path) -> None:
    """A rename counts after a power cut only when both folders were synced after it."""
    folder, log = tmp_path / "copies", tmp_path / "log"
    command = [sys.executable, "-P", "-c", ARCHIVING, str(folder)]
    subprocess.run(traced(command, log), check=True)
    found = list(deeds(log.read_text()))
    moved = next(
        place for place, deed in enumerate(found) if deed.path == str(folder / "archive" / "h1.md")
    )
    assert found[moved].kind == "name"
    synced = [deed.path for deed in found[moved:] if deed.kind == "sync"]
    assert synced == [str(folder / "archive"), str(folder)]
