"""Whether texts are in the language of a table."""

import pytest

from ibidem_ingest.idf.build import general
from ibidem_ingest.idf.language import COMMONEST, LEAST_TERMS, commonest, spoken, strangers
from ibidem_ingest.idf.table import Table

ENGLISH = (
    "The court held that the tenant was not bound to pay the rent which had fallen due before the house was burned, "
    "and that the landlord could not ask for more than they had agreed. There was no other question for the jury. "
)
FRENCH = (
    "Le tribunal a jugé que le locataire ne devait pas payer le loyer qui était échu avant que la maison ne fût "
    "brûlée, et que le propriétaire ne pouvait demander plus que ce dont ils avaient convenu dans le contrat. "
)


@pytest.fixture(scope="module")
def english() -> Table:
    table = general("en")
    assert table is not None
    return table


def test_a_text_is_in_the_language_of_its_table_and_another_is_not(english: Table) -> None:
    common = commonest(english)
    assert spoken(ENGLISH * 4, common) is True
    assert spoken(FRENCH * 4, common) is False


def test_a_text_of_few_terms_is_not_judged(english: Table) -> None:
    common = commonest(english)
    assert spoken(" ".join(["court"] * (LEAST_TERMS - 1)), common) is None
    assert spoken(" ".join(["court"] * LEAST_TERMS), common) is not None


def test_texts_in_another_language_are_counted_among_those_that_tell(english: Table) -> None:
    assert strangers([ENGLISH * 4, FRENCH * 4, FRENCH * 4, "too short"], english) == (2, 3)


def test_the_commonest_terms_are_those_that_most_documents_hold() -> None:
    words = {
        f"{a}{b}word": 5.0 + place for place, (a, b) in enumerate((a, b) for a in "bcdfghklmnp" for b in "aeiouyrslt")
    }
    found = commonest(Table.of("en", 1_000, words, "a test"))
    assert found == set(sorted(words, key=lambda word: -words[word])[:COMMONEST])
