"""All that a page shows is in its address."""

from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_gateway.page.state import LABELS, ORDERS, ListQuery, PageState
from ibidem_ingest.errors import UsageError

STATES = st.builds(
    PageState,
    q=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    dedupe=st.sampled_from(["off", "collapse", "indent"]),
    level=st.sampled_from(["", "identical", "partial"]),
    keep=st.sampled_from(["rank", "earliest", "source:AP,Reuters"]),
    days=st.sampled_from(["", "42"]),
    by=st.sampled_from(["", "window", "stored", "matches", "index"]),
    preset=st.sampled_from(["", "news"]),
    document=st.sampled_from(["", "meta.document:body"]),
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


def test_what_a_form_sends_with_nothing_chosen_counts_as_no_change() -> None:
    sent = {name: choices[0][0] for name, choices in LABELS.items() if name != "level"}
    state = ListQuery(q="rent", level="near", since="", until="", **sent).state()  # type: ignore[arg-type]
    assert (state.further(), state.address()) == (0, "/?q=rent")


def test_no_rule_of_a_paper_is_offered_to_readers() -> None:
    assert "conrad2003" not in dict(LABELS["preset"])
    assert ListQuery(q="rent", preset="conrad2003").state().request().preset == "conrad2003"


@pytest.mark.parametrize(
    ("since", "until", "date"),
    [
        ("3 March 1987", "June 1987", "1987-03-03..1987-06"),
        ("1987", "1987", "1987"),
        ("1987", "", "1987.."),
        ("", "31.12.1988", "..1988-12-31"),
        ("", "", ""),
    ],
)
def test_dates_are_read_as_people_write_them_and_shown_in_the_form_again(since: str, until: str, date: str) -> None:
    state = ListQuery(q="rent", since=since, until=until).state()
    assert state.date == date
    assert ListQuery(q="rent", since=state.since, until=state.until).state() == state


def test_a_date_that_may_be_either_of_two_days_is_refused() -> None:
    with pytest.raises(UsageError, match="two ways"):
        ListQuery(q="rent", since="3/4/1987").state()


def test_one_filter_is_cleared_and_the_others_stay() -> None:
    state = PageState(q="rent", source=("AP",), language=("de",), date="1987")
    assert [name for name, _ in state.chosen_filters()] == ["AP", "de", "1987"]
    assert state.chosen_filters()[2][1] == "/?q=rent&source=AP&language=de"


@pytest.mark.parametrize(
    ("within", "q", "both"), [("rent", "roof", "(rent) (roof)"), ("rent", "rent", "rent"), ("rent", "", "rent")]
)
def test_words_are_searched_within_the_results_of_others(within: str, q: str, both: str) -> None:
    assert ListQuery(q=q, within=within).state().q == both


def test_a_mode_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match="off, collapse, indent"):
        ListQuery(q="rent", dedupe="maybe").state()
