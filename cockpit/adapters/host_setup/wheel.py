"""Pack the running cockpit as a wheel, to install it on another machine.

Needs no build tool and no network. The wheel contains the package's files and the metadata of the
installation, which can be an editable checkout.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import cockpit
from cockpit.config.shipped import example_file, themes_folder
from cockpit.core.errors import Failed

_SHIPPED = "cockpit/_shipped"
_LEFT_OUT = re.compile(r"(^|/)__pycache__/|\.pyc$|^docs/pictures/")
_WHEEL = "Wheel-Version: 1.0\nGenerator: cockpit\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel in memory: a file name that installers accept, and its bytes."""

    name: str
    data: bytes


def own_wheel() -> Wheel:
    """Return this cockpit as a wheel. Raises `Failed` if its metadata is missing."""
    try:
        installed = importlib.metadata.distribution("cockpit")
        metadata = installed.read_text("METADATA") or ""
        entry_points = installed.read_text("entry_points.txt") or ""
        license_text = installed.read_text("licenses/LICENSE") or ""
    except importlib.metadata.PackageNotFoundError:
        metadata = entry_points = license_text = ""
    if not metadata or not entry_points:
        raise Failed(
            "This cockpit cannot be packed",
            "cockpit was not installed with pip, pipx or uv, so the list of its libraries is "
            "missing.",
            "Install cockpit on this machine with pip, pipx or uv; or install it on the host "
            "manually.",
        )
    version = cockpit.__version__
    # An editable checkout can have changed since it was installed.
    metadata = re.sub(r"(?m)^Version: .*$", f"Version: {version}", metadata, count=1)
    files = _package_files()
    info = f"cockpit-{version}.dist-info"
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = _WHEEL.encode()
    files[f"{info}/entry_points.txt"] = entry_points.encode()
    if license_text:
        files[f"{info}/licenses/LICENSE"] = license_text.encode()
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.external_attr = (0o755 if name.endswith(".sh") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return Wheel(f"cockpit-{version}-py3-none-any.whl", packed.getvalue())


def _package_files() -> dict[str, bytes]:
    package = Path(cockpit.__file__).parent
    files = {
        f"cockpit/{inside}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and not _LEFT_OUT.search(inside := path.relative_to(package).as_posix())
    }
    if not (package / "_shipped").is_dir():
        files[f"{_SHIPPED}/{example_file().name}"] = example_file().read_bytes()
        for theme in sorted(themes_folder().glob("*.toml")):
            files[f"{_SHIPPED}/themes/{theme.name}"] = theme.read_bytes()
    return files


def _digest(data: bytes) -> str:
    value = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return f"sha256={value.decode()}"
