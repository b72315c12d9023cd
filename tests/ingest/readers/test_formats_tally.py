"""A tally begins with nothing and is nobody else's."""

from ibidem_ingest.readers.formats import Tally


def test_two_tallies_never_share_their_counts() -> None:
    tally_a, tally_b = Tally(), Tally()
    tally_a.moved.update({"court"})
    assert (tally_a.moved["court"], tally_b.moved["court"]) == (1, 0)
