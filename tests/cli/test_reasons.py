"""Evidence is told in words."""

import pytest

from ibidem.reasons import reason


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ({"signature": "content"}, "the same words in the same order"),
        ({"signature": "minhash", "shared": 73, "of": 100}, "73 of 100 samples of five-word runs equal"),
        (
            {"signature": "termvector", "shared": 41, "of": 60, "days_apart": 0},
            "41 of 60 rare terms shared, the same day",
        ),
        ({"signature": "termvector", "shared": 41, "of": 60, "days_apart": None}, "41 of 60 rare terms shared"),
        (
            {"signature": "profile", "length_ratio": 0.81},
            "the same frequent words equally often, one 81 % as long as the other",
        ),
        (
            {"signature": "minhash", "shared": 60, "of": 100, "numbers_agree": False},
            "60 of 100 samples of five-word runs equal, other numbers",
        ),
        ({"signature": "override", "author": "J. Doe"}, "declared the same by J. Doe"),
        ({"signature": "relation"}, "relation"),
        ({}, ""),
    ],
)
def test_a_reason_says_the_figure_and_the_guards_that_matter(why: dict[str, object], said: str) -> None:
    assert reason(why) == said
