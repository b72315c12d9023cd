"""Contracts with users, as golden files: they change on purpose alone, with `python -m contracts.write` in `tests`."""
