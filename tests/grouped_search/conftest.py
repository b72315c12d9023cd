"""Fixtures of these tests."""

from support.news_index import library, records, stories, story_tables

__all__ = ["library", "records", "stories", "story_tables"]
