"""Fixtures of these tests."""

from support.news_index import library, news_window, records, stories, story_tables
from support.signing_loops import way_of_grouping

__all__ = ["library", "news_window", "records", "stories", "story_tables", "way_of_grouping"]
