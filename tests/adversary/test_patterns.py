"""No text makes one of our regular expressions run on and on: its time grows with the text's length and no faster."""

import re
from collections.abc import Iterator

import pytest

from adversary.patterns import (
    CHARACTERS,
    METHODS,
    Expression,
    Trial,
    expressions,
    has_possessive_group,
    made_while_running,
)
from ibidem_engines import query as words
from ibidem_engines.query import Phrase
from ibidem_ingest.text import tokens
from ibidem_workers import batches

# Expressions that are used on so many characters at most, wherever they are used.
BOUNDED = {words._SENTENCE_END.pattern: words.LEADING_CHARACTERS}

# Expressions with possessive groups of which no part fails after it has gone on, but where all has failed.
RESTORED = {tokens._TERM.pattern.decode(), batches._STRING.pattern.decode()}


@pytest.fixture(scope="module")
def every() -> list[Expression]:
    return expressions()


@pytest.fixture(scope="module")
def trial() -> Iterator[Trial]:
    with Trial() as trial:
        yield trial


@pytest.mark.slow
def test_every_expression_is_known_but_those_made_of_a_readers_words(every: list[Expression]) -> None:
    assert len(every) > 40
    of_settings = "ibidem_gateway.middleware.hide_address"
    of_signs = "ibidem.grouped_search.api.with_differing_sign"  # of a word that was signed, and escaped
    assert made_while_running() == {"ibidem_engines.query._patterns", of_settings, of_signs}
    assert {each.pattern for each in every} >= BOUNDED.keys()


@pytest.mark.slow
def test_no_expression_needs_a_possessive_group_which_python_before_3_11_5_matches_wrongly(
    every: list[Expression],
) -> None:
    assert {each.pattern for each in every if has_possessive_group(each.pattern)} == RESTORED


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_time_grows_with_the_length_of_the_text(trial: Trial, every: list[Expression]) -> None:
    lengths = {each: BOUNDED.get(each.pattern, CHARACTERS) for each in every}
    assert [each for each, length in lengths.items() if not trial.withstands(each, length)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern", ["(a+)+$", r"(\w+\s*)*:", r"\s+$", "//.*@", "(?:a|a)*b", "x*x*y"], ids=lambda pattern: pattern
)
def test_an_expression_that_runs_on_is_found_out(trial: Trial, pattern: str) -> None:
    assert not trial.withstands(Expression(pattern, int(re.DOTALL), METHODS))


def test_a_phrase_is_looked_for_by_its_first_words() -> None:
    excerpt = words.passage("a " * 200_000, [Phrase("a " * 5_000 + "b")])
    assert "a" in excerpt
