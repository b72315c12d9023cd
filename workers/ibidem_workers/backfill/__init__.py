"""Backfill: sign the documents of an existing index, in place or into a copy that replaces it."""
