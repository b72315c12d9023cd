"""Searches in the engines' own language with the duplicates grouped, for clients of others and the gateway."""
