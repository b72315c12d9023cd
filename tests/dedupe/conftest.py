"""Fixtures of these tests."""

from support.news_index import library, news_window, records, stories, tables

__all__ = ["library", "news_window", "records", "stories", "tables"]
