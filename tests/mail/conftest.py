"""Fixtures of these tests."""

from support.command_line import answer, filled_folder, run
from support.news_index import library, records, stories, story_tables
from support.wrapped_clients import address, kind

__all__ = ["address", "answer", "filled_folder", "kind", "library", "records", "run", "stories", "story_tables"]
