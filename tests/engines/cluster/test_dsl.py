"""A query of the command line becomes a request that means the same."""

from dataclasses import replace

import pytest

from ibidem_core.address import Fields
from ibidem_engines.cluster import dsl
from ibidem_engines.cluster.source import to_stored_document
from ibidem_engines.query import Filter, Phrase, Query, parse_query

OWN = Fields()
THEIRS = Fields(title="headline", text="body", source="paper", date="published", meta="")


def phrase(text: str) -> dict[str, object]:
    names = ["title^2", "text"]
    return {"multi_match": {"query": text, "type": "phrase", "fields": names, "tie_breaker": 1.0}}


def test_all_words_must_occur() -> None:
    assert dsl.clause(parse_query("grain export"), OWN) == {"bool": {"must": [phrase("grain"), phrase("export")]}}


def test_or_joins_and_minus_excludes() -> None:
    assert dsl.clause(parse_query('grain OR "export duty" -rice'), OWN) == {
        "bool": {
            "must": [{"bool": {"should": [phrase("grain"), phrase("export duty")], "minimum_should_match": 1}}],
            "must_not": [phrase("rice")],
        }
    }


def test_syntax_characters_are_words_of_the_analyser_and_nothing_else() -> None:
    typed = 'title:"x" AND (y*) ~2'
    texts = [each.text for entry in parse_query(typed).all_of for each in entry]
    clauses = dsl.clause(parse_query(typed), OWN)["bool"]["must"]
    assert [each["multi_match"]["query"] for each in clauses] == texts


def test_words_are_looked_for_where_the_index_has_them() -> None:
    (clause,) = dsl.clause(parse_query("grain"), THEIRS)["bool"]["must"]
    assert clause["multi_match"]["fields"] == ["headline^2", "body"]


def test_without_words_all_match() -> None:
    assert dsl.clause(Query(), OWN) == {"bool": {"must": [dsl.ALL]}}


def test_conditions_on_one_field_are_alternatives_and_on_two_are_not() -> None:
    conditions = (Filter("source", "Reuters"), Filter("source", "AP"), Filter("language", "en"))
    sources, language = dsl.filters(conditions, OWN)
    assert sources["bool"]["should"] == [{"term": {"source": "Reuters"}}, {"term": {"source": "AP"}}]
    assert language == {"term": {"language": "en"}}


def test_a_date_asks_for_a_day_in_common() -> None:
    (clause,) = dsl.filters((Filter("date", "1987-03..1987-04"),), OWN)
    assert clause["bool"]["filter"] == [
        {"range": {"ibidem.date": {"gte": "1987-03-01"}}},
        {"range": {"ibidem.date": {"lte": "1987-04-30"}}},
    ]


def test_an_open_date_has_one_bound() -> None:
    (clause,) = dsl.filters((Filter("date", "1987.."),), OWN)
    assert clause["bool"]["filter"] == [{"range": {"ibidem.date": {"gte": "1987-01-01"}}}]


def test_in_an_index_of_others_their_date_counts_where_nothing_is_signed() -> None:
    (clause,) = dsl.filters((Filter("date", "1987"),), THEIRS)
    _, unsigned = clause["bool"]["should"]
    assert unsigned["bool"]["must_not"] == {"exists": {"field": "ibidem.date"}}
    assert "published" in unsigned["bool"]["filter"][0]["range"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (OWN, {"term": {"ibidem.meta": "court=9th"}}),
        (
            THEIRS,
            {
                "bool": {
                    "should": [{"term": {"ibidem.meta": "court=9th"}}, {"term": {"court": "9th"}}],
                    "minimum_should_match": 1,
                }
            },
        ),
    ],
)
def test_a_condition_on_meta_asks_where_it_is_kept(fields: Fields, expected: dict[str, object]) -> None:
    assert dsl.filters((Filter("meta.court", "9th"),), fields) == [expected]


