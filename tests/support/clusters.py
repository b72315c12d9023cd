"""Engines that tests run over, each server with the mark that starts it."""

import pytest

CLUSTERS = tuple(pytest.param(name, marks=pytest.mark.server(name)) for name in ("opensearch", "elasticsearch"))
ENGINES = ("sqlite", *CLUSTERS)
"""Another engine joins by its name here and an address in the fixtures."""
