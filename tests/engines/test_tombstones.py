"""A tombstone outlives the engine's own memory of a deletion."""
