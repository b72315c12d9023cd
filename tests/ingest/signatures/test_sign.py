"""All signatures of documents: in any batch, and in plain Python, the same."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import LEVELS, Policy
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures.packed import TITLED, pack
from ibidem_ingest.signatures.sign import BATCH_CHARACTERS, sign, sign_and_pack, sign_batch, sign_columns, sign_one
from support.packed_texts import packed
from support.some import some

WORDS = [a + b + c for a in "bcdfgh" for b in "aeiou" for c in "lmnrst"]
TABLE = Table.build("en", 10**6, {word: 5.0 * 1.2 ** (place // 2) for place, word in enumerate(WORDS)}, "a test")
STRANGE = ["x" + word for word in WORDS[:40]]
SHUFFLED = sorted(WORDS, key=lambda word: word[::-1])
word = st.sampled_from([*WORDS, *STRANGE, "the", "12", "a1", "émeute", "ж1", "東京", "un-\nbroken", "\f", "द्वारा"])
text = (st.lists(word, max_size=9) | st.lists(word, max_size=300)).map(" ".join)


def documents_of(*texts: str) -> list[Document]:
    return [Document("a", each) for each in texts]


documents = st.lists(st.builds(Document, st.just("a"), text), min_size=1, max_size=5)


PAGES = "\f".join(" ".join(WORDS[:size]) for size in (9, 10, 60))
# Counts that are rounded, with words of less than half a step.
LOUD = " ".join(["court"] * 1_234 + ["law"] * 250 + ["a b c one two six"] * 12 + WORDS * 3)


class OneTable(Tables):
    """Tables that speak English alone, and keep no files."""

    def of(self, language: str) -> Table | None:
        return TABLE if language == "en" else None


@pytest.fixture
def one_table(tmp_path: Path) -> Tables:
    return OneTable(tmp_path)


@given(documents, st.sampled_from([TABLE, None]))
@example(documents_of(LOUD, "one one two two three three four four five five ", "a b c"), None)
@example(documents_of(" ".join(f"w{n}" for n in range(1_500)), "a b c d e f " * 400, PAGES), TABLE)
@example(documents_of(*(" ".join(each) for each in (WORDS[30:60] + STRANGE, WORDS[14:33] + STRANGE, WORDS))), TABLE)
@example(
    documents_of("a b c a b c a b c a b c", "a b c d e f", "a a a a a a a", "a" * 70 + "1", "é" * 40, "b" * 63 + "9"),
    TABLE,
)
@example(documents_of(*("\f".join(f"a {each}" for each in (*order, *order[:9])) for order in (WORDS, SHUFFLED))), None)
def test_a_batch_signs_as_plain_python_does(several: list[Document], table: Table | None) -> None:
    assert sign_batch(several, table) == [sign_one(document, table) for document in several]


@given(
    st.lists(
        st.builds(
            Document,
            st.text(st.characters(codec="utf-8"), min_size=1, max_size=9),
            text,
            title=st.sampled_from(["", "bal un", "rates rise"]),
            date=st.sampled_from(["", "1987-03", "1787-09-17", "1979"]),
            source=st.sampled_from(["", "Reuters"]),
            meta=st.sampled_from([{}, {"docket": "1"}]),
        ),
        max_size=5,
    ),
    st.sampled_from([TABLE, None]),
    st.sampled_from([(), ("docket",), ("source", "title")]),
)
def test_a_batch_is_packed_as_each_of_its_documents(
    several: list[Document], table: Table | None, distinct: tuple[str, ...]
) -> None:
    columns = sign_columns(several, table)
    alone = [sign_one(document, table) for document in several]
    assert columns.rows() == alone
    assert columns.pack(several, distinct) == [pack(*each, distinct) for each in zip(several, alone, strict=True)]


def test_a_long_text_is_packed_in_columns_as_it_is_alone(one_table: Tables) -> None:
    several = [Document("a", " ".join(WORDS * 300)), Document("b", "one page\fanother"), Document("c", "")]
    alone = sign(several, one_table)
    assert list(sign_and_pack(several, one_table)) == [
        (replace(document, language="en"), (each.length, each.idf, each.long), pack(document, each))
        for document, each in zip(several, alone, strict=True)
    ]
    assert [bool(signatures.long) for signatures in alone] == [True, True, False]


def test_documents_of_several_languages_are_signed_in_their_order(one_table: Tables) -> None:
    texts = [" ".join(WORDS[start : start + 120]) for start in range(0, 60, 10)] * 4
    mixed = [Document(str(n), text, language=("en", "la", "xx")[n % 3]) for n, text in enumerate(texts)]
    signatures = sign(mixed, one_table)
    assert signatures == [sign_one(document, one_table.of(document.language)) for document in mixed]
    assert {document.language for document, each in zip(mixed, signatures, strict=True) if each.idf} == {"en"}


def test_a_stream_is_read_a_batch_ahead_and_no_further(one_table: Tables) -> None:
    read = []

    def stream() -> Iterator[Document]:
        for number in range(10):
            read.append(number)
            yield Document(str(number), "bal " * (BATCH_CHARACTERS // 13))  # a batch holds three

    first, _, _ = next(sign_and_pack(stream(), one_table))
    assert first.id == "0"
    assert len(read) <= 4


FLASH = "******Blah blah blah."
LONGER = "the grain " * 10


@pytest.mark.parametrize("level", LEVELS)
def test_flashes_with_other_titles_are_duplicates_at_no_level(level: str) -> None:
    policy = Policy().at(level)  # type: ignore[arg-type] # one of the levels
    assert decide(packed(FLASH, "Fed adds reserves"), packed(FLASH, "Fed drains reserves"), policy) is None


def test_flashes_with_the_same_title_are_identical_whatever_its_case() -> None:
    evidence = decide(packed(FLASH, "Fed adds reserves"), packed(FLASH, "FED ADDS RESERVES"), Policy())
    assert some(evidence).level == "identical"


def test_where_a_title_is_missing_the_text_decides() -> None:
    assert some(decide(packed(FLASH, "Fed adds reserves"), packed(FLASH), Policy())).level == "near"


def test_titles_of_longer_texts_are_kept_and_do_not_count() -> None:
    a, b = packed(LONGER, "Fed adds reserves"), packed(LONGER, "Fed drains reserves")
    assert a.title != b.title
    assert not (a.flags | b.flags) & TITLED
    assert a.content == b.content


def test_a_content_hash_of_an_earlier_scheme_is_never_equal_to_one_of_this() -> None:
    a = packed(LONGER)
    assert some(decide(a, replace(a, scheme=1), Policy())).level == "near"
