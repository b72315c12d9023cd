"""A tally begins with nothing and is nobody else's."""

from ibidem_ingest.readers.formats import Tally


def test_two_tallies_never_share_their_counts() -> None:
    one, other = Tally(), Tally()
    one.moved.update({"court"})
    assert (one.moved["court"], other.moved["court"]) == (1, 0)
