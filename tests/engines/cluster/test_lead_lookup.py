"""Leads of several documents are looked up together."""

from ibidem_engines.cluster.lead_lookup import by_class
from ibidem_engines.stored_groups import LeadKeys, Several


def test_a_value_that_several_documents_have_is_asked_for_once() -> None:
    rare = Several(["x", "y"], 2, 1, 9)
    keys = [
        LeadKeys({"content": ["a"], "bands": ["1", "2"]}),
        LeadKeys({"bands": ["2", "3"]}, {"rare": rare}),
        LeadKeys({}, {"rare": rare}),
    ]
    assert by_class(keys) == {"content": ["a"], "bands": ["1", "2", "3"]}
    assert by_class([]) == {}
