"""Fixtures of these tests."""

from support.news_index import stories, tables

__all__ = ["stories", "tables"]
