"""The query-time layer: groups a window of hits by their packed signatures and presents the groups."""
