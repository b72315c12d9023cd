"""Presets: figures with a name."""

import random
from dataclasses import replace

from ibidem_dedupe.decision import decide
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Characters, Policy, Terms
from ibidem_ingest.document import Document
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures.packed import pack, unpack
from ibidem_ingest.signatures.sign import sign_one


def test_news_is_the_default_within_six_weeks() -> None:
    assert PRESETS["news"].policy == Policy(window_days=42)


def test_law_has_no_date_window_since_versions_are_months_and_years_apart() -> None:
    assert PRESETS["law"].policy.window_days is None


def test_law_takes_a_text_that_was_half_rewritten_for_a_version() -> None:
    words = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)]
    old, new = Document("old", " ".join(words)), Document("new", " ".join([*words[:220], *words[219::-1]]))
    packed = [
        unpack(pack(each, signatures)) for each, signatures in ((each, sign_one(each, None)) for each in (old, new))
    ]
    assert packed[0] is not None
    assert packed[1] is not None
    assert decide(packed[0], packed[1], Policy()) is None
    assert decide(packed[0], packed[1], PRESETS["law"].policy) is not None


def word(number: int, begin: str = "w") -> str:
    return f"{begin}{chr(97 + number // 26)}{chr(97 + number % 26)}"


def decide_texts(a: str, b: str, policy: Policy, table: Table | None = None) -> bool:
    documents = [Document(name, text) for name, text in (("a", a), ("b", b))]
    packed = [unpack(pack(each, sign_one(each, table))) for each in documents]
    assert packed[0] is not None
    assert packed[1] is not None
    return decide(*packed, policy) is not None  # type: ignore[arg-type] # both are there


def test_books_takes_a_scan_in_which_every_eighth_word_is_misread() -> None:
    clean = [word(number) for number in range(400)]
    scan = [word(at, "x") if at % 8 == 0 else each for at, each in enumerate(clean)]
    assert not decide_texts(" ".join(clean), " ".join(scan), Policy())
    assert decide_texts(" ".join(clean), " ".join(scan), PRESETS["books"].policy)


def test_books_leaves_apart_what_shares_its_rarest_terms_in_a_licence_alone() -> None:
    licence = [word(number, "l") for number in range(80)]
    common = [word(number) for number in range(200)]
    table = Table.build("en", 100_000, dict.fromkeys(licence, 2.0) | dict.fromkeys(common, 50_000.0), "a test")
    rng = random.Random(5)  # noqa: S311 - made-up data keeps no secret
    a, b = ([*rng.choices(common, k=3_000), *map(str, range(year, year + 30)), *licence] for year in (1811, 1847))
    rarest = Terms(lengths=0.8, numbers=False)
    assert decide_texts(" ".join(a), " ".join(b), Policy(terms=rarest), table)
    assert not decide_texts(" ".join(a), " ".join(b), PRESETS["books"].policy, table)


def test_books_takes_a_misread_book_in_a_language_with_a_small_list_of_words() -> None:
    rng = random.Random(7)  # noqa: S311 - made-up data keeps no secret
    words = ["".join(rng.choices("abcdefghilmnoprstu", k=7)) for _ in range(1_200)]
    table = Table.build("la", 200_000, dict.fromkeys(words[:600], 900.0), "a test")
    clean, other = rng.choices(words, k=1_500), rng.choices(words, k=1_500)
    scan = [misread_text(each, rng) if at % 4 == 0 else each for at, each in enumerate(clean)]
    runs = replace(PRESETS["books"].policy, slots=None, terms=None, fingerprint=None)
    assert decide_texts(" ".join(clean), " ".join(scan), runs, table)
    assert not decide_texts(" ".join(clean), " ".join(scan), replace(runs, characters=Characters()), table)
    assert not decide_texts(" ".join(clean), " ".join(other), runs, table)


def misread_text(read: str, rng: random.Random) -> str:
    """Read a letter of a word as another."""
    at = rng.randrange(len(read))
    return f"{read[:at]}w{read[at + 1 :]}"


def test_the_paper_s_rule_is_four_fifths_of_padded_sets_within_six_weeks_and_nothing_else() -> None:
    assert PRESETS["conrad2003"].policy == Policy(
        window_days=42,
        slots=None,
        terms=Terms(share=0.8, full=False, smallest=20, lengths=0.8, numbers=False),
        fingerprint=None,
        profile=None,
        characters=None,
    )
