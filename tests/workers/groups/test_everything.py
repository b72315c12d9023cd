"""Everything settled again: what is counted is what follows, by level, and the first lead of a group keeps it."""

import numpy as np

from ibidem_dedupe import evidence
from ibidem_dedupe.leader_clustering import Grouping
from ibidem_dedupe.overrides import Overrides
from ibidem_engines.ledger import POLICY
from ibidem_engines.stored_groups import GroupedDocument, Name
from ibidem_workers.groups.follower import count_joined, first_leads
from ibidem_workers.groups.settle import Rules, StoredColumns


def grouping(lead: list[int], kinds: list[str]) -> Grouping:
    codes = [evidence.TABLE.code(kind) if kind else 0 for kind in kinds]
    return Grouping(np.array(lead), np.array(codes, np.uint8), np.zeros(len(lead), bool))


def test_followers_are_counted_by_the_level_at_which_they_joined() -> None:
    found = grouping([0, 0, 0, 3, 3, 0], ["", "content", "minhash", "", "override", "termvector"])
    assert count_joined(found, Rules(POLICY, Overrides())) == {"identical": 1, "near": 3}


def test_of_two_leads_that_name_one_group_the_first_one_leads_it_and_one_without_a_group_leads_none() -> None:
    named = [("a", True), ("a", True), ("b", False), ("b", True), ("", True)]
    documents = [
        GroupedDocument(Name("news", str(at), at), b"", group, lead, (at, 0)) for at, (group, lead) in enumerate(named)
    ]
    with StoredColumns(len(documents)) as stored:
        stored.add(documents)
        assert first_leads(stored).tolist() == [True, False, False, True, False]
