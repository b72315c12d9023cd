"""What a page shows is in its address: entries of the list, the text of a mail, the API as a page."""

from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from ibidem_dedupe.parameters import PARAMETERS
from ibidem_engines.query import Phrase
from ibidem_gateway.page.documents import shown_sections
from ibidem_gateway.page.entries import page_groups, web_address
from ibidem_gateway.page.state import LABELS, ORDERS, ListQuery, PageState
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from support.mail_thread import MAILS, RENT, WROTE, quote


def hit(id_: str, text: str, **mark: object) -> dict[str, object]:
    return {"_id": id_, "_source": {"text": text, "date": "1987", "source": "AP"}, "_dedupe": {"group": "g", **mark}}


def test_duplicates_are_under_their_lead_with_reason_and_difference() -> None:
    why = {"signature": "minhash", "shared": 73, "of": 100}
    hits = [hit("a", "rent rose", size=3, indent=0), hit("b", "rent fell", size=3, indent=1, level="near", why=why)]
    (group,) = page_groups({"hits": {"hits": hits}, "dedupe": {"mode": "indent"}}, 11)
    assert (group.number, group.hidden, group.opened, group.count_text) == (11, 1, True, "2 duplicates")
    (entry,) = group.duplicates
    assert (entry.level, entry.reason) == ("near", "about 84 % of the text shared")
    assert entry.lead_id == "a"
    assert [each.text for each in entry.differs if each.kind != "same"] == ["rose", "fell"]


@pytest.mark.parametrize(("mode", "budget"), [("indent", -1.0), ("collapse", 60.0)])
def test_differences_beyond_the_budget_and_of_closed_groups_are_read_when_a_group_is_opened(
    mode: str, budget: float
) -> None:
    inner = [hit("b", "the rent of York", indent=1, level="near"), hit("c", "a part", indent=1, level="partial")]
    lead = hit("a", "the rent of London", size=3, indent=0) | {"inner_hits": {"duplicates": {"hits": {"hits": inner}}}}
    (group,) = page_groups({"hits": {"hits": [lead]}, "dedupe": {"mode": mode}}, 1, budget)
    assert [each.differs for each in group.duplicates] == [None, []]


@pytest.mark.parametrize(
    "typed", ["javascript:alert(1)", " JavaScript:alert(1)", "data:text/html,<b>", "//example.org", "http://[", ""]
)
def test_only_addresses_of_the_web_become_links(typed: str) -> None:
    assert (web_address(typed), web_address(" https://example.org/a?b=c")) == ("", "https://example.org/a?b=c")


BY_ID = {each.id: each for each in MAILS}
QUESTION = [BY_ID["question"]]


def text(section: object) -> str:
    return "".join(piece.text for each in section.fragments for piece in each.pieces)  # type: ignore[attr-defined]


def test_a_faithful_quotation_is_folded_and_an_altered_one_is_open() -> None:
    for name, opened, altered in (("faithful", False, ""), ("altered", True, "altered in 1 place")):
        quotation = next(each for each in shown_sections(BY_ID[name], QUESTION, ()) if each.kind == "quoted")
        assert (quotation.opened, quotation.altered, quotation.lines) == (opened, altered, "3 lines")
        assert quotation.author == "Ann Landlord <ann@example.org>"


def test_a_quotation_with_a_match_is_open_and_matches_are_counted_through_the_text() -> None:
    mail = Document("a", f"The roof leaks.\n\n{WROTE}{quote(RENT)}And my roof, too.\n", meta={"type": "mail"})
    sections = shown_sections(mail, (), [Phrase("roof")])
    matches = [
        [piece.match for each in section.fragments for piece in each.pieces if piece.match] for section in sections
    ]
    assert [each.kind for each in sections] == ["new", "quoted", "new"]
    assert matches == [[1], [2], [3]]
    assert sections[1].opened


def test_no_word_of_a_mail_is_lost() -> None:
    for mail in MAILS:
        shown = "".join(text(each) for each in shown_sections(mail, QUESTION, ()))
        assert "".join(shown.split()) == "".join(mail.text.split())


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


@pytest.mark.parametrize("name", [name for name in LABELS if name != "size"])
def test_every_choice_that_is_offered_is_understood(name: str) -> None:
    for value, _ in LABELS[name]:
        state = ListQuery(q="rent", **{name: value}).state()  # type: ignore[arg-type]
        assert state.is_chosen(name, value)
        if (name, value) != ("level", "partial"):
            state.request()


def test_words_are_searched_within_the_results_of_others() -> None:
    typed = {q: ListQuery(q=q, within="rent").state().q for q in ("roof", "rent", "")}
    assert typed == {"roof": "(rent) (roof)", "rent": "rent", "": "rent"}
    with pytest.raises(UsageError, match="two ways"):
        ListQuery(q="rent", since="3/4/1987").state()


def test_every_question_and_every_dedupe_parameter_is_described(client: TestClient) -> None:
    page = client.get("/docs").text
    for path in client.get("/openapi.json").json()["paths"]:
        assert f"{path}</code>" in page
    for name in PARAMETERS:
        assert f"<code>{name}</code>" in page
    assert "GET, POST /{indexes}/_search" in page
