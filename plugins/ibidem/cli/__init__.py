"""Command line: one module per command; `docs/commands.md` describes their output."""

from ibidem.cli.app import main

__all__ = ["main"]
