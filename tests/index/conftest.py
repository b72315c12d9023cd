"""Fixtures of these tests."""

from support.command_line import filled_folder, run
from support.news_index import library, records, stories, story_tables

__all__ = ["filled_folder", "library", "records", "run", "stories", "story_tables"]
