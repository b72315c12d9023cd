"""Stored groups of all matches: every page by its number or the cursor, on every engine."""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.grouped_search.api import search_index
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_engines.query import parse_query
from ibidem_engines.stored_groups import Assignment, FacetCount
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_workers.groups.follower import Follower
from servers.indices import remove_indices
from servers.kinds import ENGINES
from support.examples import examples
from support.signed_records import make_record

INDEX = f"stored-{os.getpid()}"  # another in each session, since servers may be shared

Json = dict[str, Any]
unhurried = settings(
    max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module", params=ENGINES)
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('stored')}/index.sqlite"
    return str(request.getfixturevalue(request.param))


def clear(address: str, index: str) -> None:
    if not address.startswith("sqlite"):
        remove_indices(address, index)


def filled(address: str, records: list[Record], index: str = INDEX) -> Engine:
    clear(address, index)
    engine = open_engine(address, index)
    engine.create()
    engine.write(records)
    return engine


@pytest.fixture(scope="module")
def library(address: str, records: list[Record]) -> Iterator[Engine]:
    """An index whose groups are settled; its last document has no words."""
    engine = filled(address, [*records, make_record("empty", "")])
    Follower(engine, size=50).catch_up()
    engine.refresh()
    yield engine
    engine.close()
    clear(address, INDEX)


@pytest.fixture(scope="module")
def words(stories: list[Document]) -> list[str]:
    return sorted({word for story in stories[:20] for word in story.text.split()})


def make_request(mode: str = "indent", **arguments: object) -> Any:
    return parse_request({"dedupe": mode, "dedupe_by": "stored"} | {f"dedupe_{k}": v for k, v in arguments.items()})


def pages(
    engine: Engine, words: str, size: int, *, cursor: bool = True, mode: str = "indent", **arguments: object
) -> Any:
    responses, page, following = [], 1, None
    query = parse_query(words)
    while True:
        request = make_request(mode, cursor=following, **arguments)
        response = search_index(engine, query, request, page, size)
        if not response["hits"]["hits"]:
            return responses
        responses.append(response)
        page, following = page + 1, response["dedupe"]["cursor"] if cursor else None


def list_hits(response: Json) -> list[Json]:
    """All hits of a page, those inside leads too."""
    return [
        each
        for hit in response["hits"]["hits"]
        for each in (hit, *hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ()))
    ]


def ranked(engine: Engine, words: str) -> list[str]:
    """The ids of the engine's own list."""
    return [hit.id for hit in engine.search(parse_query(words), 1_000).hits]


def read_groups(engine: Engine) -> dict[str, str]:
    """The stored group of each document."""
    ids = [(hit.index, hit.id) for members in engine.scan() for hit in members]
    return {each.name.id: each.group for each in engine.groups().read(ids)}


@pytest.mark.slow
@unhurried
@given(data=st.data(), size=st.sampled_from([1, 3, 10, 60]), mode=st.sampled_from(["indent", "collapse"]))
def test_all_pages_together_hold_each_match_once_and_the_account_adds_up(
    library: Engine, words: list[str], data: st.DataObject, size: int, mode: str
) -> None:
    asked_words = " OR ".join(data.draw(st.lists(st.sampled_from(["said", *words]), min_size=1, max_size=4)))
    match_ids = ranked(library, asked_words)
    responses = pages(library, asked_words, size, cursor=data.draw(st.booleans()), mode=mode, max_per_group=100)
    ids = [hit["_id"] for response in responses for hit in list_hits(response)]
    assert sorted(ids) == sorted(match_ids)
    groups = [hit["_dedupe"]["group"] for response in responses for hit in response["hits"]["hits"]]
    for response in responses:
        account = response["dedupe"]
        assert account["documents"]["matched"] == len(match_ids) == response["hits"]["total"]["value"]
        assert account["groups"]["matching"] == len(set(groups))
        assert account["groups"]["exact"] is True
        assert account["duplicates"] == len(match_ids) - len(set(groups))


