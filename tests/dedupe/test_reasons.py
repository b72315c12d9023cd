"""Each kind of evidence says in words what its figures are."""

import pytest

from ibidem_dedupe import reasons
from ibidem_dedupe.policy import min_equal_slots
from ibidem_dedupe.reasons import Reason, Why


@pytest.mark.parametrize(
    ("reason", "why", "words"),
    [
        (reasons.shared_text, {"shared": 50, "of": 100}, "about 66 % of the text shared"),
        (reasons.shared_terms, {"shared": 57, "of": 60}, "57 of 60 rare terms shared"),
        (reasons.contained_text, {"estimate": 0.91}, "about 91 % of the shorter text shared"),
        (reasons.declared, {"author": "Ann"}, "declared the same by Ann"),
        (reasons.declared, {}, "declared the same by a reader"),
        (
            reasons.shared_characters,
            {"estimate": 0.4, "misread": []},
            "about 40 % of the characters shared; the differences look misread",
        ),
    ],
)
def test_a_reason_is_one_phrase(reason: Reason, why: Why, words: str) -> None:
    assert reason(why) == words


@pytest.mark.parametrize("shared", range(100))
def test_the_percentage_printed_is_one_that_similarity_takes(shared: int) -> None:
    said = int(reasons.shared_text({"shared": shared, "of": 100}).split()[1])
    assert min_equal_slots(said) <= shared < min_equal_slots(said + 1)
