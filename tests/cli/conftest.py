"""Fixtures of these tests."""

from support.command_line import answer, filled_folder, run

__all__ = ["answer", "filled_folder", "run"]
