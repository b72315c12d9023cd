"""The pages, as they are asked for; what a page shows is in its address."""

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import parse_qs, quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from gateway.conftest import HERE, Serve
from ibidem_dedupe.parameters import PARAMETERS
from ibidem_engines.engine import Engine
from ibidem_gateway.page.documents import shown_sections
from ibidem_gateway.page.entries import page_groups, web_address
from ibidem_gateway.page.state import LABELS, ORDERS, STATIC, ListQuery, PageState
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import records
from ibidem_workers.groups.follower import Follower
from support.leases import LEASE
from support.mail_thread import MAILS
from support.passages import cut_lease
from support.some import some

PAGE = {"accept": "text/html,application/xhtml+xml"}
Read = Callable[[str], str]


@pytest.fixture
def read(client: TestClient) -> Read:
    def read(address: str, status: int = 200) -> str:
        answer = client.get(address, headers=PAGE)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        return answer.text

    return read


def places(page: str) -> list[str]:
    return re.findall(r'<bdi class="id">([^<]+)</bdi>', page)


def count_of_page(page: str, name: str) -> str:
    """Return what a facet says of one of its values."""
    match = some(re.search(rf"<bdi>{name}</bdi></a> <span class=\"count\">(.*?)</span></span>", page))
    return re.sub("<[^>]+>", "", match[1])


def test_a_browser_gets_the_page_and_a_client_what_the_engine_says(client: TestClient, read: Read) -> None:
    assert "5 documents" in read("/")
    assert client.get("/", headers={"accept": "*/*"}).json()["name"] == "ibidem"


@pytest.fixture
def crowd(index: Engine, tables: Tables) -> int:
    """Add so many copies of the lease."""
    copies = [Document(f"copy-{number:03}", LEASE, version=1) for number in range(250)]
    index.write(list(records(copies, tables)))
    return len(copies)


@pytest.mark.slow
def test_of_a_large_group_three_duplicates_are_shown_and_all_are_a_few_steps_away(crowd: int, read: Read) -> None:
    page = read("/?q=London&dedupe=indent&level=identical")
    assert page.count('<li class="duplicate">') == 3
    place_names, steps, total = set(places(page)), 0, crowd + 1
    label = f"Show all {total}"
    while link := re.search(r'<a class="rest" href="([^"]+)">([^<]+)<', page):
        assert link[2].startswith(label)
        page = read(unescape(link[1]))
        assert 0 < page.count('<li class="duplicate">') <= 100
        place_names |= set(places(page))
        steps += 1
        label = f"Show more: {3 + 100 * steps} of {total} are shown"
    assert (len(place_names), steps) == (crowd + 2, 3)


def test_collapsed_groups_are_closed_and_still_hold_their_duplicates(read: Read) -> None:
    opened = read("/?q=drains")
    assert '<details class="copies" id="c1" open>\n          <summary>2 duplicates' in opened
    assert "the same words in the same order, 1 day apart" in opened
    assert re.findall(r"</span>(\w+)</(?:del|ins)>", opened) == ["London", "York"]
    page = read("/?q=drains&dedupe=collapse")
    assert '<details class="copies" id="c1">' in page
    assert len(places(page)) == 3
    assert 'class="copies"' not in read("/?q=drains&dedupe=off")


def test_sources_and_years_are_counted_in_documents_and_groups_and_narrow_the_list(read: Read) -> None:
    page = read("/?q=rent")
    assert count_of_page(page, "Chambers") == "2 documents in 1 group"
    assert "without source" in page
    assert count_of_page(page, "2001") == "2 documents in 1 group"
    assert count_of_page(page, "en") == "5 documents in 3 groups"
    narrowed = some(re.search(r'href="([^"]+)"><bdi>Registry</bdi>', page))
    assert places(read(unescape(narrowed[1]))) == ["copy"]
    assert places(read("/?q=rent&date=2001-05-02")) == ["copy"]


def test_the_copies_of_a_document_are_shown_by_date_and_each_can_be_compared(read: Read) -> None:
    page = read("/ibidem/page/inspect?id=lease")
    assert places(page) == ["copy", "draft"]
    assert page.count("<circle") == 2
    assert 'href="/ibidem/page/compare?a=lease&amp;b=draft"' in page.replace("?&amp;", "?")
    assert places(read("/ibidem/page/inspect?id=lease&level=identical")) == ["copy"]


def test_two_documents_are_side_by_side_as_a_redline(read: Read) -> None:
    page = read("/ibidem/page/compare?a=lease&b=draft")
    assert "removed: </span>London</del>" in page
    assert "added: </span>York</ins>" in page
    assert '<a href="#d1">1 difference</a>' in page
    assert 'id="d1"' in page
    assert '<a class="title" href="/ibidem/page/document?' in page
    assert "form" not in page.partition("words")[2]
    assert "No word differs" in read("/ibidem/page/compare?a=lease&b=copy")


