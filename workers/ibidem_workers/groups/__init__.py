"""Stored groups: which near-duplicate group each document is in, settled by workers after it was written."""