@pytest.mark.parametrize(
    ("field", "clause"),
    [
        ("meta.court", {"terms": {"ibidem.meta": ["court=a", "court=b"]}}),
        ("thread", {"terms": {"ibidem.thread": ["a", "b"]}}),
        ("id", {"ids": {"values": ["a", "b"]}}),
    ],
)
def test_several_values_of_a_field_are_one_clause(field: str, clause: dict[str, object]) -> None:
    assert dsl.filters((Filter(field, "a"), Filter(field, "b")), OWN) == [clause]


def test_several_values_on_meta_ask_where_they_are_kept() -> None:
    (clause,) = dsl.filters((Filter("meta.court", "a"), Filter("meta.court", "b")), THEIRS)
    assert clause["bool"]["should"] == [
        {"terms": {"ibidem.meta": ["court=a", "court=b"]}},
        {"terms": {"court": ["a", "b"]}},
    ]


def test_a_window_asks_for_packed_values_and_nothing_else() -> None:
    body = dsl.window(parse_query("grain"), OWN, 500)
    assert (body["size"], body["stored_fields"], body["docvalue_fields"]) == (500, "_none_", ["ibidem.packed"])
    assert body["track_total_hits"] is True
    assert not body.keys() & {"collapse", "_source", "highlight"}


def test_equal_scores_are_ordered_by_index_and_id() -> None:
    body = dsl.with_full_order(dsl.window(parse_query("grain"), OWN, 6), 5)
    assert body["size"] == 5
    assert [next(iter(each)) for each in body["sort"]] == [
        "_score",
        "_index",
        "ibidem.id",
    ]


def test_a_window_that_is_asked_once_more_brings_the_engines_ids() -> None:
    clause = dsl.with_ids(dsl.window(parse_query("grain"), OWN, 5))
    assert "stored_fields" not in clause
    assert clause["_source"] is False


def test_a_fetch_shows_documents_that_match() -> None:
    body = dsl.fetch([("news", "a"), ("news", "b")], parse_query("grain"), OWN, "max_analyzed_offset")
    assert body["query"]["bool"]["filter"] == [
        {"bool": {"filter": [{"term": {"_index": "news"}}, {"ids": {"values": ["a", "b"]}}]}}
    ]
    assert body["query"]["bool"]["must"] == [dsl.clause(parse_query("grain"), OWN)]
    assert (body["size"], body["highlight"]["max_analyzed_offset"]) == (2, dsl.ANALYSED)


def test_a_phrase_of_several_words_stays_one() -> None:
    query = Query(all_of=((Phrase("export duty"),),))
    assert dsl.clause(query, OWN) == {"bool": {"must": [phrase("export duty")]}}


STEMMED = replace(THEIRS, stemmed=("body.english",))


@pytest.mark.parametrize(
    ("typed", "is_looked_for"),
    [
        ("elections", True),
        ("text:elections", True),
        ("title:elections", False),
        ('"free elections"', False),
        ("elect*", False),
    ],
)
def test_a_word_is_looked_for_by_its_stem_where_the_index_has_stems(typed: str, *, is_looked_for: bool) -> None:
    (clause,) = dsl.clause(parse_query(typed), STEMMED)["bool"]["must"]
    assert ("body.english" in clause["multi_match"]["fields"]) == is_looked_for


def test_words_near_each_other_are_looked_for_in_title_and_text() -> None:
    (clause,) = dsl.clause(parse_query('"export duty"~5'), OWN)["bool"]["must"]
    title, text = (each["intervals"] for each in clause["bool"]["should"])
    assert (title["title"]["boost"], text["text"]["all_of"]["max_gaps"]) == (2.0, 5)


def test_a_passage_is_marked_by_stems_where_only_they_match() -> None:
    body = dsl.search_body(parse_query("elections"), STEMMED, 10, "max_analyzed_offset")
    assert {"headline", "body", "body.english"} == set(body["highlight"]["fields"])
    hit = {"_index": "i", "_id": "a", "_source": {"body": "They elect nobody."}}
    document = to_stored_document(hit | {"highlight": {"body.english": ["They elect nobody."]}}, STEMMED, None)
    assert list(document.snippets) == ["They elect nobody."]