def test_groups_are_where_their_best_document_is_and_hold_those_of_their_name(library: Engine) -> None:
    groups_by_id = read_groups(library)
    expected: defaultdict[str, list[str]] = defaultdict(list)
    for name in ranked(library, "said"):
        expected[groups_by_id[name]].append(name)
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for response in pages(library, "said", 7):
        for hit in response["hits"]["hits"]:
            ids[hit["_dedupe"]["group"]].append(hit["_id"])
    assert list(ids.items()) == list(expected.items())
    assert any(len(members) > 2 for members in expected.values())


@pytest.fixture
def empty_index(address: str) -> Iterator[Any]:
    engines: list[Engine] = []

    def make(*records: Record, settle: bool = True) -> Engine:
        engines.append(filled(address, list(records), f"{INDEX}-more"))
        if settle:
            Follower(engines[-1]).catch_up()
        engines[-1].refresh()
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()
    if not address.startswith("sqlite"):
        remove_indices(address, f"{INDEX}-more")
    else:
        (path := Path(address.removeprefix("sqlite:///"))).unlink(missing_ok=True)
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)


def put(engine: Engine, **changes: tuple[str, bool]) -> None:
    """Store documents in groups of these names."""
    store = engine.groups()
    store.newest()
    read = {each.name.id: each for each in store.read([(engine.index, name) for name in changes])}
    store.assign([Assignment(read[name], group, lead=lead) for name, (group, lead) in changes.items()])
    engine.refresh()


TEXT = " ".join(f"word{number}" for number in range(60))
NOT_THERE = "would not pass against shown alone; the lead of its group is not among the results"
APART = " ".join(f"word{number}" if number < 28 else f"else{number}" for number in range(60))


@pytest.fixture
def led_from_afar(empty_index: Any) -> Engine:
    """An index with a group whose lead alone resembles both others."""
    engine: Engine = empty_index(
        make_record("lead", f"{TEXT} leading grain", source="secret"),
        make_record("shown", f"{TEXT} grain grain grain", source="public"),
        make_record("apart", f"{APART} grain", source="public"),
        settle=False,
    )
    put(engine, shown=("lead-group", False), apart=("lead-group", False), lead=("lead-group", True))
    return engine


def test_a_document_that_only_the_group_joins_says_through_which_lead(led_from_afar: Engine) -> None:
    response = search_index(led_from_afar, parse_query("grain"), make_request(explain=True))
    (mark,) = (hit["_dedupe"] for hit in response["hits"]["hits"] if hit["_id"] == "apart")
    assert (mark["through"], mark["group"]) == ("lead", "lead-group")
    assert mark["notes"] == ["would not pass against shown alone"]


@pytest.mark.parametrize("condition", ["source:public", "NOT source:secret"])
def test_a_lead_that_a_condition_excludes_is_named_nowhere(led_from_afar: Engine, condition: str) -> None:
    response = search_index(led_from_afar, parse_query(f"grain {condition}"), make_request(explain=True))
    first, second = (hit["_dedupe"] for hit in response["hits"]["hits"])
    assert first["group"] == second["group"] == "lead-group"
    assert (second["of"], second["why"], second["notes"]) == (None, None, [NOT_THERE])
    assert "through" not in second


@pytest.mark.parametrize("condition", ["source:public", "NOT source:secret"])
def test_the_whole_index_means_what_the_conditions_of_a_search_let_in(empty_index: Any, condition: str) -> None:
    engine = empty_index(
        make_record("hidden", TEXT, source="secret"),
        make_record("shown", f"{TEXT} grain", source="public"),
        make_record("further", f"{TEXT} form", source="public"),
    )
    request = parse_request({"dedupe": "indent", "dedupe_scope": "index"})
    hits = search_index(engine, parse_query(f"grain {condition}"), request)["hits"]["hits"]
    assert [hit["_id"] for hit in hits] == ["shown", "further"]


