"""Fixtures of these tests."""

from support.command_line import tables_folder

__all__ = ["tables_folder"]
