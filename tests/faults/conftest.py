"""Servers that the tests of faults may kill."""

from collections.abc import Iterator

import pytest

from faults.environment import Own


@pytest.fixture(scope="session")
def resources() -> Iterator[Own]:
    with Own() as resources:
        yield resources
