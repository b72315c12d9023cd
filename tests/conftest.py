"""Fixtures for all tests: servers, an empty index, and a small idf table."""

from servers.plugin import (
    elasticsearch,
    opensearch,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_runtest_call,
    pytest_runtest_setup,
    pytest_runtest_teardown,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
    pytest_xdist_make_scheduler,
    rabbitmq,
    redis,
)
from support import examples  # the profiles of hypothesis
from support.empty_index import absent, address, engine, sole_settler, tables, tables_folder

__all__ = [
    "absent",
    "address",
    "elasticsearch",
    "engine",
    "examples",
    "opensearch",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_runtest_call",
    "pytest_runtest_setup",
    "pytest_runtest_teardown",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
    "pytest_xdist_make_scheduler",
    "rabbitmq",
    "redis",
    "sole_settler",
    "tables",
    "tables_folder",
]

# By its name and not by its hooks, since those of this file are not called for fixtures of a whole run.
pytest_plugins = ("servers.starts",)
