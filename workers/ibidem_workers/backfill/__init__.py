"""Signing what an index holds already: in its place, or into a copy that takes its place."""
