# ruff: noqa: E501
"""Find secrets in command lines: values of options, and arguments of commands.

A line with the name of a program is split once and read from left to right, so the search takes
linear time, even if a name is repeated often.
"""

from __future__ import annotations

from collections.abc import Iterator

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.secret_places import places
from cockpit.core.secret_values import is_password
from cockpit.core.secret_words import Words

Span = tuple[int, int, str]
LONGEST_COMMAND = 1000
"""Maximum characters of a command that are read."""


@dataclass(frozen=True, slots=True)
class Program:
    """The places in a program's command line that can contain a secret."""

    options: tuple[str, ...] = ()
    """Options whose value is a secret."""
    glued: tuple[str, ...] = ()
    """Options that are directly followed by a secret, without a space: `-pVALUE`."""
    divided: tuple[tuple[str, str], ...] = ()
    """(option, mark): the secret follows the first mark in the option's value."""
    after: tuple[tuple[str, int], ...] = ()
    """(word, number): the secret is the number-th plain argument after the word, or after the
    program's name if the word is empty."""
    needs: str = ""
    """A text that the command must contain; without the text, no argument counts as a secret."""


def _program(names: str, **how: object) -> dict[str, Program]:
    return {name: Program(**how) for name in names.split()}  # type: ignore[arg-type]


