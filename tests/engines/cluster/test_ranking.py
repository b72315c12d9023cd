"""What a ranking reads: the highest number of a write among what matched."""

from ibidem_engines.cluster.ranking import read_newest


def test_where_nothing_matched_nothing_is_let_in_later() -> None:
    assert read_newest({"aggregations": {"ibidem": {"value": None}}}) == -1
