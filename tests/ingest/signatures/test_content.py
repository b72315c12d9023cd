"""The content hash: the same words and signs in the same order, of a mail from the same sender at the same time."""

from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.signatures import content
from ibidem_ingest.text.tokens import TokenBatch, tokens

texts = st.lists(st.text(st.sampled_from("aB é.,\n7漢"), max_size=20), max_size=5)


@given(texts)
def test_it_is_blake2b_of_the_tokens_joined_by_a_space(several: list[str]) -> None:
    expected = [
        f"ch4:{blake2b(' '.join(tokens(text)).encode(), digest_size=16).hexdigest()}"
        if tokens(text)
        else f"ch4:none:d{number}"
        for number, text in enumerate(several)
    ]
    names = [f"d{number}" for number in range(len(several))]
    assert [content.sign(tokens(text), name) for text, name in zip(several, names, strict=True)] == expected
    nothing = [""] * len(several)
    hashes = content.sign_batch(TokenBatch.tokenize(several).join_tokens(), nothing, [b""] * len(several), nothing)
    assert list(map(content.format_hash, hashes, names)) == expected


def test_a_title_is_hashed_behind_the_text() -> None:
    expected = f"ch4:{blake2b(b'blah blah' + bytes((31,)) + b'rates rise', digest_size=16).hexdigest()}"
    assert content.sign(["blah", "blah"], "a", "rates rise") == expected
    (hash_,) = content.sign_batch([b"blah blah"], ["rates rise"], [b""], [""])
    assert content.format_hash(hash_, "a") == expected
    assert content.sign(["blah", "blah", "rates", "rise"], "a") != expected
    assert content.sign([], "a", "rates rise") == "ch4:none:a"


def test_case_punctuation_spaces_and_page_breaks_make_no_difference() -> None:
    a = content.sign(tokens("IT IS ORDERED: that the motion\fbe denied."), "a")
    b = content.sign(tokens("it is ordered that the mo-\ntion be (denied)"), "b")
    assert content.compare(a, b) == 1.0


def test_a_figure_or_the_order_makes_a_difference() -> None:
    first = content.sign(["rates", "rose", "4", "pct"], "a")
    assert content.compare(first, content.sign(["rates", "rose", "5", "pct"], "b")) == 0.0
    assert content.compare(first, content.sign(["4", "pct", "rates", "rose"], "c")) == 0.0


def test_no_other_text_shares_the_hash_of_one_without_words() -> None:
    assert content.sign([], "a") != content.sign([], "b")


def test_signs_and_the_key_of_a_mail_are_hashed_behind_the_words() -> None:
    data = b"pay 5" + b"\x1frent" + b"\x1e1-" + b"\x1dann@example.org 1987"
    expected = f"ch4:{blake2b(data, digest_size=16).hexdigest()}"
    assert content.sign(["pay", "5"], "a", "rent", "1-", "ann@example.org 1987") == expected
    (hash_,) = content.sign_batch([b"pay 5"], ["rent"], [b"1-"], ["ann@example.org 1987"])
    assert content.format_hash(hash_, "a") == expected
