"""Grouping of a window: candidates, pair rules and leader clustering on packed columns, without access to an engine."""
