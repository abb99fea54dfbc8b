"""Everything in git's documentation that runs a program, against everything we do with git.

Each vector plants a program where a repository can name one. Plain git must run it, as far as this
git knows the setting (`proof`): so a vector that has lost its sting is noticed. Then every
operation of ours is done, and the program must not run; an operation works or refuses with words.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cockpit.adapters.git.arriving_worktree import ArrivingWorktree
from cockpit.adapters.git.leaving_worktree import LeavingWorktree
from cockpit.adapters.git.worktrees import Git
from cockpit.core.errors import CockpitError
from cockpit.core.moved_worktree import Parcel
from cockpit.ports.worktrees import Tree
from tests.long_cases import cases

STATUS = ("status",)
DIFF = ("diff",)
FETCH = ("fetch", "origin")
PUSH = ("push", "origin", "agent/api")
WORKTREE = ("worktree", "add", "--detach", "../proof")
SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----"


class Scene:
    """A repository, a worktree of it with changes, a remote, and a program that leaves a trace."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.repository = home / "repository"
        self.tree = home / "tree"
        self.far = home / "far.git"
        self.sprung = home / "sprung"
        self.trap = home / "trap"
        self.trap.write_text(f'#!/bin/sh\necho "$0 $@" >> {self.sprung}\ncat\n')
        self.trap.chmod(0o700)
        self.stop = home / "stop"
        """As the program, but it says nothing: a remote that echoes would be waited for."""
        self.stop.write_text(self.trap.read_text().replace("\ncat\n", "\nexit 1\n"))
        self.stop.chmod(0o700)
        self.first = ""
        self.environment: dict[str, str] = {}

    def build(self, name: bytes) -> None:
        """`name` is that of the filter that attributes ask for; none where it is empty."""
        self.repository.mkdir()
        self.run(self.repository, "init", "-q")
        attributes = b"* diff=x merge=x" + (b" filter=" + name if name else b"") + b"\n"
        (self.repository / ".gitattributes").write_bytes(attributes)
        (self.repository / "file").write_text("one\n")
        self.run(self.repository, "add", ".")
        self.run(self.repository, "commit", "-q", "-m", "one")
        self.first = self.run(self.repository, "rev-parse", "HEAD")
        self.run(self.home, "init", "-q", "--bare", str(self.far))
        self.run(self.repository, "remote", "add", "origin", str(self.far))
        self.run(self.repository, "push", "-q", "origin", "main")
        self.act("worktree", "add", "--quiet", "-b", "agent/api", str(self.tree))
        self.act("branch", "-q", "--set-upstream-to=origin/main", "agent/api")
        (self.tree / "file").write_text("two\n")
        self.act("-C", str(self.tree), "commit", "-qam", "two")
        (self.tree / "file").write_text("six\n")
        (self.tree / "new").write_text("new\n")

    def run(self, where: Path, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=where, check=True, capture_output=True)
        return done.stdout.decode(errors="replace").strip()

    def act(self, *words: str) -> None:
        """As the user, in the repository."""
        self.run(self.repository, *words)

    def configure(self, text: bytes) -> None:
        """Add to the repository's configuration, byte for byte."""
        text = text.replace(b"TRAP", os.fsencode(self.trap)).replace(b"HOME", bytes(self.home))
        text = text.replace(b"STOP", os.fsencode(self.stop))
        with (self.repository / ".git" / "config").open("ab") as file:
            file.write(text)

    def trapped(self, path: Path) -> None:
        """Put the program there, under that name."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.trap.read_bytes())
        path.chmod(0o700)


Plant = Callable[[Scene], None]


@dataclass(frozen=True)
class Vector:
    """One way for a repository to name a program."""

    config: bytes = b""
    plant: Plant = lambda scene: None
    proof: tuple[str, ...] = ()
    """What plain git does in the worktree and springs it; empty where it cannot be shown here."""
    proofs: tuple[tuple[str, ...], ...] = ()
    """The same, where several programs are named."""
    filter: bytes = b"x"
    refused: Mapping[str, str] = field(default_factory=dict)
    """Operation -> words of its refusal."""


def hooks(folder: str) -> Plant:
    names = (
        "post-checkout post-index-change reference-transaction pre-push pre-commit post-commit"
        " fsmonitor-watchman pre-auto-gc sendemail-validate"
    )

    def plant(scene: Scene) -> None:
        for name in names.split():
            scene.trapped(scene.home / folder / name)

    return plant


def far_hook(name: str, folder: str = "hooks") -> Plant:
    return lambda scene: scene.trapped(scene.far / folder / name)


def include(scene: Scene) -> None:
    text = f'[filter "x"]\n\tclean = {scene.trap}\n\tsmudge = {scene.trap}\n'
    (scene.home / "included").write_text(text)


def info_attributes(scene: Scene) -> None:
    (scene.repository / ".git" / "info" / "attributes").write_bytes(b"* filter=\xfe\n")


def attributes_file(scene: Scene) -> None:
    (scene.home / "attributes").write_bytes(b"* filter=\xfe\n")


def config_worktree(scene: Scene) -> None:
    folder = Path(scene.run(scene.tree, "rev-parse", "--absolute-git-dir"))
    text = f'[filter "x"]\n\tclean = {scene.trap}\n[core]\n\tfsmonitor = {scene.trap}\n'
    (folder / "config.worktree").write_text(text)


def submodule(scene: Scene) -> None:
    """One that is checked out in the worktree, with a configuration and attributes of its own."""
    library = scene.home / "library"
    scene.run(scene.home, "init", "-q", str(library))
    (library / "inner").write_text("one\n")
    scene.run(library, "add", ".")
    scene.run(library, "commit", "-qm", "one")
    allowed = ("-c", "protocol.file.allow=always")
    scene.run(scene.tree, *allowed, "submodule", "--quiet", "add", str(library), "library")
    scene.run(scene.tree, "commit", "-qm", "library")
    inner = scene.tree / "library"
    for key in ("filter.y.clean", "core.fsmonitor", "filter.y.process"):
        scene.run(inner, "config", key, str(scene.trap))
    (inner / ".gitattributes").write_text("* filter=y\n")
    (inner / "inner").write_text("six\n")
    scene.sprung.unlink(missing_ok=True)


def gitmodules(scene: Scene) -> None:
    text = f'[submodule "s"]\n\tpath = s\n\turl = ./s\n\tupdate = !{scene.trap}\n'
    (scene.tree / ".gitmodules").write_text(text)


def promised(scene: Scene) -> None:
    """A commit of which a file is missing that a remote is to have."""
    for path in (scene.repository / ".git" / "objects").glob("??/*"):
        if scene.run(scene.repository, "cat-file", "-t", path.parent.name + path.name) == "blob":
            path.unlink()


def signed(scene: Scene) -> None:
    plain = scene.run(scene.tree, "cat-file", "commit", "HEAD")
    (scene.home / "signed").write_text(plain.replace("\n\n", f"\n{SIGNATURE}\n\n", 1) + "\n")
    name = scene.run(scene.tree, "hash-object", "-t", "commit", "-w", str(scene.home / "signed"))
    scene.run(scene.tree, "update-ref", "HEAD", name)


def old_remote(scene: Scene) -> None:
    """A remote as git wrote them before 2006; git still reads it."""
    scene.act("remote", "remove", "origin")
    (scene.repository / ".git" / "remotes").mkdir()
    text = f"URL: ext::{scene.stop}\nPush: refs/heads/*:refs/heads/*\n"
    (scene.repository / ".git" / "remotes" / "origin").write_text(text)


def surroundings(scene: Scene) -> None:
    names = (
        "GIT_EXTERNAL_DIFF GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_PAGER GIT_EDITOR"
        " GIT_SEQUENCE_EDITOR GIT_PROXY_COMMAND"
    )
    scene.environment |= dict.fromkeys(names.split(), str(scene.trap))
    scene.environment |= {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "filter.x.clean",
        "GIT_CONFIG_VALUE_0": str(scene.trap),
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={scene.trap}'",
        "GIT_ALLOW_PROTOCOL": "ext",
        "GIT_DIR": str(scene.far),
        "GIT_ATTR_SOURCE": "HEAD",
    }


def neighbour(scene: Scene) -> None:
    """Objects of another repository, whose references are asked for."""
    folder = scene.far / "objects" / "info"
    (folder / "alternates").write_text(f"{scene.repository}/.git/objects\n")
    (scene.repository / ".git" / "objects" / "info" / "alternates").write_text(
        f"{scene.far}/objects\n"
    )
    scene.run(scene.far, "config", "core.alternateRefsCommand", str(scene.trap))


def set_far(key: str, value: str) -> Plant:
    def plant(scene: Scene) -> None:
        scene.run(scene.far, "config", key, value.replace("HOME", str(scene.home)))

    return plant


def filters(head: bytes) -> bytes:
    return head + b"\n\tclean = TRAP\n\tsmudge = TRAP\n\trequired = true\n"


NOT_PUSHED = {"push": "Nothing was pushed"}
EXT = b'[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n'

VECTORS: dict[str, Vector] = {
    "clean": Vector(filters(b'[filter "x"]'), proof=DIFF),
    "process": Vector(b'[filter "x"]\n\tprocess = TRAP\n', proof=DIFF),
    "a name that is no text": Vector(filters(b'[filter "\xff"]'), proof=DIFF, filter=b"\xff"),
    "cut UTF-8": Vector(filters(b'[filter "a\xc3"]'), proof=DIFF, filter=b"a\xc3"),
    "upper case": Vector(filters(b'[FILTER "X"]'), proof=DIFF, filter=b"X"),
    "old spelling": Vector(filters(b"[filter.x]"), proof=DIFF),
    "quotes in a name": Vector(
        filters(b'[filter "a\\"]\\\\[#b.c=d\x1b"]'), proof=DIFF, filter=b'a"]\\[#b.c=d\x1b'
    ),
    "two in one": Vector(filters(b'[filter "y"]\n\tclean = cat\n[filter "x"]'), proof=DIFF),
    "a line continued": Vector(b'[filter "x"]\n\tclean = TRAP\\\n\t\n', proof=DIFF),
    "a value with lines": Vector(b'[filter "x"]\n\tclean = "TRAP\\n"\n', proof=DIFF),
    "textconv": Vector(b'[diff "x"]\n\ttextconv = TRAP\n', proof=DIFF),
    "diff driver": Vector(b'[diff "x"]\n\tcommand = TRAP\n', proof=DIFF),
    "external diff": Vector(b"[diff]\n\texternal = TRAP\n", proof=DIFF),
    "merge driver": Vector(b'[merge "x"]\n\tdriver = TRAP %A\n'),
    "fsmonitor": Vector(b"[core]\n\tfsmonitor = TRAP\n", proof=STATUS),
    "hooks in git's folder": Vector(plant=hooks("repository/.git/hooks"), proof=STATUS),
    "hooksPath": Vector(
        b"[core]\n\thooksPath = HOME/hooks\n", hooks("hooks"), proof=("branch", "proof")
    ),
    "hook by configuration": Vector(
        b'[hook "h"]\n\tcommand = TRAP\n\tevent = post-checkout\n\tevent = reference-transaction\n',
        refused=dict.fromkeys(("foresee", "ensure"), "No worktree was created"),
    ),
    "sshCommand": Vector(
        b'[core]\n\tsshCommand = STOP\n[remote "origin"]\n\tpushurl = ssh://far/x\n',
        proof=PUSH,
        refused=NOT_PUSHED,
    ),
    "gitProxy": Vector(
        b'[core]\n\tgitProxy = STOP\n[remote "origin"]\n\tpushurl = git://far/x\n',
        proof=PUSH,
        refused=NOT_PUSHED,
    ),
    "editor, pager, trailer, interactive filter and tools": Vector(
        b"[core]\n\teditor = TRAP\n[sequence]\n\teditor = TRAP\n"
        b"[core]\n\tpager = TRAP\n[pager]\n\tstatus = TRAP\n\tdiff = TRAP\n\tlog = TRAP\n"
        b'[trailer "t"]\n\tcommand = TRAP\n\tcmd = TRAP\n\tifmissing = add\n'
        b"[interactive]\n\tdiffFilter = TRAP\n[diff]\n\ttool = t\n\tguitool = t\n"
        b'[difftool]\n\tprompt = false\n[difftool "t"]\n\tcmd = TRAP\n[merge]\n\ttool = t\n'
        b'[mergetool "t"]\n\tcmd = TRAP\n[web]\n\tbrowser = t\n[browser "t"]\n\tcmd = TRAP\n',
        proofs=(("commit", "--amend"), ("interpret-trailers", "file"), ("difftool",)),
    ),
    "askPass": Vector(b"[core]\n\taskPass = TRAP\n", refused=NOT_PUSHED),
    "gpg": Vector(
        b"[gpg]\n\tprogram = TRAP\n[commit]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n",
        signed,
        proof=("log",),
        refused=NOT_PUSHED,
    ),
    "gpg by ssh": Vector(
        b'[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = TRAP\n\tdefaultKeyCommand = TRAP\n'
        b"[commit]\n\tgpgSign = true\n[push]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n",
        proof=("commit", "-a", "-m", "signed"),
        refused=NOT_PUSHED,
    ),
    "credential helper": Vector(
        b'[credential]\n\thelper = TRAP\n[credential "https://far"]\n\thelper = !TRAP\n',
        proof=("credential", "approve"),
        refused=NOT_PUSHED,
    ),
    "include": Vector(b"[include]\n\tpath = HOME/included\n", include, proof=DIFF),
    "includeIf": Vector(b'[includeIf "gitdir:/"]\n\tpath = HOME/included\n', include, proof=DIFF),
    "attributes in info": Vector(filters(b'[filter "\xfe"]'), info_attributes, proof=DIFF),
    "attributesFile": Vector(
        b"[core]\n\tattributesFile = HOME/attributes\n" + filters(b'[filter "\xfe"]'),
        attributes_file,
        proof=DIFF,
        filter=b"",
    ),
    "configuration of a worktree": Vector(
        b"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n",
        config_worktree,
        proof=DIFF,
    ),
    "a submodule's own": Vector(plant=submodule, proof=STATUS),
    "update of a submodule": Vector(
        b'[submodule "s"]\n\turl = ./s\n\tupdate = !TRAP\n\tactive = true\n', gitmodules
    ),
    "recursion into submodules": Vector(
        b"[submodule]\n\trecurse = true\n[push]\n\trecurseSubmodules = on-demand\n"
        b"[status]\n\tsubmoduleSummary = true\n[diff]\n\tsubmodule = diff\n"
        b"\tignoreSubmodules = none\n",
        submodule,
        proof=STATUS,
    ),
    "references of alternates": Vector(
        b"[core]\n\talternateRefsCommand = TRAP\n", neighbour, proof=FETCH
    ),
    "ext by another address": Vector(
        EXT + b'[url "ext::STOP "]\n\tinsteadOf = /\n', proof=FETCH, refused=NOT_PUSHED
    ),
    "ext without a rule": Vector(
        b'[remote "origin"]\n\tpushurl = ext::STOP\n[protocol "ext"]\n\tallow = always\n',
        proof=PUSH,
        refused=NOT_PUSHED,
    ),
    "receivepack": Vector(
        b'[remote "origin"]\n\treceivepack = STOP\n', proof=PUSH, refused=NOT_PUSHED
    ),
    "uploadpack": Vector(
        b'[remote "origin"]\n\tuploadpack = STOP\n', proof=FETCH, refused=NOT_PUSHED
    ),
    "remote helper": Vector(
        EXT + b'[remote "h"]\n\tvcs = ext\n\turl = STOP\n',
        proof=("fetch", "h"),
        refused=NOT_PUSHED,
    ),
    "an old kind of remote": Vector(
        EXT, old_remote, proof=PUSH, refused={"push": "Remotes: none."}
    ),
    "packObjectsHook": Vector(b"[uploadpack]\n\tpackObjectsHook = TRAP\n"),
    "alias": Vector(
        b"[alias]\n\tst = !TRAP\n\tstatus = !TRAP\n\tpush = !TRAP\n\tdiff = !TRAP\n", proof=("st",)
    ),
    "core.worktree": Vector(b"[core]\n\tworktree = HOME\n" + filters(b'[filter "x"]')),
    "promisor": Vector(
        EXT + b"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = evil\n"
        b'[remote "evil"]\n\turl = ext::STOP\n\tpromisor = true\n',
        promised,
        proof=("log", "-p"),
        refused={"ensure": "is incomplete", **NOT_PUSHED},
    ),
    "promisor with a folder": Vector(
        b"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = evil\n"
        b'[protocol "file"]\n\tallow = always\n'
        b'[remote "evil"]\n\turl = HOME/far.git\n\tpromisor = true\n\tuploadpack = STOP\n',
        promised,
        proof=("log", "-p"),
        refused={"ensure": "is incomplete", **NOT_PUSHED},
    ),
    "maintenance": Vector(
        b"[gc]\n\tauto = 1\n\trecentObjectsHook = TRAP\n[maintenance]\n\tauto = true\n"
    ),
    "a hook where is pushed to": Vector(
        plant=far_hook("pre-receive"), proof=PUSH, refused=NOT_PUSHED
    ),
    "hooksPath where is pushed to": Vector(
        plant=lambda scene: (
            far_hook("post-receive", "h")(scene),
            set_far("core.hooksPath", "HOME/far.git/h")(scene),
        )[0],
        proof=PUSH,
        refused=NOT_PUSHED,
    ),
    "surroundings": Vector(plant=surroundings),
}


GH = """\
#!/bin/sh
git status; git diff; git log -p -1; git diff-index HEAD; git add --dry-run .
git config --get-regexp . ; git remote -v; git fetch origin
echo https://example.com/pull/1
"""
"""What asks git for everything that `gh` might."""


def operations(scene: Scene, git: Git) -> dict[str, Callable[[], Awaitable[object]]]:
    """Everything that is done with git, in an order in which each can be done."""
    home, tree = scene.home, scene.tree

    async def listed() -> Tree:
        return next(
            (one for one in await git.trees(scene.repository) if one.directory == tree),
            Tree(tree, scene.repository, "agent/api", scene.first),
        )

    async def nothing(_: Path) -> str:
        return ""

    async def salvage() -> object:
        return await git.salvage(await listed())

    async def examine() -> object:
        return await git.examine(await listed())

    async def remove() -> object:
        return await git.remove(await listed(), nothing)

    parcels: list[Parcel] = []
    leaving, clone = LeavingWorktree(git, tree), home / "clone"

    async def pack() -> object:
        parcels.append(await leaving.pack("api", "h", [], home / "bundle", 10**8))
        return parcels

    async def arrive() -> object:
        """In a clone with the same configuration and the same traps."""
        if not parcels:
            return None
        shutil.copytree(scene.repository, clone, symlinks=True)
        shutil.rmtree(clone / ".git" / "worktrees")
        for name in ("refs/heads/agent/api", parcels[0].reference):
            scene.run(clone, "update-ref", "-d", name)
        scene.sprung.unlink(missing_ok=True)
        arriving, there = ArrivingWorktree(git, clone), home / "arrived"
        await arriving.tips()
        await arriving.receive(home / "bundle", parcels[0])
        new = await arriving.restore(parcels[0], there, "agent/api", "api")
        return await arriving.discard(parcels[0], there, "agent/api", new=new)

    return {
        "describe": leaving.describe,
        "pack": pack,
        "arrive": arrive,
        "facts": lambda: git.facts(tree, since_commit=scene.first),
        "facts of the main checkout": lambda: git.facts(scene.repository),
        "diff": lambda: git.diff(tree, since_commit=scene.first),
        "busy": lambda: git.busy(tree),
        "known": lambda: git.known(scene.repository, scene.first),
        "reachable": lambda: git.reachable(scene.repository, scene.first),
        "unpushed": lambda: git.unpushed(tree),
        "home": lambda: git.home(tree),
        "keep_out": lambda: git.keep_out(tree, "/.cockpit/"),
        "foresee": lambda: git.foresee(scene.repository, home / "made", "agent/web", ""),
        "ensure": lambda: git.ensure(scene.repository, home / "made", "agent/web", "", agent="web"),
        "adopt": lambda: git.ensure(scene.repository, tree, "agent/api", ""),
        "trees": listed,
        "examine": examine,
        "keep": lambda: git.keep(tree, "api", "1"),
        "push": lambda: git.push(tree, "agent/api"),
        "request": lambda: git.open_pull_request(tree, "agent/api", ""),
        "salvage": salvage,
        "remove": remove,
    }


async def refused(run: Callable[[], Awaitable[object]]) -> str:
    """The words of a refusal, with a reason or a next step; none where it worked."""
    error: CockpitError | None = None
    try:
        await run()
    except CockpitError as caught:
        error = caught
    assert error is None or error.detail or error.hint
    return str(error or "")


EVERY_TIME = (
    "clean", "hooksPath", "fsmonitor", "textconv", "includeIf", "a submodule's own",
)  # fmt: skip
"""One of each kind: a filter, hooks, a monitor, a diff, an include, another repository inside."""


@pytest.mark.parametrize(
    "name", cases(*EVERY_TIME, long=[name for name in VECTORS if name not in EVERY_TIME])
)
async def test_nothing_that_a_repository_names_is_run(own_home: Path, name: str) -> None:
    vector = VECTORS[name]
    scene = Scene(own_home)
    scene.build(vector.filter)
    scene.configure(vector.config)
    vector.plant(scene)
    for proof in filter(None, (vector.proof, *vector.proofs)):
        subprocess.run(
            ["git", *proof],
            cwd=scene.tree,
            input=b"protocol=https\nhost=far\nusername=u\npassword=p\n\n",
            capture_output=True,
            timeout=60,
            env={**os.environ, "EDITOR": "true"},
        )
        assert scene.sprung.exists(), "plain git does not run it: this proves nothing"
        scene.sprung.unlink()
    (own_home / "bin").mkdir()
    (own_home / "bin" / "gh").write_text(GH)
    (own_home / "bin" / "gh").chmod(0o700)
    path = f"{own_home}/bin:{os.environ['PATH']}"
    git = Git({**os.environ, "PATH": path, **scene.environment}, private=own_home / "private")

    for operation, run in operations(scene, git).items():
        refusal = await refused(run)
        assert not scene.sprung.exists(), f"{operation} ran {scene.sprung.read_text()}"
        expected = vector.refused.get(operation, "")
        assert expected in refusal, (operation, refusal)
        if name == "alias" and operation in ("describe", "pack", "arrive"):
            assert not refusal, (operation, refusal)
        if operation in ("ensure", "foresee", "keep", "push"):
            assert bool(expected) == bool(refusal), (operation, refusal)
    assert list((own_home / "private").iterdir()) == []


@pytest.mark.parametrize(
    "operation", ["facts", "diff", "ensure", "trees", "salvage", "push", "remove"]
)
async def test_a_configuration_that_changes_after_it_was_read_runs_nothing(
    own_home: Path, operation: str
) -> None:
    """A `git` that plants the program right before every call but those that read settings."""
    scene = Scene(own_home)
    scene.build(b"x")
    evil = own_home / "evil"
    evil.write_text(
        f'[filter "x"]\n\tclean = {scene.trap}\n\tsmudge = {scene.trap}\n'
        f'[diff "x"]\n\ttextconv = {scene.trap}\n[core]\n\tfsmonitor = {scene.trap}\n'
        f'[remote "origin"]\n\treceivepack = {scene.trap}\n'
    )
    config = scene.repository / ".git" / "config"
    (own_home / "before").write_bytes(config.read_bytes())
    racing = own_home / "racing"
    racing.write_text(
        f"#!/bin/sh\ncat {own_home}/before > {config}\n"
        f'case " $* " in *" config "*|*" rev-parse "*) ;; *) cat {evil} >> {config};; esac\n'
        'exec git "$@"\n'
    )
    racing.chmod(0o700)
    git = Git(os.environ, program=str(racing))

    await refused(operations(scene, git)[operation])
    assert not scene.sprung.exists()


async def test_a_bare_repository_that_was_laid_into_a_worktree_runs_nothing(own_home: Path) -> None:
    scene = Scene(own_home)
    scene.build(b"x")
    inner = scene.tree / "inner"
    scene.run(scene.tree, "clone", "-q", "--bare", str(scene.repository), str(inner))
    for key in ("core.fsmonitor", "filter.x.clean", "diff.external", "core.worktree"):
        scene.run(inner, "config", key, str(scene.trap if key != "core.worktree" else scene.tree))
    git = Git(os.environ)
    assert (await git.facts(inner)).root is None
    await git.diff(inner)
    await git.salvage(Tree(scene.tree, scene.repository, "agent/api", scene.first))
    assert not scene.sprung.exists()


async def test_the_users_own_filter_runs_also_where_the_repository_has_another(
    own_home: Path,
) -> None:
    scene = Scene(own_home)
    scene.build(b"x")
    scene.configure(filters(b'[filter "x"]'))
    scene.act("config", "--global", "filter.x.clean", "sed s/user/one/")
    scene.act("config", "--global", "filter.x.smudge", "sed s/one/user/")
    git = Git(os.environ)
    seen = await git.facts(scene.tree, since_commit=scene.first)
    assert seen.status == (" M file", "?? new")
    made = await git.ensure(scene.repository, own_home / "made", "agent/web", "main")
    assert made.unfiltered == ()
    assert (own_home / "made" / "file").read_text() == "user\n"
    assert (await git.facts(own_home / "made")).status == ()
    assert not scene.sprung.exists()
