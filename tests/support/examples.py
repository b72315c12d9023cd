"""With how many examples a law is tried: with all, or with the share of them that `make test` or `make quick` takes.

A law says how many with `@settings(max_examples=examples(25))`, or says nothing, which is a hundred.
"""

from hypothesis import settings

ALL, FIRST, QUICK = 100, 20, 10
"""Examples of a law that says nothing, in all tiers, in the first and in a quick run; each may take its time."""

settings.register_profile("all", max_examples=ALL, deadline=None)
settings.register_profile("first", max_examples=FIRST, deadline=None)
settings.register_profile("quick", max_examples=QUICK, deadline=None)
settings.load_profile("all")


def examples(count: int) -> int:
    """Return how many of so many examples are tried under the profile of this run."""
    return max(1, count * settings.default.max_examples // ALL)
