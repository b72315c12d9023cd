"""Texts without an index are grouped, and passages of one document that overlap are shown below the best."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search import texts as texts_module
from ibidem.grouped_search.response import MAX_HOLDERS, Passage, overlaps
from ibidem.grouped_search.texts import TextGroup, group_texts
from ibidem_dedupe.parameters import parse_request
from ibidem_dedupe.relations import RUN
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables

WORDS = ("tenant", "rent", "lease", "harbour", "wheat", "tariff", "court", "decree", "quota", "ministry")


def text(seed: int, length: int = 60) -> str:
    chosen = random.Random(seed)  # noqa: S311 - made-up words
    return " ".join(chosen.choice(WORDS) + str(chosen.randrange(40)) for _ in range(length))


def places(groups: list[TextGroup]) -> list[list[int]]:
    return [[group.lead, *(each.place for each in group.duplicates)] for group in groups]


def test_the_first_of_a_group_leads_and_every_text_is_in_one_group(tables: Tables) -> None:
    texts = [text(1), text(2), text(1).upper(), text(3), text(2) + " and more"]
    groups = group_texts(texts, language="en", tables=tables)
    assert places(groups) == [[0, 2], [1, 4], [3]]
    assert [each.level for group in groups for each in group.duplicates] == ["identical", "near"]


@pytest.mark.slow
def test_the_languages_of_texts_are_detected(tables: Tables) -> None:
    german = "Der Mieter hat die Miete am ersten Tag jedes Monats im Voraus und ohne Aufforderung zu zahlen. " * 3
    assert places(group_texts([german, text(1), german], tables=tables)) == [[0, 2], [1]]


@pytest.mark.parametrize("given", ["abc", b"abc", {"a": "b"}, 7, None], ids=repr)
def test_what_is_no_list_of_texts_is_refused_whole(given: Any, tables: Tables) -> None:
    with pytest.raises(UsageError, match=r"texts is .*, no list of texts"):
        group_texts(given, tables=tables)


def cut(words: list[str], *edges: tuple[int, int], document: str = "lease.pdf") -> list[Passage]:
    return [Passage(" ".join(words[start:end]), document) for start, end in edges]


def test_passages_that_overlap_in_one_document_are_neighbours_of_the_best(tables: Tables) -> None:
    words = text(4, 150).split()
    (only,) = group_texts(cut(words, (50, 100), (0, 60), (90, 150)), language="en", tables=tables)
    assert [(each.place, each.side, each.level) for each in only.neighbours] == [
        (1, "before", "partial"),
        (2, "after", "partial"),
    ]
    assert only.duplicates[0].reason == "precedes it in the same document, 10 words overlap"


def test_the_longest_or_newest_leads_and_a_neighbour_never(tables: Tables) -> None:
    words = text(4, 150).split()
    copy = " ".join(words[50:100])
    texts = [
        Passage(copy, "a", date="2020-05-01"),
        Passage(copy + " and more", "b", date="2019"),
        Passage(" ".join(words[:55]), "a", date="2024"),
        Passage(copy, "c", date="2023-01"),
    ]

    def lead(keep: str) -> int:
        (only,) = group_texts(texts, language="en", tables=tables, keep=keep)
        assert sorted([only.lead, *(each.place for each in only.duplicates)]) == [0, 1, 2, 3]
        assert [(each.place, each.of) for each in only.neighbours] == [(2, 0)]
        return only.lead

    assert [lead(keep) for keep in ("rank", "longest", "latest", "earliest")] == [0, 1, 3, 1]


@pytest.mark.parametrize(
    ("passage", "message"),
    [
        (7, "text 0 is 7, no string"),
        (Passage("words", date="May"), "date of passage 0"),
        (Passage("words", document=7), "document of passage 0 is 7, no string"),  # type: ignore[arg-type]
        (Passage(None), "text 0 is None, no string"),  # type: ignore[arg-type]
    ],
)
def test_a_field_of_a_passage_that_cannot_be_read_is_named(passage: Any, message: str, tables: Tables) -> None:
    with pytest.raises(UsageError, match=message):
        group_texts([passage], language="en", tables=tables)


@pytest.mark.parametrize("keep", ["latest", "earliest"])
def test_a_choice_by_date_among_texts_without_dates_is_refused(keep: str, tables: Tables) -> None:
    with pytest.raises(UsageError, match=rf"keep='{keep}', but no text has a date; give .*date_key"):
        group_texts([Passage(text(1)), Passage(text(1))], language="en", tables=tables, keep=keep)
    assert group_texts([], tables=tables, keep=keep) == []
    dated = [Passage(text(1)), Passage(text(1), date="2024")]
    assert places(group_texts(dated, language="en", tables=tables, keep=keep)) == [[1, 0]]


def test_no_setting_is_read_and_no_file_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tables: Tables
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IBIDEM_ENGINE", "no address")
    monkeypatch.setattr("ibidem_ingest.idf.store.build_general", tables.of)
    assert places(group_texts([text(1), text(1)], language="en")) == [[0, 1]]
    assert list(tmp_path.iterdir()) == []
    texts_module.general_tables.cache_clear()


def test_stored_groups_hold_no_neighbours_and_say_so() -> None:
    with pytest.raises(UsageError, match="dedupe_document cannot be combined with dedupe_by=stored"):
        parse_request({"dedupe": "indent", "dedupe_by": "stored", "dedupe_document": "meta.document"})


def passages(*texts: str) -> list[Passage]:
    return [Passage(text, "lease") for text in texts]


@given(st.integers(12, 60), st.integers(1, 12), st.integers(1, 11))
def test_every_pair_of_a_sliding_window_overlaps_by_what_was_cut_twice(length: int, step: int, extra: int) -> None:
    words, size = [f"w{number}" for number in range(length)], step + extra
    edges = [(start, min(start + size, length)) for start in range(0, length, step)]
    found = overlaps(passages(*(" ".join(words[start:end]) for start, end in edges)))
    for a, (a_start, a_end) in enumerate(edges):
        for b, (b_start, b_end) in enumerate(edges):
            shared = min(a_end, b_end) - max(a_start, b_start)
            expected = a != b and shared >= RUN and (a_start, a_end) != (b_start, b_end)
            assert ((a, b) in found) == expected
            if expected:
                assert found[a, b].words == shared


LETTERS = st.lists(st.sampled_from("ab"), min_size=RUN, max_size=14)


@given(LETTERS, LETTERS)
def test_of_several_overlaps_of_two_passages_the_longest_counts(one: list[str], other: list[str]) -> None:
    found = overlaps(passages(" ".join(one), " ".join(other)))
    longest = max(
        (
            size
            for a, b in ((one, other), (other, one))
            for start in range(len(a))
            if (size := min(len(a) - start, len(b))) >= RUN and a[start : start + size] == b[:size]
        ),
        default=0,
    )
    if one == other or not longest:
        assert not found
    else:
        assert [found[pair].words for pair in ((0, 1), (1, 0))] == [longest, longest]


def test_a_heading_that_many_passages_begin_with_is_no_overlap_from_then_on() -> None:
    heading = "lease of the house in"
    starts = [f"{heading} {number}" for number in range(MAX_HOLDERS + 2)]
    assert set(overlaps(passages(*starts, f"x {heading}"))) == set()
    found = overlaps(passages(f"x {heading}", *starts))
    assert {later for _, later in found} == set(range(MAX_HOLDERS + 1))
