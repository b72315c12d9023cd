"""Fixtures of these tests."""

from support.command_line import answer, made, run, tables_folder

__all__ = ["answer", "made", "run", "tables_folder"]
