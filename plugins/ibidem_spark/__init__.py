"""Settling of all groups on Apache Spark: the groups of the sequential pass, computed in rounds of joins by key."""
