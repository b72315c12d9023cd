"""The command line: one file for each command; what they print is laid down in `docs/commands.md`."""

from ibidem.cli.app import main

__all__ = ["main"]
