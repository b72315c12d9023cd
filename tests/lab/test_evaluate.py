"""Duplicates that are found, against labels."""

from pathlib import Path

import pytest

from ibidem_dedupe.policy import Policy
from ibidem_engines.query import Filter
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_lab.evaluate import Labels, evaluate, filter_documents, matches_filter

TEXT = "the quick brown fox jumps over the lazy dog and runs far away into the dark wood"
DOCS = [
    Document("a", TEXT, source="AP", meta={"kind": "story", "topics": ["fox", "dog"]}),
    Document("b", TEXT.upper(), source="AP", meta={"kind": "story"}),
    Document("c", f"{TEXT} again", meta={"kind": "brief"}),
    Document("d", "something quite different was said by nobody at all on that long day", source="AP"),
]


@pytest.fixture
def clusters(tmp_path: Path) -> Labels:
    path = tmp_path / "clusters.tsv"
    path.write_text("id\tcluster\na\t1\nb\t1\nc\t1\nd\t2\nz\t2\n")
    return Labels(path)


def test_pairs_groups_and_sets_are_measured(clusters: Labels, tables: Tables) -> None:
    report = evaluate(DOCS, clusters, tables).as_json()
    assert report["documents"] == 4
    assert report["pairs"] == {"true": 3, "found": 3, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert (report["ari"], report["sets"]) == (1.0, {"agree": 1, "missed": 0, "over": 0})


def test_the_level_asked_for_decides(clusters: Labels, tables: Tables) -> None:
    report = evaluate(DOCS, clusters, tables, Policy(level="identical"))
    assert (report.pairs.found, report.pairs.recall) == (1, 0.3333)


def test_unjudged_pairs_are_left_out_on_both_sides(clusters: Labels, tables: Tables, tmp_path: Path) -> None:
    unjudged = tmp_path / "unjudged.tsv"
    unjudged.write_text("a\tb\nc\ta\n")
    report = evaluate(DOCS, Labels(clusters.path, "", unjudged), tables)
    assert (report.pairs.true, report.pairs.found) == (2, 2)


def test_refused_documents_are_counted_and_the_others_go_on(clusters: Labels, tables: Tables) -> None:
    refusal = Refusal("docs.jsonl:3", "x", "text", "there is none")
    assert evaluate([DOCS[0], refusal, *DOCS[1:]], clusters, tables).refused == 1


def test_ids_that_only_the_labels_know_are_named_and_filtered_or_refused_ones_are_not(
    clusters: Labels, tables: Tables
) -> None:
    assert evaluate(DOCS, clusters, tables).unknown == ["z"]
    refusal = Refusal("docs.jsonl:5", "z", "text", "there is none")
    assert evaluate([*DOCS, refusal], clusters, tables, filters=[Filter("source", "AP")]).unknown == []


def test_the_worst_mistakes_are_reported_with_their_reasons(tables: Tables, tmp_path: Path) -> None:
    path = tmp_path / "clusters.tsv"
    path.write_text("id\tcluster\na\t1\nd\t1\n")
    mistakes = [each.as_json() for each in evaluate(DOCS, Labels(path), tables).mistakes]
    assert [(each["a"], each["b"], each["kind"]) for each in mistakes] == [
        ("a", "d", "missed"),
        ("a", "c", "wrong"),
        ("b", "c", "wrong"),
        ("a", "b", "wrong"),
    ]
    assert "only about 0 % of the text shared" in str(mistakes[0]["why"])
    assert mistakes[3]["why"] == "the same words in the same order"


def test_the_same_id_twice_and_no_documents_at_all_are_refused(clusters: Labels, tables: Tables) -> None:
    with pytest.raises(UsageError, match="'a' occurs twice"):
        evaluate([DOCS[0], DOCS[0]], clusters, tables)
    with pytest.raises(UsageError, match="no documents"):
        evaluate([], clusters, tables)


@pytest.mark.parametrize(
    ("field", "value", "ids"),
    [
        ("source", "AP", "abd"),
        ("meta.kind", "story", "ab"),
        ("meta.topics", "dog", "a"),
        ("id", "c", "c"),
        ("language", "fr", ""),
    ],
)
def test_only_documents_that_pass_a_filter_are_taken(field: str, value: str, ids: str) -> None:
    left_out: set[str] = set()
    documents = filter_documents(DOCS, [Filter(field, value)], left_out)
    assert [each.id for each in documents] == list(ids)
    assert left_out == set("abcd") - set(ids)


def test_a_filter_on_another_field_is_refused() -> None:
    with pytest.raises(UsageError, match=r"meta\.NAME"):
        matches_filter(DOCS[0], Filter("date", "1987"))
