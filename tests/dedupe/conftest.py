"""Fixtures of these tests."""

from support.news_index import library, news_window, records, stories, story_tables
from support.signing_loops import need_compiled_loops

__all__ = ["library", "need_compiled_loops", "news_window", "records", "stories", "story_tables"]
