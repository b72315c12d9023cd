"""All identical copies of a document are found, however many there are."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ibidem.index.deletion import find_copies, find_leftovers
from ibidem.index.documents import fetch_hits
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.signing import records
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.lookup_keys import lookup_keys
from ibidem_ingest.signatures.packed import pack, unpack
from ibidem_ingest.signatures.sign import sign
from ibidem_workers.dead_letters import DeadLetter, add_dead_letters, letters
from support.command_line import Run


@pytest.fixture
def library(run: Run) -> Iterator[Engine]:
    """The index of the documents of the command line's tests, in the current folder."""
    engine = open_engine("sqlite:///.ibidem/index.sqlite", "ibidem")
    yield engine
    engine.close()


def test_documents_are_read_by_id_and_those_that_are_not_there_are_left_out(library: Engine) -> None:
    assert sorted(hit.id for hit in fetch_hits(library, ["lease", "nosuch", "letter"])) == ["lease", "letter"]


def test_copies_are_behind_the_documents_that_were_named(library: Engine) -> None:
    assert find_copies(library, ["letter", "copy"], same_words=True).ids == ["letter", "copy", "lease"]


def test_a_text_without_words_has_no_copies(library: Engine) -> None:
    assert find_copies(library, ["blank"], same_words=True).ids == ["blank"]


@pytest.mark.slow
def test_copies_beyond_what_a_look_up_lists_are_found_by_reading_the_index(library: Engine, monkeypatch) -> None:
    monkeypatch.setattr("ibidem_engines.engine.CONTENT_HITS", 0)
    assert sorted(find_copies(library, ["lease"], same_words=True).ids) == ["copy", "lease"]


def test_the_copies_of_what_is_not_there_cannot_be_known(library: Engine) -> None:
    with pytest.raises(UsageError, match="'nosuch'"):
        find_copies(library, ["lease", "nosuch"])


@pytest.mark.slow
def test_a_text_that_was_made_for_the_content_hash_of_another_does_not_take_it_along(
    library: Engine, tmp_path: Path
) -> None:
    """The hash is set by hand, since none is known for the content hash of a later schema."""
    (lease,) = fetch_hits(library, ["lease"])
    packed_value = unpack(lease.packed or b"")
    assert packed_value is not None
    (hash_,) = lookup_keys(packed_value)["content"]
    forged = Document("forged", "a text of other words altogether", version=1)
    (record,) = records([forged], Tables(tmp_path))
    (signatures,) = sign([forged], Tables(tmp_path))
    stored = record.signatures._replace(content=hash_)
    packed = pack(forged, replace(signatures, content=hash_))
    library.write([replace(record, signatures=stored, packed=packed)])
    library.refresh()
    names = find_copies(library, ["forged"], same_words=True)
    assert names.ids == ["forged"]
    assert {"copy", "lease"} <= set(names.others)
    names = find_copies(library, ["lease"], same_words=True)
    assert sorted(names.ids) == ["copy", "lease"]
    assert "forged" in names.others


def test_failed_documents_of_the_same_id_or_the_same_text_are_left_and_can_be_removed(library: Engine) -> None:
    text = "Dear Sir,\nthe rent of last month has not arrived."
    texts = {"letter": "another version", "by text": text, "unrelated": "another text"}
    add_dead_letters(
        library, (DeadLetter("r", Refusal("", id_, "", ""), 1, 1.0, {"text": each}) for id_, each in texts.items())
    )
    left = find_leftovers(library, ["letter"])
    assert left.as_json() == {"dead": ["by text", "letter"]}
    left.remove(library)
    assert [each.refusal.id for each in letters(library)][-1:] == ["unrelated"]