def test_keep_chooses_among_all_documents_of_the_group_and_moves_none(empty_index: Any) -> None:
    engine = empty_index(
        *(make_record(f"copy{at}", f"{TEXT} grain", date=f"1990-01-{9 - at:02}", source="AP") for at in range(5)),
        make_record("wire", f"{TEXT} grain", date="1999-01-01", source="Reuters"),
    )
    by_keep = {
        keep: search_index(engine, parse_query("grain"), make_request(keep=keep, max_per_group=1))["hits"]["hits"]
        for keep in ("rank", "earliest", "latest", "source:Reuters,AP")
    }
    assert {keep: hits[0]["_id"] for keep, hits in by_keep.items()} == {
        "rank": "copy0",
        "earliest": "copy4",
        "latest": "wire",
        "source:Reuters,AP": "wire",
    }
    for hits in by_keep.values():
        assert [hit["_dedupe"]["size"] for hit in hits] == [6, 6]
        assert hits[0]["_dedupe"]["hidden"] == 4


@pytest.mark.slow
def test_a_text_with_very_many_copies_is_counted_and_shown_in_part(empty_index: Any) -> None:
    engine = empty_index(
        *(make_record(f"copy{at:04}", f"{TEXT} grain") for at in range(1_200)),
        *(make_record(f"single{at}", f"grain number{at} stands alone here {at}") for at in range(3)),
    )
    response = search_index(engine, parse_query("grain"), make_request(max_per_group=3), size=10)
    account = response["dedupe"]
    assert account["documents"] == {"matched": 1_203, "in_window": 1_203, "beyond_window": 0, "on_page": 7}
    assert account["groups"] == {"matching": 4, "in_window": 4, "on_page": 4, "exact": True, "counted": True}
    (lead,) = (mark for hit in list_hits(response) if (mark := hit["_dedupe"])["size"] == 1_200 and not mark["indent"])
    assert (lead["shown"], lead["hidden"]) == (4, 1_196)
    answer = search_index(engine, parse_query("grain"), make_request(), size=10)
    assert len(answer["hits"]["hits"]) == 1_203


def test_what_is_not_settled_is_alone_and_is_counted(empty_index: Any) -> None:
    engine = empty_index(make_record("a", f"{TEXT} grain"), make_record("b", f"{TEXT} grain"))
    engine.write([make_record("c", f"{TEXT} grain"), make_record("d", f"{TEXT} grain")])
    engine.refresh()
    account = search_index(engine, parse_query("grain"), make_request())["dedupe"]
    assert account["groups"]["matching"] == 3
    assert account["index"]["unsettled"] == 2
    assert account["remedy"] == "settle groups with: ibidem regroup"
    Follower(engine).catch_up()
    engine.refresh()
    account = search_index(engine, parse_query("grain"), make_request())["dedupe"]
    assert (account["groups"]["matching"], account["index"]["unsettled"]) == (1, 0)
    assert "remedy" not in account


def test_facets_count_documents_and_groups_of_all_matches(library: Engine, stories: list[Document]) -> None:
    query, groups_by_id, match_ids = parse_query("said"), read_groups(library), set(ranked(library, "said"))
    facets = library.facets(query, 10)
    for value in ("AP", "Reuters"):
        ids_there = [each.id for each in stories if each.source == value and each.id in match_ids]
        expected = FacetCount(value, len(ids_there), len({groups_by_id[name] for name in ids_there}))
        assert expected in facets.sources
    years = {each.date[:4] for each in stories if each.date and each.id in match_ids}
    assert [each.value for each in facets.years] == sorted(years, reverse=True)
    assert sum(each.documents for each in facets.years) == sum(each.id in match_ids for each in stories if each.date)


def test_a_preset_other_than_the_stored_one_is_refused(library: Engine) -> None:
    with pytest.raises(UsageError, match=r"dedupe_preset=law.*groups are stored with different figures"):
        search_index(library, parse_query("said"), make_request(preset="law"))
