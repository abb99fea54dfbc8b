"""The entry point of `cockpit` and of `python -m cockpit`."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from cockpit.cli import main as run

    run()


if __name__ == "__main__":
    main()
