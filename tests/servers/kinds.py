"""Servers as parameters of tests: each marks the tests that need it."""

import pytest

CLUSTERS = [pytest.param(name, marks=pytest.mark.server(name)) for name in ("opensearch", "elasticsearch")]
ENGINES = ["sqlite", *CLUSTERS]  # another engine joins by its name here and an address in the fixtures
BROKERS = [pytest.param(name, marks=pytest.mark.server(name)) for name in ("rabbitmq", "redis")]
