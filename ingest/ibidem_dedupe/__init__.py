"""Grouping of a window: candidates, pair rules and leader clustering on packed columns; no engine is asked."""
