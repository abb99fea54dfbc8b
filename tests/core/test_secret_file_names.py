"""Which files are taken for files with secrets, by their names alone."""

from __future__ import annotations

import pytest

from cockpit.core.secret_file_names import is_secret_file


@pytest.mark.parametrize(
    "path",
    [
        ".env", "a/.env.local", "prod.env", ".envrc", "server.pem", "x/tls.KEY", "id_rsa",
        "deploy/id_ed25519.old", ".netrc", ".npmrc", "credentials.json", "aws-credentials",
        "secrets.yaml", "app.secrets.yml", "service-account-1.json", "vault.kdbx", "a.tfvars",
    ],
)  # fmt: skip
def test_names_of_secrets(path: str) -> None:
    assert is_secret_file(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example", "a/.env.sample", "id_rsa.pub", "environment.py", "keys.py", "secrets.py",
        "secret_names.py", "src/credentials.go", ".envrc.template", "monkey", "secretary.txt",
    ],
)  # fmt: skip
def test_names_of_source_files_and_examples(path: str) -> None:
    assert not is_secret_file(path)