PROGRAMS: dict[str, Program] = {
    # Registries and clouds.
    **_program("docker podman nerdctl buildah skopeo crane oras", options=("-p", "--password"),
               divided=(("--creds", ":"), ("--src-creds", ":"), ("--dest-creds", ":")), needs="log"),
    **_program("helm", options=("-p", "--password"), needs="registry"),
    **_program("az", options=("-p", "--password", "--client-secret", "--sas-token", "--account-key")),
    **_program("oc", options=("-p", "--password", "--token"), needs="login"),
    **_program("cf bx ibmcloud", options=("-p", "--apikey"), needs="login"),
    **_program("aws", after=(("aws_secret_access_key", 1), ("aws_session_token", 1)), options=("--password", "--secret-string", "--master-user-password")),
    **_program("npm yarn pnpm", after=(("_authtoken", 1), ("_password", 1), ("_auth", 1))),
    **_program("gcloud", options=("--password", "--access-token")),
    # Databases.
    **_program("mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop mongofiles cqlsh bsondump",
               options=("-p", "--password"), glued=("-p",)),
    **_program("mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mariadb mariadb-dump mariadb-admin xtrabackup",
               glued=("-p",), options=("--password",)),
    **_program("redis-cli redis-benchmark valkey-cli keydb-cli", options=("-a", "--pass")),
    **_program("clickhouse-client influx influxd cypher-shell neo4j-admin", options=("-p", "--password", "--token", "-t")),
    **_program("sqlcmd osql bcp isql tsql", options=("-P",), glued=("-P",)),
    **_program("rabbitmqctl", after=(("add_user", 2), ("change_password", 2), ("authenticate_user", 2))),
    **_program("rabbitmqadmin", options=("-p", "--password")),
    # Hosts and transfers.
    **_program("curl", options=("-U", "--oauth2-bearer", "--pass", "--proxy-pass", "--tlspassword"),
               divided=(("-u", ":"), ("--user", ":"), ("--proxy-user", ":"), ("-U", ":"), ("-b", "="), ("--cookie", "="))),
    **_program("wget", options=("--password", "--http-password", "--ftp-password", "--proxy-password")),
    **_program("http https xh", divided=(("-a", ":"), ("--auth", ":"))),
    **_program("lftp ncftpput ncftpget", options=("-p",), divided=(("-u", ","),)),
    **_program("smbclient rpcclient smbget net mount.cifs smbmap", divided=(("-U", "%"), ("--user", "%")), options=("--password",)),
    **_program("crackmapexec netexec evil-winrm xfreerdp rdesktop", options=("-p",), glued=("/p:", "-p")),
    **_program("sshpass", options=("-p",), glued=("-p",)),
    **_program("plink pscp psftp winrs", options=("-pw", "-p")),
    **_program("ipmitool", options=("-P",)),
    **_program("vncviewer x11vnc", options=("-passwd",)),
    **_program("wpa_passphrase", after=(("", 2),)),
    **_program("nmcli", after=(("password", 1), ("wifi-sec.psk", 1), ("802-11-wireless-security.psk", 1))),
    **_program("networksetup", after=(("-setairportnetwork", 3),)),
    **_program("netsh", glued=("keymaterial=", "key=")),
    **_program("openconnect openvpn", options=("--passwd", "--password")),
    **_program("mosquitto_pub mosquitto_sub mosquitto_rr", options=("-P", "--pw")),
    **_program("mosquitto_passwd", after=(("-b", 3),)),
    **_program("swaks sendemail", options=("-ap", "--auth-password", "-xp")),
    **_program("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd", options=("-w", "-s")),
    **_program("kinit", options=("--password",)),
    # Archives, keys, certificates.
    **_program("zip", options=("-P", "--password")),
    **_program("unzip zipcloak", options=("-P",)),
    **_program("7z 7za 7zz rar unrar", glued=("-p", "-hp")),
    **_program("keytool jarsigner apksigner", options=("-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass", "--ks-pass", "--key-pass")),
    **_program("ssh-keygen", options=("-N", "-P")),
    **_program("openssl", options=("-k", "-K", "-pass", "-passin", "-passout", "-password")),
    **_program("gpg gpg2", options=("--passphrase",)),
    **_program("qpdf pdftk", options=("user_pw", "owner_pw", "input_pw", "--password")),
    **_program("security", options=("-p", "-w", "-P"), needs="keychain"),
    **_program("signtool certutil", options=("/p", "-p")),
    **_program("codesign altool notarytool", options=("--password", "-p")),
    **_program("ansible-vault borg restic rclone", options=("--password", "--passphrase")),
    # Users and services.
    **_program("htpasswd", after=(("-b", 3), ("-bc", 3), ("-cb", 3), ("-nb", 2), ("-bn", 2), ("-bB", 3), ("-Bb", 3), ("-nbB", 2), ("-bnB", 2), ("-Bbn", 2), ("-cbB", 3), ("-bcB", 3), ("-Bbc", 3))),
    **_program("useradd usermod", options=("-p", "--password")),
    **_program("ngrok", after=(("authtoken", 1), ("add-authtoken", 1), ("add-api-key", 1))),
    **_program("snyk", after=(("auth", 1),)),
    **_program("doppler", after=(("token", 1),), options=("-t", "--token")),
    **_program("doctl", options=("-t", "--access-token")),
    **_program("vault", after=(("login", 1), ("unseal", 1))),
    **_program("sentry-cli", options=("--auth-token",)),
    **_program("heroku", after=(("auth:token", 1),)),
    **_program("cloudflared", after=(("install", 1),), options=("--token",)),
    **_program("tailscale", options=("--authkey", "--auth-key")),
    **_program("wrangler flyctl vercel netlify railway supabase", options=("--token", "--auth", "--password")),
    **_program("twine", options=("-p", "--password")),
    **_program("poetry", after=(("pypi-token.pypi", 1), ("http-basic.pypi", 2))),
    **_program("cargo", after=(("login", 1),)),
    **_program("gem", options=("--key",)),
    **_program("nuget dotnet", options=("-password", "--password", "-p", "-k", "--api-key", "-apikey"), needs="nuget"),
    **_program("svn", options=("--password",)),
    **_program("setx", after=(("", 2),)),
    **_program("cmdkey", glued=("/pass:",)),
    **_program("psexec runas wmic winexe", options=("-p", "/password:"), glued=("/password:",)),
    **_program("schtasks sc.exe sc", options=("/rp", "/p", "password=")),
    **_program("databricks jfrog jf", options=("--token", "--password", "--access-token", "--apikey")),
    **_program("grafana-cli argocd", options=("--password", "--admin-password", "--auth-token"), after=(("reset-admin-password", 1),)),
    **_program("consul nomad", options=("-token",), glued=("-token=",)),
    **_program("bw", options=("--session",), after=(("unlock", 1), ("login", 2))),
    **_program("op", options=("--session",)),
    **_program("kubectl", options=("--token", "--password", "--docker-password")),
    **_program("gh glab", options=("--token",)),
}  # fmt: skip