@pytest.mark.slow
def test_a_manual_decision_is_shown_by_titles_that_lead_to_the_documents_and_taken_back_where_it_is_listed(
    serve: Serve,
) -> None:
    client = serve(gateway_overrides=True)
    word = {"a": "lease", "b": "draft", "verdict": "not", "reason": "York", "author": "Ada"}
    answer = client.post("/ibidem/page/overrides", data=word, headers=PAGE)
    assert (answer.status_code, answer.history[0].status_code) == (200, 303)
    assert "Marked as not duplicates by <bdi>Ada</bdi>" in answer.text
    page = client.get("/ibidem/page/overrides", headers=PAGE).text
    assert '<a class="title" href="/ibidem/page/document?id=draft"><bdi>Lease' in page
    assert "York" in page
    assert "draft" not in places(client.get("/ibidem/page/inspect?id=lease", headers=PAGE).text)
    undone = word | {"verdict": "none", "page": "overrides"}
    answer = client.post("/ibidem/page/overrides", data=undone, headers=PAGE)
    assert answer.history[0].headers["location"].startswith("/ibidem/page/overrides?said=none")
    assert "Decision undone: <bdi>Lease" in answer.text
    assert "No manual decisions yet" in answer.text
    assert "Marked as" not in client.get("/?q=rent&said=same&about=lease&about=nosuch", headers=PAGE).text


def test_a_decision_made_in_a_list_leads_back_to_it_and_nowhere_else(serve: Serve) -> None:
    client = serve(gateway_overrides=True)
    page = client.get("/?q=drains&size=25", headers=PAGE).text
    assert page.count('value="not"') == 2
    word = {"a": "lease", "b": "draft", "verdict": "not", "list": "q=drains&size=25", "place": "g1"}
    answer = client.post("/ibidem/page/overrides", data=word, headers=PAGE)
    assert answer.history[0].headers["location"] == "/?q=drains&size=25&said=not&about=lease&about=draft#g1"
    assert answer.text.count('<li class="duplicate">') == 1
    assert "Marked as not duplicates: <bdi>Lease" in answer.text
    undone = client.post("/ibidem/page/overrides", data=word | {"verdict": "none"}, headers=PAGE).text
    assert undone.count('<li class="duplicate">') == 2
    away = client.post("/ibidem/page/overrides", data=word | {"list": "//evil.example/?q=a"}, headers=PAGE)
    assert away.status_code == 400


