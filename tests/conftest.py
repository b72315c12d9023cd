"""What all tests may ask for."""

from servers.plugin import (
    elasticsearch,
    opensearch,
    pytest_collection_finish,
    pytest_configure,
    pytest_runtest_call,
    pytest_runtest_setup,
    pytest_runtest_teardown,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
    rabbitmq,
    redis,
)

__all__ = [
    "elasticsearch",
    "opensearch",
    "pytest_collection_finish",
    "pytest_configure",
    "pytest_runtest_call",
    "pytest_runtest_setup",
    "pytest_runtest_teardown",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
    "rabbitmq",
    "redis",
]
