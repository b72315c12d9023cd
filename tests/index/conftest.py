"""Fixtures of these tests."""

from support.command_line import filled_folder, run, tables_folder
from support.news_index import library, records, stories, tables

__all__ = ["filled_folder", "library", "records", "run", "stories", "tables", "tables_folder"]
