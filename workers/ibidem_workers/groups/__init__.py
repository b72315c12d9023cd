"""Stored groups: the near-duplicate group of each document, settled by workers after the document is written."""
