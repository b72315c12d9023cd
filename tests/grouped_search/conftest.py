"""Fixtures of these tests."""

from support.news_index import library, records, stories, tables

__all__ = ["library", "records", "stories", "tables"]
