"""Backfill: sign what an index already holds, in place or into a copy that replaces it."""
