"""Decide which settings of a repository's git configuration apply when cockpit runs git.

Git settings can make git run programs. cockpit trusts the settings of the system and the user.
Settings of the repository (scope `local` or `worktree`, with the files that they include) may come
from an agent or from the author of an archive, so cockpit keeps only settings that are known to run
no program. This is an allow list: a new setting of git is dropped until it is added here.

All values are bytes, because a name may contain any byte.
"""

from __future__ import annotations

from collections.abc import Iterable

from cockpit.core.deferred_dataclass import dataclass

OWN_SCOPES = (b"system", b"global")
"""Scopes that the user controls. Every other scope is treated as the repository's."""

FILTER_KEYS = (b"clean", b"smudge", b"process")

_KEPT_PLAIN = {
    b"core": (
        b"repositoryformatversion filemode symlinks ignorecase precomposeunicode protecthfs"
        b" protectntfs autocrlf eol safecrlf checkroundtripencoding bigfilethreshold"
        b" sparsecheckout sparsecheckoutcone logallrefupdates sharedrepository trustctime"
        b" checkstat ignorestat untrackedcache excludesfile attributesfile commentchar abbrev"
    ),
    b"index": b"sparse version",
    b"push": b"pushoption",
    b"remote": b"pushdefault",
    b"http": b"postbuffer lowspeedlimit lowspeedtime version",
    b"credential": b"username usehttppath",
    b"extensions": (
        b"objectformat compatobjectformat refstorage partialclone noop noop-v1 preciousobjects"
        b" relativeworktrees"
    ),
}
"""For each section, the names of the settings that are kept if they have no subsection."""
_KEPT_IN_SUBSECTION = {
    b"remote": b"url pushurl fetch promisor partialclonefilter",
    b"branch": b"remote pushremote merge",
    b"url": b"insteadof pushinsteadof",
    b"diff": b"binary xfuncname wordregex",
    b"http": b"postbuffer lowspeedlimit lowspeedtime version",
    b"credential": b"username usehttppath",
}
"""For each section, the names of the settings that are kept if they have a subsection."""
_REACHES_OUT = {
    b"core": b"sshcommand gitproxy askpass",
    b"ssh": b"variant",
    b"remote": b"receivepack uploadpack vcs proxy proxyauthmethod",
    b"push": b"gpgsign",
}
"""For each section, the names of the settings that decide how a push reaches its remote."""
_REACHES_OUT_WHOLE = (b"credential", b"http", b"gpg", b"protocol")
"""Sections in which every setting that is not kept decides how a push reaches its remote."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting from git's configuration, with the scope of the file that has it."""

    scope: bytes
    section: bytes
    """Name of the section, in lower case."""
    subsection: bytes | None
    """Name of the subsection; may contain any byte except NUL and a line feed. None without a
    subsection."""
    name: bytes
    """Name of the setting, in lower case."""
    value: bytes | None
    """Value of the setting; None for a name without a value, which git reads as true."""
    origin: bytes = b""
    """Where git read the setting, as `--show-origin` prints it: `file:PATH`, `command line:`, …"""

    @property
    def own(self) -> bool:
        """Whether the system or the user defines this setting."""
        return self.scope in OWN_SCOPES

    @property
    def key(self) -> bytes:
        middle = b"" if self.subsection is None else self.subsection + b"."
        return self.section + b"." + middle + self.name


def parse(listed: bytes) -> tuple[Setting, ...]:
    """Parse the output of `git config --list -z --show-scope --show-origin`, in its order.

    Raises `ValueError` if the output is not in git's format.
    """
    fields = listed.split(b"\0")
    if fields.pop() or len(fields) % 3:
        raise ValueError("the list of settings is cut off")
    return tuple(map(_setting, fields[::3], fields[1::3], fields[2::3]))


def own_files(settings: Iterable[Setting]) -> frozenset[bytes]:
    """Return the paths of the files in which the system or the user defines settings."""
    return frozenset(
        setting.origin.removeprefix(b"file:")
        for setting in settings
        if setting.own and setting.origin.startswith(b"file:")
    )


def _setting(scope: bytes, origin: bytes, entry: bytes) -> Setting:
    key, has_value, value = entry.partition(b"\n")
    section, dot, rest = key.partition(b".")
    before, inner, name = rest.rpartition(b".")
    if not (scope and section and dot and name):
        raise ValueError(f"{entry[:80]!r} is not a setting")
    subsection = before if inner else None
    found = value if has_value else None
    return Setting(scope, section.lower(), subsection, name.lower(), found, origin)


def is_kept(setting: Setting) -> bool:
    """Return whether this setting of a repository applies when cockpit runs git."""
    table = _KEPT_PLAIN if setting.subsection is None else _KEPT_IN_SUBSECTION
    return setting.name in table.get(setting.section, b"").split()


def sealed(settings: Iterable[Setting]) -> bytes:
    """Return the text of a configuration file with only the kept settings of the repository."""
    kept = (setting for setting in settings if not setting.own and is_kept(setting))
    return b"".join(map(_written, kept))


def _written(setting: Setting) -> bytes:
    head = setting.section
    if setting.subsection is not None:
        inner = setting.subsection.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
        head += b' "' + inner + b'"'
    line = b"[" + head + b"]\n\t" + setting.name
    if setting.value is None:
        return line + b"\n"
    value = setting.value
    for plain, escaped in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\t", b"\\t")):
        value = value.replace(plain, escaped)
    return line + b' = "' + value + b'"\n'


def foreign_filters(settings: Iterable[Setting]) -> tuple[bytes, ...]:
    """Return the names of the filters that only the repository defines, sorted.

    A filter that the user defines too is left out, because the user's definition applies.
    """
    named: dict[bool, set[bytes]] = {True: set(), False: set()}
    for setting in settings:
        if (
            setting.section == b"filter"
            and setting.subsection is not None
            and setting.name in FILTER_KEYS
        ):
            named[setting.own].add(setting.subsection)
    return tuple(sorted(named[False] - named[True]))


def deciding_push(settings: Iterable[Setting]) -> tuple[bytes, ...]:
    """Return the keys of the repository's settings that decide how a push reaches its remote."""
    return tuple(setting.key for setting in settings if not setting.own and _uses_network(setting))


def _uses_network(setting: Setting) -> bool:
    if setting.section in _REACHES_OUT_WHOLE:
        return not is_kept(setting)
    return setting.name in _REACHES_OUT.get(setting.section, b"").split()


def configured_hooks(settings: Iterable[Setting]) -> tuple[bytes, ...]:
    """Return the names of the hooks that the repository configures (`hook.<name>.…`), sorted."""
    names = {
        setting.subsection or b""
        for setting in settings
        if not setting.own and setting.section == b"hook"
    }
    return tuple(sorted(names))


def hooks_path(settings: Iterable[Setting]) -> bytes | None:
    """Return the value of `core.hooksPath`; the last setting wins. None if there is none."""
    return next(
        (setting.value for setting in reversed([*settings]) if setting.key == b"core.hookspath"),
        None,
    )


def own_value(settings: Iterable[Setting], key: bytes) -> bytes | None:
    """Return the system's or user's value of a setting; None without one. The last setting wins."""
    return next(
        (setting.value for setting in reversed([*settings]) if setting.own and setting.key == key),
        None,
    )
