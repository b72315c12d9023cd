"""Stored groups: the near-duplicate group of each document, settled by workers after it was written."""
