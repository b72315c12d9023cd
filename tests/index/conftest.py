"""Fixtures of these tests."""

from support.command_line import made, run, tables_folder
from support.news_index import library, records, stories, tables

__all__ = ["library", "made", "records", "run", "stories", "tables", "tables_folder"]
