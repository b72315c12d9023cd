"""A short text is a duplicate only where the titles agree too; where one is missing, the text decides."""

from dataclasses import replace

import pytest

from ibidem_dedupe.decision import decide
from ibidem_dedupe.policy import LEVELS, Policy
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.packed import TITLED, Packed, pack, unpack
from ibidem_ingest.signatures.sign import sign_batch, sign_one

FLASH = "******Blah blah blah."
LONGER = "the grain " * 10


def packed(text: str, title: str) -> Packed:
    document = Document("a", text, title=title)
    (signatures,) = sign_batch([document], None)
    assert signatures == sign_one(document, None)
    read = unpack(pack(document, signatures))
    assert read is not None
    return read


@pytest.mark.parametrize("level", LEVELS)
def test_flashes_with_other_titles_are_duplicates_at_no_level(level: str) -> None:
    policy = Policy().at(level)  # type: ignore[arg-type] # one of the levels
    assert decide(packed(FLASH, "Fed adds reserves"), packed(FLASH, "Fed drains reserves"), policy) is None


def test_flashes_with_the_same_title_are_identical_whatever_its_case() -> None:
    evidence = decide(packed(FLASH, "Fed adds reserves"), packed(FLASH, "FED ADDS RESERVES"), Policy())
    assert evidence is not None
    assert evidence.level == "identical"


def test_where_a_title_is_missing_the_text_decides() -> None:
    evidence = decide(packed(FLASH, "Fed adds reserves"), packed(FLASH, ""), Policy())
    assert evidence is not None
    assert evidence.level == "near"


def test_a_title_that_is_the_beginning_of_the_text_does_not_count() -> None:
    a, b = packed("The appeal is dismissed with costs.", "The appeal is dismissed with costs."), packed("Go away", "Go")
    assert not (a.flags | b.flags) & TITLED


def test_titles_of_longer_texts_are_kept_and_do_not_count() -> None:
    a, b = packed(LONGER, "Fed adds reserves"), packed(LONGER, "Fed drains reserves")
    assert a.title != b.title
    assert not (a.flags | b.flags) & TITLED
    assert a.content == b.content


def test_a_content_hash_of_an_earlier_scheme_is_never_equal_to_one_of_this() -> None:
    a = packed(LONGER, "")
    evidence = decide(a, replace(a, scheme=1), Policy())
    assert evidence is not None
    assert evidence.level == "near"
