"""Fixtures of the answer corpus: the stories of the dedupe layer's tests."""

from support.news_index import records, stories, tables

__all__ = ["records", "stories", "tables"]
