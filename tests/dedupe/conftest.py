"""Fixtures of these tests."""

from support.news_index import library, records, stories, tables, told

__all__ = ["library", "records", "stories", "tables", "told"]
