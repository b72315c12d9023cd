"""Which of the documents just written had a duplicate there already."""

from collections.abc import Sequence

from ibidem_engines.engine import Engine, Outcome
from ibidem_engines.records import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.pairs.decision import Policy
from ibidem_ingest.signatures.lookup_keys import lookup_keys
from ibidem_ingest.signatures.packed import unpack
from ibidem_workers.duplicates import Written, alike, duplicates, same
from ibidem_workers.results import Duplicate
from ibidem_workers.settings import Settings

PREAMBLE = "we the people of the united states in order to form a more perfect union establish justice"
TEXT = " ".join(f"word{number}" for number in range(80))


def write(engine: Engine, settings: Settings, texts: Sequence[tuple[str, str]]) -> list[Written]:
    documents = [Document(name, text, version=1) for name, text in texts]
    made = list(records(documents, Tables(settings.tables)))
    return [Written(record, outcome) for record, outcome in zip(made, engine.write(made), strict=True)]


def test_the_later_of_two_names_the_earlier_and_not_the_other_way(engine: Engine, settings: Settings) -> None:
    first = write(engine, settings, [("a", TEXT)])
    second = write(engine, settings, [("b", f"{TEXT} more")])
    # Both look only now, as two workers that wrote at the same time do.
    assert duplicates(engine, first, Policy()) == []
    assert duplicates(engine, second, Policy()) == [Duplicate("b", "a", "near")]


def test_identical_is_named_before_near(engine: Engine, settings: Settings) -> None:
    write(engine, settings, [("a", f"{TEXT} more"), ("b", TEXT.upper())])
    assert duplicates(engine, write(engine, settings, [("c", TEXT)]), Policy()) == [Duplicate("c", "b", "identical")]


def test_copies_within_a_batch_are_copies_of_its_first(engine: Engine, settings: Settings) -> None:
    written = write(engine, settings, [("a", TEXT), ("b", TEXT.upper()), ("c", "no"), ("d", TEXT)])
    assert duplicates(engine, written, Policy()) == [Duplicate("b", "a", "identical"), Duplicate("d", "a", "identical")]


def test_guarded_or_not_equal_content_is_identity_where_nothing_differs(engine: Engine, settings: Settings) -> None:
    write(engine, settings, [("a", TEXT)])
    written = write(engine, settings, [("b", TEXT), ("c", TEXT.upper()), ("d", f"{TEXT} more")])
    assert duplicates(engine, written, Policy()) == duplicates(engine, written, Policy(), guarded=True)


def test_a_document_is_no_duplicate_of_its_own_older_version(engine: Engine, settings: Settings) -> None:
    write(engine, settings, [("a", TEXT)])
    again = [Document("a", f"{TEXT} more", version=2)]
    made = list(records(again, Tables(settings.tables)))
    assert duplicates(engine, [Written(made[0], engine.write(made)[0])], Policy()) == []


def test_what_an_earlier_try_wrote_finds_its_place_by_its_own_hit(engine: Engine, settings: Settings) -> None:
    write(engine, settings, [("a", TEXT)])
    ((record, outcome),) = write(engine, settings, [("b", f"{TEXT} more")])
    write(engine, settings, [("c", f"{TEXT} and more")])
    again = [Written(record, Outcome("b", outcome.fate, before=1))]
    assert duplicates(engine, again, Policy()) == [Duplicate("b", "a", "near")]


def test_a_document_is_looked_up_under_the_values_it_is_stored_under(settings: Settings) -> None:
    texts = [TEXT, "one", "we the people of the united states", PREAMBLE, f"{TEXT} 1987"]
    documents = [Document(str(at), text, version=1) for at, text in enumerate(texts)]
    for record in records(documents, Tables(settings.tables)):
        packed = unpack(record.packed)
        assert packed is not None
        stored = lookup_keys(packed)
        asked = same(record.signatures) | alike(record.signatures)
        assert asked == {
            clue: some for clue, some in stored.items() if clue not in {"fingerprint_binned", "profile", "rare"}
        }


def test_how_many_are_near_depends_on_which_of_them_came_first(engine: Engine, settings: Settings) -> None:
    """The middle is near to both ends, and the ends are not near to each other."""
    words = [f"word{number}" for number in range(200)]
    ends = [("one", " ".join(words[:140])), ("other", " ".join(words[60:]))]
    middle = [("middle", " ".join(words[30:170]))]
    written = write(engine, settings, ends + middle)
    assert [each.id for each in duplicates(engine, written, Policy())] == ["middle"]
    engine.delete([each.id for each in written], 2)
    again = [(f"{name} again", text) for name, text in middle + ends]
    assert [each.id for each in duplicates(engine, write(engine, settings, again), Policy())] == [
        "one again",
        "other again",
    ]
