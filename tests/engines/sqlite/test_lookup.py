"""Look-ups find what reading every document finds."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record, SignatureLookup
from ibidem_engines.sqlite.write import lookup_values
from ibidem_ingest.signatures.lookup_keys import LookupField
from support.examples import examples
from support.signed_records import make_record

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
        for field, keys in values.items():
            if name != own_id and len(set(keys) & set(own_values.get(field, ()))) >= minimum.get(field, 1):
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


def test_copies_beyond_what_is_listed_are_counted(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ibidem_engines.engine.CONTENT_HITS", 5)
    engine.write([make_record(f"d{number:02}") for number in range(12)])
    content: dict[LookupField, list[str]] = {"content": lookup_values(make_record("x").packed)["content"]}
    found = engine.find([SignatureLookup(content, limit=1, own_id=own_id) for own_id in ("", "d00", "d11")])
    assert [(len(each.hits), each.copies, [*each.capped]) for each in found] == [(5, 12, []), (5, 11, []), (5, 11, [])]
