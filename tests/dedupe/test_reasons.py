"""Each kind of evidence says in words what its figures are."""

import pytest

from ibidem_dedupe import reasons
from ibidem_dedupe.reasons import Reason, Why


@pytest.mark.parametrize(
    ("reason", "why", "words"),
    [
        (reasons.shared_text, {"shared": 50, "of": 100}, "about 50 % of the text shared"),
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