_END = deferred_pattern(r"[\n|;│]|&&|\\\\[nr]")
_WORD = deferred_pattern(r"[^\s\"'`\\\\]+")
_NAMES = {name.encode(): name for name in PROGRAMS}
_LONGER_NAME = deferred_pattern(r"(?<!\\)(?<!\[\d\d)(?<!\[\d)(?:[A-Za-z0-9_.]|[A-Za-z0-9_.)]-)\Z")
"""Matches the text before a name that is only the end of a longer word. The letter of an escaped
line end, the end of a colour code and the sign of a diff are not parts of a word."""
MOST_PROGRAMS = 3
"""Maximum programs of one command that are checked, as in `sudo docker exec db mysql`."""
_Word = tuple[int, str]


def command_secrets(text: str, folded: str, words_in_text: Words) -> Iterator[Span]:
    """Yield start, end and kind of each secret in the command lines of a text.

    `folded` is the text in lower case, of the same length.
    """
    present = _NAMES.keys() & words_in_text.each
    hits = sorted(
        (at, _NAMES[word]) for word in present for at in places(folded, f"{_NAMES[word]} ")
    )
    end = tries = 0
    words: list[_Word] = []
    for at, name in hits:
        begin = at - len(name) - 1
        if _LONGER_NAME.search(text, max(0, begin - 8), begin):
            continue
        if at >= end:
            stop = _END.search(text, at, at + LONGEST_COMMAND)
            end = stop.start() if stop else min(len(text), at + LONGEST_COMMAND)
            words = [(word.start(), word[0]) for word in _WORD.finditer(text, at, end)]
            tries = 0
        tries += 1
        if tries <= MOST_PROGRAMS and PROGRAMS[name].needs in folded[at:end]:
            rest = [word for word in words if word[0] >= at]
            for start, value in _values(PROGRAMS[name], rest):
                if not value.startswith("-") and is_password(value, certain=True):
                    yield start, start + len(value), "command"


def _values(program: Program, words: list[_Word]) -> Iterator[_Word]:
    following = [*words[1:], (0, "")]
    marks = dict(program.divided)
    for (at, word), (next_at, next_word) in zip(words, following, strict=False):
        option, equals, joined = word.partition("=")
        begin, value = (at + len(option) + 1, joined) if equals else (next_at, next_word)
        if option in marks:
            head, mark, tail = value.partition(marks[option])
            yield begin + len(head) + len(mark), tail
        elif option in program.options:
            yield begin, value
        for prefix in program.glued:
            if word == prefix and next_at == at + len(word) + 1 and prefix not in program.options:
                yield next_at, next_word  # only a quote is between option and value
            elif word.startswith(prefix):
                yield at + len(prefix), word[len(prefix) :]
    yield from _arguments(program, words)


def _arguments(program: Program, words: list[_Word]) -> Iterator[_Word]:
    for key, number in program.after:
        plain = words if not key else _words_after(key, words)
        plain = [word for word in plain if not word[1].startswith("-")]
        yield from plain[number - 1 : number]


def _words_after(key: str, words: list[_Word]) -> list[_Word]:
    numbers = [n for n, (_, word) in enumerate(words) if word.lower() == key.lower()]
    return words[numbers[0] + 1 :] if numbers else []
