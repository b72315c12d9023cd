"""The cache of carriers makes no difference to the leads that are found."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.sqlite import lead_carriers
from ibidem_engines.sqlite.lead_carriers import LeadCarriers

KEYS = "abcdefgh"
VALUES = st.lists(st.sampled_from(KEYS), max_size=8, unique=True)
DOCUMENTS = st.lists(st.tuples(VALUES, st.booleans()), max_size=16)
LOOKUPS = st.lists(st.tuples(VALUES.filter(bool), st.integers(1, 5), st.integers(0, 16)), max_size=8)


class _Carried:
    """Answers look-ups as the file does, from the values of documents and whether each is a lead."""

    def __init__(self, documents: Sequence[tuple[Sequence[str], bool]]) -> None:
        self.documents = list(enumerate(documents, 1))
        self.rows = 0

    def run(self, statement: str, values: tuple[str, int, int, int]) -> SimpleNamespace:
        word, after, last, most = values
        places = [
            str(place)
            for place, (carrier_values, lead) in self.documents
            if word.strip('"') in carrier_values and after < place <= last and (lead or "lead" not in statement)
        ][:most]
        self.rows += len(places)
        return SimpleNamespace(fetchone=lambda: (",".join(places) or None,))


@pytest.fixture(scope="module", autouse=True)
def small_limits() -> Iterator[None]:
    """Little is read and kept at once."""
    with pytest.MonkeyPatch.context() as patch:
        for name, figure in {"LOOSE": 4, "MAX_LEADS": 6, "CACHE_SIZE": 40, "ENTRY_OVERHEAD": 2}.items():
            patch.setattr(lead_carriers, name, figure)
        yield


@given(DOCUMENTS, LOOKUPS)
def test_every_lead_that_carries_enough_values_is_found_whatever_was_looked_up_before(
    documents: list[tuple[list[str], bool]], lookups: list[tuple[list[str], int, int]]
) -> None:
    """A value with too many carriers gives no result without other values."""
    carriers = LeadCarriers(_Carried(documents))  # type: ignore[arg-type]
    for values, least, last in lookups:
        places = carriers.until(last).find_shared(values, least)
        shared = {
            place: len(set(carrier_values) & set(values))
            for place, (carrier_values, _) in enumerate(documents[:last], 1)
        }
        leads = {place for place, times in shared.items() if times >= least and documents[place - 1][1]}
        assert places is None or leads <= set(places.tolist())


@given(DOCUMENTS, VALUES.filter(bool), st.integers(1, 5))
def test_nothing_is_found_that_carries_fewer_values_where_all_carriers_are_read(
    documents: list[tuple[list[str], bool]], values: list[str], least: int
) -> None:
    documents = documents[: lead_carriers.MAX_LEADS - 1]
    places = LeadCarriers(_Carried(documents)).until(99).find_shared(values, least)  # type: ignore[arg-type]
    assert places is not None
    assert all(len(set(documents[place - 1][0]) & set(values)) >= least for place in places.tolist())


def test_what_was_read_of_a_value_is_not_read_again_for_later_places() -> None:
    file = _Carried([(["a"], True)] * 3)
    carriers = LeadCarriers(file)  # type: ignore[arg-type]
    for last in (1, 2, 3, 3):
        assert carriers.until(last).find_shared(["a"], 1).tolist() == list(range(1, last + 1))  # type: ignore[union-attr]
    assert file.rows == 3


def test_an_index_that_begins_again_is_read_again() -> None:
    file = _Carried([(["a"], True), (["a"], True)])
    carriers = LeadCarriers(file)  # type: ignore[arg-type]
    carriers.until(2).find_shared(["a"], 1)
    file.documents = [(1, (["b"], True))]
    assert carriers.until(1).find_shared(["a"], 1).tolist() == []  # type: ignore[union-attr]
