"""The difference of two idf tables is measured, with its effect on fingerprints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.idf.stability import LENGTHS, changed_fingerprints, correlation
from ibidem_ingest.idf.table import Table

TERMS = [f"{a}{b}word" for a in "abcdefgh" for b in "klmnopqr"]
COUNTS = st.dictionaries(st.sampled_from(TERMS), st.integers(5, 40), min_size=3)


def table(counts: dict[str, int]) -> Table:
    return Table.build("en", 1_000, dict(counts), "a test")


def plain_spearman(a: dict[str, int], b: dict[str, int]) -> float | None:
    """Follow the textbook: Pearson's correlation of mean ranks."""
    common = sorted(set(a) & set(b))
    ranks = []
    for counts in (a, b):
        values = sorted(counts[term] for term in common)
        ranks.append([values.index(counts[t]) + (values.count(counts[t]) + 1) / 2 for t in common])
    n = len(common)
    means = [sum(r) / n for r in ranks] if n else [0, 0]
    up = sum((x - means[0]) * (y - means[1]) for x, y in zip(*ranks, strict=True))
    squares = [sum((x - m) ** 2 for x in r) for r, m in zip(ranks, means, strict=True)]
    return up / (squares[0] * squares[1]) ** 0.5 if n > 1 and all(squares) else None


@given(COUNTS, COUNTS)
def test_the_correlation_is_the_textbook_s_with_ties(a: dict[str, int], b: dict[str, int]) -> None:
    coefficient = correlation(table(a), table(b))
    expected = plain_spearman(a, b)
    assert coefficient.common == len(set(a) & set(b))
    assert coefficient.spearman == (None if expected is None else pytest.approx(expected, abs=1e-4))


def test_a_table_agrees_with_itself_and_changes_nothing() -> None:
    rare_table = table({term: 5 + at for at, term in enumerate(TERMS)})
    assert correlation(rare_table, rare_table).spearman == 1.0
    assert changed_fingerprints([" ".join(TERMS)], rare_table, rare_table) == dict.fromkeys(LENGTHS, 0.0)


def test_a_fingerprint_changes_from_the_first_term_on_that_is_elsewhere() -> None:
    old_table = table({term: 5 + at for at, term in enumerate(TERMS)})
    swapped = {term: 5 + at for at, term in enumerate(TERMS)} | {TERMS[9]: 15, TERMS[10]: 14}
    shares = changed_fingerprints(
        [" ".join(TERMS[:40]), " ".join(TERMS[:5]), "nothing known"], old_table, table(swapped)
    )
    assert [shares[length] for length in (1, 9, 10, 30)] == [0.0, 0.0, 0.3333, 0.3333]


def test_no_texts_have_no_shares() -> None:
    assert changed_fingerprints([], table({"court": 9}), table({"court": 9})) == {}
