"""What all tests may ask for."""

from servers.plugin import (
    elasticsearch,
    opensearch,
    pytest_collection_finish,
    pytest_sessionfinish,
    pytest_terminal_summary,
    rabbitmq,
    redis,
)

__all__ = [
    "elasticsearch",
    "opensearch",
    "pytest_collection_finish",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "rabbitmq",
    "redis",
]
