"""The engine in memory keeps the contract of every engine, as far as the simulation asks it."""

import pytest

from engines import test_contract, test_stored_groups
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import StoredGroups
from simulation.memory_cluster import MemoryCluster
from simulation.memory_engine import opened

# The contract as it is, but for what opens an index by an address.
TestWrite = test_contract.TestWrite
TestOrigin = test_contract.TestOrigin
TestDelete = test_contract.TestDelete
TestScan = test_contract.TestScan
TestLeads = test_stored_groups.TestLeads
TestCarriers = test_stored_groups.TestCarriers
TestAssign = test_stored_groups.TestAssign
TestMembers = test_stored_groups.TestMembers
TestCounts = test_stored_groups.TestCounts


@pytest.fixture
def absent() -> Engine:
    return opened(MemoryCluster(), "news")


@pytest.fixture
def groups(engine: Engine) -> StoredGroups:
    return engine.groups()  # type: ignore[attr-defined, no-any-return]


class TestLedgers(test_contract.TestLedgers):
    """Records next to the index."""

    test_ledgers_and_indexes_are_apart = None  # it opens an index by an address


def test_the_number_of_deletions_changes_with_each(engine: Engine, groups: StoredGroups) -> None:
    law = test_stored_groups.test_a_deletion_is_noticed_though_the_server_counts_deletions_from_the_beginning_again
    law("sqlite:", engine, groups)
