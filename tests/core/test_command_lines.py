from __future__ import annotations

import pytest

from cockpit.core.command_lines import parts, program_of, work


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd /w && pytest -q", "pytest -q"),
        ("export A=1; cd '/a b'\nsource .venv/bin/activate && make test", "make test"),
        ("A=1 B=2 pytest", "A=1 B=2 pytest"),
        ("cd /w", "cd /w"),
        ("pytest -q | tail -5", "pytest -q | tail -5"),
        ("echo 'a && b; c' && ls", "echo 'a && b; c' && ls"),
        (
            "git commit -F - <<'EOF'\nrm -rf / && cd x\nEOF\ngit log -1",
            "git commit -F -; git log -1",
        ),
        ("pytest 2>&1 | tail", "pytest 2>&1 | tail"),
        ("", ""),
    ],
)
def test_the_work_of_a_command_line(command: str, expected: str) -> None:
    assert work(command) == expected


def test_the_parts_with_what_joins_them() -> None:
    found = [(part.text, part.joined) for part in parts("cd a && b 'x;y' | c || d & e")]
    assert found == [("cd a", "&&"), ("b 'x;y'", "|"), ("c", "||"), ("d", "&"), ("e", "")]


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("cd /w && timeout 60 .venv/bin/pytest tests/a.py -q", "pytest"),
        ("uv run --frozen pytest -q", "pytest"),
        ("python3 -m pytest -x", "pytest"),
        ("git push origin main", "git push"),
        ("npm run build", "npm run"),
        ("", ""),
        ("(make)", "make"),
    ],
)
def test_the_program_of_a_command_line(command: str, program: str) -> None:
    assert program_of(command) == program


def test_a_long_command_line_is_read_at_its_beginning_only() -> None:
    assert len(work("a;" * 100_000)) < 20_000
