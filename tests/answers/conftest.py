"""Fixtures of the answer corpus: the stories of the dedupe layer's tests."""

from support.news_index import records, stories, story_tables

__all__ = ["records", "stories", "story_tables"]