def test_a_document_of_a_list_has_the_querys_words_marked_and_the_way_back(read: Read) -> None:
    page = read("/ibidem/page/document?q=roof+drains&id=copy")
    assert re.findall(r"<mark[^>]*>([^<]+)</mark>", page) == ["ROOF", "DRAINS"]
    assert "Go to the first of 2 matches" in page
    assert 'href="/?q=roof+drains"' in page
    assert "<mark" not in read("/ibidem/page/document?id=copy")


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_no_error_shows_where_the_engine_is(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ibidem_gateway.upstream.ENGINE_TIMEOUT_S", 2.0)
    away = serve(engine="opensearch+http://127.0.0.1:9")
    for address in ("/", "/?q=rent", "/ibidem/page/document?id=lease", "/ibidem/page/overrides"):
        answer = away.get(address, headers=PAGE)
        assert answer.status_code in {503, 504}
        assert not re.search(r"127\.0\.0\.1|:9\b|opensearch\+", answer.text)


def test_a_word_sent_from_another_site_or_without_leave_is_refused(serve: Serve, client: TestClient) -> None:
    word = {"a": "lease", "b": "draft", "verdict": "not"}
    foreign = serve(gateway_overrides=True).post(
        "/ibidem/page/overrides",
        data=word,
        headers=PAGE | {"origin": "http://evil.example", "sec-fetch-site": "cross-site"},
    )
    assert foreign.status_code == 403
    assert client.post("/ibidem/page/overrides", data=word, headers=PAGE).status_code == 403
    assert serve(gateway_overrides=True).post("/ibidem/page/overrides", data={"a": "lease"}).status_code == 400


@pytest.mark.parametrize(
    ("address", "status", "message"),
    [
        ("/?q=rent&dedupe=maybe", 400, "off, collapse, indent"),
        ("/?q=rent&level=nearly", 400, "identical, near"),
        ("/?q=rent&colour=red", 400, "colour"),
        ("/?q=-rent", 400, "must occur"),
        ("/?q=rent&page=0", 400, "page"),
        ("/?q=rent&said=maybe", 400, "said"),
        ("/ibidem/page/group?q=London&group=nosuch", 404, "nosuch"),
        ("/ibidem/page/document?id=nosuch", 404, "nosuch"),
        ("/ibidem/page/inspect?id=nosuch", 404, "nosuch"),
        ("/ibidem/page/nothing", 404, "nothing"),
        ("/ibidem/page/static/x/secrets", 404, "secrets"),
    ],
)
def test_what_goes_wrong_is_a_page_that_says_what_would_be_right(
    client: TestClient, address: str, status: int, message: str
) -> None:
    answer = client.get(address, headers=PAGE)
    assert answer.status_code == status
    assert 'role="alert"' in answer.text
    assert message in unescape(answer.text)


def test_an_index_that_is_not_there_yet_says_how_to_make_one(serve: Serve) -> None:
    client = serve(index="another")
    assert "ibidem ingest PATH" in client.get("/", headers=PAGE).text
    answer = client.get("/?q=rent", headers=PAGE)
    assert (answer.status_code, "ibidem ingest" in answer.text) == (404, True)


def test_hostile_documents_stay_inert(serve: Serve, index: Engine, tables: Tables) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
    document = Document(
        f"id{evil}", f"drains {evil} " * 30, title=evil, source=evil, url="javascript:alert(1)", version=1
    )
    index.write(list(records([document], tables)))
    client = serve()
    name = quote(document.id, safe="")
    for address in (
        "/?q=drains",
        f"/?q={name}",
        f"/?q=drains&source={name}",
        f"/ibidem/page/document?id={name}",
        f"/ibidem/page/inspect?id={name}",
        f"/ibidem/page/compare?a=lease&b={name}",
        f"/ibidem/page/document?id={name}x",
    ):
        page = client.get(address, headers=PAGE).text
        assert "<script>" not in page
        assert "<img" not in page
        assert "javascript:" not in page


def test_files_are_kept_for_long_and_every_page_is_light(client: TestClient, read: Read) -> None:
    page = read("/?q=zzz")
    weight = len(page)
    for name in re.findall(r'(?:href|src)="(/ibidem/page/static/[^"]+)"', page):
        answer = client.get(name)
        assert "immutable" in answer.headers["cache-control"]
        weight += len(answer.content)
    assert weight < 60_000
    assert set(STATIC) >= {"page.css", "page.js"}
    assert not re.search(r'(?:src|href)="https?:', page)
    assert HERE not in page


def test_a_list_of_passages_shows_the_neighbours_of_each_below_it(index: Engine, client: TestClient) -> None:
    index.write(cut_lease())
    page = client.get("/?q=w24+OR+w45&document=meta.document", headers=PAGE).text
    assert "follows it in the same document, 6 words overlap" in page
    assert 'name="document" type="text" size="14" value="meta.document"' in page
    search = "/ibidem/search?q=w24+OR+w45&dedupe_document=meta.document&dedupe=collapse"
    for keep, lead in {"latest": "copy of best", "earliest": "best", "longest": "best", "rank": "best"}.items():
        (best, _) = client.get(f"{search}&dedupe_keep={keep}").json()["hits"]["hits"]
        assert best["_id"] == lead
    members = best["inner_hits"]["duplicates"]["hits"]["hits"]
    assert {each["_id"]: each["_dedupe"].get("side") for each in members} == {"copy of best": None, "next": "after"}


def test_a_difference_is_read_for_a_group_that_is_opened(read: Read) -> None:
    assert "York</ins>" in read("/ibidem/page/differs?a=lease&b=draft")
    assert '<p class="differs"' not in read("/ibidem/page/differs?a=lease&b=copy")


@pytest.fixture
def settled(index: Engine) -> None:
    """The groups of the leases are stored."""
    Follower(index).catch_up()


@pytest.mark.slow
def test_groups_are_shown_as_stored_where_they_are_settled_and_nothing_else_is_asked(settled: None, read: Read) -> None:
    counted = "Numbers of documents and groups in all results"
    shown = [read(f"/?q=rent&size=1&page={number}") for number in (1, 2)]
    assert all("5 documents in 3 groups; " in page and counted in page for page in shown)
    assert [re.findall(r'class="groups" start="(\d)"', page) for page in shown] == [["1"], ["2"]]
    assert not set(places(shown[0])) & set(places(shown[1]))
    assert "Next page" in shown[0]
    for other in ("level=identical", "preset=law", "by=window", "by=index", "similarity=50"):
        assert counted not in read(f"/?q=rent&{other}")


def hit(id_: str, text: str, **mark: object) -> dict[str, object]:
    return {"_id": id_, "_source": {"text": text, "date": "1987", "source": "AP"}, "_dedupe": {"group": "g", **mark}}


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
    source=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True, max_size=3),
    language=st.sampled_from([[], ["de"], ["de", "fr"]]),
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
