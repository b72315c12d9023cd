"""Two documents side by side: shared passages, and what differs between a lead and its duplicate."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.comparison.compare import align, blocks, characters, compare, passages, runs
from ibidem.comparison.word_diff import UNANCHORED_WORDS, Piece, token_offsets, word_diff
from ibidem_dedupe.pair_evidence import Guards, similar_characters
from ibidem_dedupe.policy import Characters, Policy
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.text.tokens import tokens
from support.leases import LEASE
from support.packed_texts import packed
from support.some import some

TEXTS = st.lists(st.sampled_from(LEASE.split()), max_size=40).map(" ".join)


@given(a=TEXTS, b=TEXTS)
def test_a_comparison_is_the_same_in_both_directions(tables: Tables, a: str, b: str) -> None:
    comparison = compare(Document("a", a), Document("b", b), tables)
    back = compare(Document("b", b), Document("a", a), tables)
    assert comparison.evidence == back.evidence
    for name in ("minhash", "termvector", "content", "profile"):
        assert comparison.signals.get(name) == back.signals.get(name)


def test_an_excerpt_is_found_whole_in_the_longer_text(tables: Tables) -> None:
    sentence = LEASE.split(". ")[2]
    comparison = compare(Document("a", sentence), Document("b", LEASE), tables)
    assert comparison.signals["overlap"]["a"] == 1.0
    (run,) = comparison.shared
    assert LEASE[slice(*comparison.words_b.extent(run.b))] == sentence


WORDS = st.lists(st.sampled_from(["the", "court", "held", "that", "no", "appeal", "lies", "12", "13"]), max_size=40)


def only(kind: str, pieces: list[Piece]) -> list[str]:
    return [word for piece in pieces if piece.kind == kind for word in piece.words]


def test_a_changed_word_is_shown_between_the_words_around_it() -> None:
    diff = word_diff("net profit was 12.1 mln dlrs in March", "net profit was 12.3 mln dlrs in March", context=2)
    assert [(piece.kind, *piece.words) for piece in diff] == [
        ("gap",),
        ("same", "profit", "was"),
        ("lead", "12.1"),
        ("duplicate", "12.3"),
        ("same", "mln", "dlrs"),
        ("gap",),
    ]


@pytest.mark.parametrize(
    "duplicate", ["the  COURT held.", "The court\nheld", "the (court) held!", "the co\u00adurt held"]
)
def test_case_punctuation_and_line_breaks_are_no_difference(duplicate: str) -> None:
    if "\u00ad" in duplicate:
        duplicate = duplicate.replace("\u00ad", "\u00ad\n")
    assert word_diff("The court held", duplicate) == []


@given(WORDS, WORDS)
def test_the_pieces_of_a_text_are_words_of_that_text(lead: list[str], duplicate: list[str]) -> None:
    pieces = word_diff(" ".join(lead), " ".join(duplicate), limit=100, context=100)
    assert [word for piece in pieces if piece.kind in {"same", "lead"} for word in piece.words] == (
        lead if pieces else []
    )
    assert [word for piece in pieces if piece.kind in {"same", "duplicate"} for word in piece.words] == (
        duplicate if pieces else []
    )


def test_what_lies_beyond_the_words_examined_is_one_place() -> None:
    lead = "start " + " ".join(f"a{number}" for number in range(3 * UNANCHORED_WORDS)) + " end"
    duplicate = "start " + " ".join(f"b{number}" for number in range(3 * UNANCHORED_WORDS)) + " end"
    diff = word_diff(lead, duplicate)
    assert [piece.kind for piece in diff] == ["same", "lead", "duplicate", "same"]
    assert len(only("lead", diff)) == 3 * UNANCHORED_WORDS


@given(WORDS, WORDS, st.integers(0, 3))
def test_what_both_texts_begin_and_end_with_changes_no_difference(
    lead: list[str], duplicate: list[str], repeats: int
) -> None:
    around = [" ".join(["alpha beta gamma delta epsilon"] * 40 * repeats)]
    short = word_diff(" ".join(lead), " ".join(duplicate), limit=100)
    long = word_diff(" ".join(around + lead + around), " ".join(around + duplicate + around), limit=100)
    for kind in ("lead", "duplicate"):
        assert only(kind, long) == only(kind, short)


def book(*, pages: int = 300, words: int = 400) -> list[list[str]]:
    draw = Random(1)  # noqa: S311 (words of a text)
    return [[f"word{draw.randrange(5_000)}" for _ in range(words)] for _ in range(pages)]


def text(pages: list[list[str]], line: str = "\n") -> str:
    return "\f".join(" ".join(page[:50]) + line + " ".join(page[50:]) for page in pages)


@pytest.mark.slow
def test_a_difference_on_another_page_names_both_pages() -> None:
    changed = book()
    del changed[8]
    changed[99].insert(200, "not")
    assert only("page", word_diff(text(book()), text(changed))) == ["page 9:", "page 101 → 100:"]


def test_no_more_places_are_reported_than_asked_and_a_gap_says_that_there_are_more() -> None:
    lead = " ".join(f"same same same same {number}" for number in range(20))
    diff = word_diff(lead, lead.replace("1", "x"), limit=2)
    assert sum(piece.kind == "lead" for piece in diff) == 2
    assert diff[-1].kind == "gap"


TOKENS = st.lists(st.sampled_from("abcd"), max_size=80)


@given(TOKENS, TOKENS, st.integers(1, 8))
def test_each_run_holds_the_same_words_in_both_texts_and_cannot_go_on(a: list[str], b: list[str], least: int) -> None:
    for run in runs(a, b, least):
        assert run.words >= min(least, len(a), len(b))
        assert a[slice(*run.a)] == b[slice(*run.b)]
        (_, i), (_, j), _ = run
        assert a[i : i + 1] != b[j : j + 1] or i == len(a) or j == len(b)


@given(TOKENS, TOKENS, st.integers(1, 8))
def test_every_word_inside_a_long_enough_common_run_is_covered(a: list[str], b: list[str], least: int) -> None:
    size = min(least, len(a), len(b))
    shared = {tuple(b[i : i + size]) for i in range(len(b) - size + 1)} if size else set()
    starts = [i for i in range(len(a) - size + 1) if tuple(a[i : i + size]) in shared] if size else []
    places = {i for run in runs(a, b, least) for i in range(*run.a)}
    assert all(places & set(range(start, start + size)) for start in starts)


@given(TOKENS, TOKENS)
def test_blocks_hold_every_word_of_a_passage_once_and_in_order(a: list[str], b: list[str]) -> None:
    for passage in passages(runs(a, b, 3), gap=10):
        inside = list(blocks(passage, a, b))
        assert [word for block in inside for word in range(*block.a)] == list(range(*passage.a))
        assert [word for block in inside for word in range(*block.b)] == list(range(*passage.b))
        assert all((a[slice(*block.a)] == b[slice(*block.b)]) == block.is_equal for block in inside)


MANY_WORDS = st.lists(st.sampled_from([f"{a}{b}" for a in "abcdefgh" for b in "xyz"]), max_size=60)


@given(MANY_WORDS, MANY_WORDS)
def test_with_anchors_every_run_is_still_in_one_passage(a: list[str], b: list[str]) -> None:
    common = runs(a, b)
    runs_in_passages = [run for passage in align(a, b, common) for run in passage.runs]
    assert len(runs_in_passages) == len(set(runs_in_passages))
    assert set(common) <= set(runs_in_passages)


BREAKS = st.sampled_from(
    ["-\n", "-\r\n  ", "\u00ad\n", "¬\n", "-\f", " - ", "\n\n", "\f", " ", "\u00a0", "\u2019s ", "ﬁ"]
)
BROKEN_TEXTS = st.lists(BREAKS | st.text(alphabet="abcXYZ019é东ßΣ", max_size=4) | st.text(max_size=3)).map("".join)


@given(BROKEN_TEXTS)
def test_places_lie_in_the_text_and_never_run_backwards(text: str) -> None:
    offsets = token_offsets(text)
    assert offsets.tokens == tokens(text)
    assert all(0 <= start < end <= len(text) for start, end in zip(offsets.starts, offsets.ends, strict=True))
    assert offsets.starts == sorted(offsets.starts)
    assert offsets.ends == sorted(offsets.ends)


def test_what_a_comparison_says_of_misread_letters_is_what_the_decision_counted() -> None:
    random = Random(5)  # noqa: S311 - a made-up text keeps no secret
    words = "中国我们他们没有可以这个时间人民工作问题经济社会发展学生生活世界"
    text = random.choices([words[at : at + 2] for at in range(0, len(words), 2)], k=200)
    again = [random.choice("末己夫囗") + each[1] if random.random() < 0.05 else each for each in text[::-1]][::-1]
    a, b = (packed("".join(each)) for each in (text, again))
    policy = Policy(characters=Characters(unknown=0.0, misread_dense=0.0))
    evidence = some(similar_characters(a, b, policy, Guards.compare(a, b)))
    assert 0 < characters(a, b)["characters"]["unknown"] == evidence.why["unknown"] < 0.9
