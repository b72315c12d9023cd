"""Presets: figures with a name."""

from ibidem.dedupe.parameters import PRESETS
from ibidem_ingest.document import Document
from ibidem_ingest.pairs.decision import Policy, Terms, decide
from ibidem_ingest.signatures.packed import pack, unpack
from ibidem_ingest.signatures.sign import sign_one


def test_news_is_the_default_within_six_weeks() -> None:
    assert PRESETS["news"].policy == Policy(window_days=42)


def test_law_has_no_date_window_since_versions_are_months_and_years_apart() -> None:
    assert PRESETS["law"].policy.window_days is None


def test_law_takes_a_text_that_was_half_rewritten_for_a_version() -> None:
    words = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)]
    old, new = Document("old", " ".join(words)), Document("new", " ".join([*words[:220], *words[219::-1]]))
    packed = [unpack(pack(each, found)) for each, found in ((each, sign_one(each, None)) for each in (old, new))]
    assert packed[0] is not None
    assert packed[1] is not None
    assert decide(packed[0], packed[1], Policy()) is None
    assert decide(packed[0], packed[1], PRESETS["law"].policy) is not None


def test_books_do_not_ask_for_agreeing_numbers() -> None:
    terms = PRESETS["books"].policy.terms
    assert terms is not None
    assert not terms.numbers


def test_the_paper_s_rule_is_four_fifths_of_padded_sets_within_six_weeks_and_nothing_else() -> None:
    assert PRESETS["conrad2003"].policy == Policy(
        window_days=42,
        slots=None,
        terms=Terms(share=0.8, full=False, smallest=20, lengths=0.8, numbers=False),
        fingerprint=None,
        profile=None,
        characters=None,
    )
