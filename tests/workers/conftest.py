"""Fixtures of these tests."""

from support.worker_settings import absent, settings

__all__ = ["absent", "settings"]
