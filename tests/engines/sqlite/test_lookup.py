"""Look-ups that leave out what no other document carries, and still find everything."""

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record, SignatureLookup
from ibidem_engines.sqlite import lookup
from ibidem_engines.sqlite.lookup import Finder
from ibidem_engines.sqlite.tables import lookup_values
from ibidem_ingest.signatures.lookup_keys import LookupField
from support.examples import examples
from support.signed_records import make_record

Make = Callable[..., Record]

TEXTS = (
    "grain prices rose in chicago today",
    "grain prices rose in chicago today and fell in kansas city tomorrow",
    "grain prices fell in chicago",
    "",
    " ".join(f"word{number}" for number in range(70)),
    " ".join(f"word{number}" for number in range(75)),
)

Step = tuple[int, str, int]


def carriers(
    records_by_id: Mapping[str, Record],
    values: Mapping[LookupField, Sequence[str]],
    minimum: Mapping[LookupField, int],
    own_id: str,
) -> list[str]:
    """Find by reading every document."""
    carriers_of_any = set()
    for name, record in records_by_id.items():
        own_values = lookup_values(record.packed)
        for clue, keys in values.items():
            if name != own_id and len(set(keys) & set(own_values.get(clue, ()))) >= minimum.get(clue, 1):
                carriers_of_any.add(name)
    return sorted(carriers_of_any)


steps = st.lists(
    st.tuples(st.sampled_from([0, 1]), st.sampled_from("abcdef"), st.integers(-1, len(TEXTS) - 1)), max_size=10
)


@given(steps)
@settings(max_examples=examples(15), deadline=None)
def test_two_processes_find_what_reading_every_document_finds(
    tmp_path_factory: pytest.TempPathFactory, script: list[Step]
) -> None:
    """Documents come, change and go (-1) by either of two engines; both then find all that carries a value."""
    url = f"sqlite:///{tmp_path_factory.mktemp('law')}/index.sqlite"
    engines = [open_engine(url, "news"), open_engine(url, "news")]
    engines[0].create()
    records_by_id: dict[str, Record] = {}
    for version, (writer, name, text) in enumerate(script, 1):
        if text < 0:
            engines[writer].delete([name], version)
            records_by_id.pop(name, None)
        else:
            records_by_id[name] = make_record(name, TEXTS[text], version)
            engines[writer].write([records_by_id[name]])
        least: dict[LookupField, int] = {"rare": 5}
        searches = [
            SignatureLookup(lookup_values(record.packed), least, own_id=own_id)
            for record in records_by_id.values()
            for own_id in ("", record.document.id)
        ] + [SignatureLookup(lookup_values(make_record("new", each).packed), least) for each in TEXTS]
        for engine in engines:
            ids = [[hit.id for hit in answer.hits] for answer in engine.find(searches)]
            assert ids == [carriers(records_by_id, search.values, least, search.own_id) for search in searches]
    for engine in engines:
        engine.close()


def test_values_that_only_the_asking_document_carries_are_not_looked_up(engine: Engine, record: Make) -> None:
    finder = engine._finder  # type: ignore[attr-defined]
    records = [record(f"d{number}", f"{number} and {number + 1} make {2 * number + 1} in all") for number in range(50)]
    engine.write(records)
    searches = [SignatureLookup(lookup_values(each.packed), own_id=each.document.id) for each in records]
    engine.find(searches)
    with finder._file.reading():
        lookups = finder._worth_asking(searches)
    values = sum(len(batch) for search in searches for clue, batch in search.values.items() if clue != "rare")
    assert sum(len(question.values) for question in lookups) < values / 100


def test_marks_are_read_only_where_look_ups_would_cost_more(engine: Engine, record: Make, address: str) -> None:
    engine.write([record(f"d{number}", f"story {number}") for number in range(200)])
    finder = Finder(engine._file)  # type: ignore[attr-defined]
    search = [SignatureLookup({"content": lookup_values(record("x", "story 7").packed)["content"]})]
    for _ in range(200 // lookup.DOCUMENTS_PER_LOOKUP - 1):
        assert [hit.id for hit in finder.find(search, None)[0].hits] == ["d7"]
        assert finder._sketch.learned == 0
    for _ in range(3):
        assert [hit.id for hit in finder.find(search, None)[0].hits] == ["d7"]
    assert finder._sketch.learned > 200


@pytest.mark.slow
def test_an_index_that_outgrows_what_is_known_of_it_is_read_again(engine: Engine, record: Make) -> None:
    finder = engine._finder  # type: ignore[attr-defined]
    for start in range(0, 600, 200):
        batch = [record(f"d{number}", f"story {number}") for number in range(start, start + 200)]
        engine.write(batch)
        answers = engine.find([SignatureLookup(lookup_values(each.packed)) for each in batch])
        assert all(
            each.document.id in [hit.id for hit in answer.hits] for each, answer in zip(batch, answers, strict=True)
        )
    assert finder._sketch.holds(1)
    assert finder._sketch.learned >= 600 * 34


def test_copies_beyond_what_is_listed_are_counted(
    engine: Engine, record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ibidem_engines.engine.CONTENT_HITS", 5)
    engine.write([record(f"d{number:02}") for number in range(12)])
    content: dict[LookupField, list[str]] = {"content": lookup_values(record("x").packed)["content"]}
    stranger, first, last = engine.find(
        [
            SignatureLookup(content, limit=1),
            SignatureLookup(content, limit=1, own_id="d00"),
            SignatureLookup(content, limit=1, own_id="d11"),
        ]
    )
    assert (len(stranger.hits), stranger.copies) == (5, 12)
    assert (len(first.hits), first.copies) == (5, 11)
    assert (len(last.hits), last.copies, list(last.capped)) == (5, 11, [])
