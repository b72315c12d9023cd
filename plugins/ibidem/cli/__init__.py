"""Command line: one module for each command; `docs/commands.md` says what they print."""

from ibidem.cli.app import main

__all__ = ["main"]
