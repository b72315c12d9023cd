"""All that a page shows is in its address."""

from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.gateway.page.state import LABELS, ORDERS, ListQuery, PageState
from ibidem_ingest.errors import UsageError

STATES = st.builds(
    PageState,
    q=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    dedupe=st.sampled_from(["off", "collapse", "indent"]),
    level=st.sampled_from(["", "identical", "near"]),
    keep=st.sampled_from(["rank", "earliest", "source:AP,Reuters"]),
    days=st.sampled_from(["", "42"]),
    scope=st.sampled_from(["window", "matches", "index"]),
    preset=st.sampled_from(["", "news"]),
    source=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True, max_size=3).map(tuple),
    language=st.sampled_from([(), ("de",), ("de", "fr")]),
    date=st.sampled_from(["", "1987", "1987-03..1987-06"]),
    sort=st.sampled_from(ORDERS),
    page=st.integers(1, 50),
    size=st.integers(1, 100),
)


@given(STATES)
def test_an_address_that_is_sent_to_a_colleague_shows_the_same(state: PageState) -> None:
    parameters = parse_qs(state.address(page=state.page).partition("?")[2], keep_blank_values=True)
    read = ListQuery(
        **{name: values if name in {"source", "language"} else values[0] for name, values in parameters.items()}
    )  # type: ignore[arg-type]
    assert read.state() == state


def test_a_changed_choice_goes_back_to_the_first_page() -> None:
    assert PageState(q="rent", page=7).address(level="identical") == "/?q=rent&level=identical"


def test_a_facets_value_is_added_and_taken_away() -> None:
    state = PageState(q="rent", source=("AP",), language=("de",))
    assert state.toggle("source", "Reuters") == "/?q=rent&source=AP&source=Reuters&language=de"
    assert state.toggle("language", "de") == "/?q=rent&source=AP"


@pytest.mark.parametrize("name", [name for name in LABELS if name != "size"])
def test_every_choice_that_is_offered_is_understood(name: str) -> None:
    for value, _ in LABELS[name]:
        state = ListQuery(q="rent", **{name: value}).state()  # type: ignore[arg-type]
        assert state.is_chosen(name, value)
        if (name, value) != ("level", "partial"):
            state.request()


def test_a_mode_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match="off, collapse, indent"):
        ListQuery(q="rent", dedupe="maybe").state()
