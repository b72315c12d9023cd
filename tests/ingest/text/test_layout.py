"""Thousands marks, spaced-out print, line numbers and passages of unlike documents are left out of what is compared."""

import re
import shutil
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.errors import TableError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures.sign import sign_batch, sign_columns, sign_one
from ibidem_ingest.text.layout import remove_layout
from ibidem_ingest.text.passages import find_passages
from ibidem_ingest.text.tokens import tokens, tokens_and_signs
from ibidem_ingest.text.word_hash import shingles, wh1
from support.general_tables import general_tables
from support.packed_texts import packed
from support.some import some

MARKS = ",.'\N{RIGHT SINGLE QUOTATION MARK}"
BLANKS = "\N{NO-BREAK SPACE}\N{FIGURE SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}"
PLEADING = [f"the {word} of the carrier is not what the statute asks of {word}" for word in "abcdefghijklmnopqrst"]
FIGURES = ["1", "2", "7", "8", "9", "12", "123", "200", "1,200", "12.345.678", "0,123", "1'200,5", "1,200²"]
LETTERS = [*"abIæßéäЖя日約円ª»ﬁ½:|(\xd7", "\xd7y", "U.S.", "x-"]
pieces = st.sampled_from(FIGURES + LETTERS)
gaps = st.sampled_from([" ", " ", " ", "  ", "\n", "-\n", "\f", "", ",", *BLANKS, "\u00ad", "\u0301"])
laid_out = st.lists(st.tuples(pieces, gaps), max_size=40).map(lambda several: "".join(map("".join, several)))
lines = st.lists(st.text("ab .-,\n12", max_size=60), min_size=1, max_size=30)


def number(several: list[str], first: int, form: str) -> str:
    return "".join(form.format(n, line) for n, line in enumerate(several, first))


numbered = st.builds(
    number, lines, st.integers(0, 60), st.sampled_from(["{} {}\n", "{1} {0}\n", "{}: {}\f", "{1} {0} "])
)


def words(text: str) -> list[str]:
    return tokens_and_signs(remove_layout(text))[0]


@given(st.lists(laid_out | numbered, min_size=1, max_size=4))
@example(["1'200,5\x0c1,200 ", "2,5 1,200"])
@pytest.mark.slow
def test_a_batch_reads_layout_as_plain_python_does(texts: list[str]) -> None:
    several = [Document("a", text) for text in texts]
    assert sign_columns(several, None).rows() == [sign_one(document, None) for document in several]


@given(st.integers(0, 10**12 - 1), st.sampled_from(MARKS + BLANKS))
def test_a_figure_is_one_word_with_marks_and_without(figure: int, mark: str) -> None:
    assert words(f"of {figure:,} tons".replace(",", mark)) == ["of", str(figure), "tons"]


@given(st.integers(0, 10**12 - 1), st.integers(0, 99), st.sampled_from(["{:,}.{:02}", "{:,}-{:02}", "${:,}/{:02}"]))
def test_what_follows_a_figure_is_a_word_of_its_own(figure: int, decimals: int, form: str) -> None:
    assert words(form.format(figure, decimals)) == [str(figure), f"{decimals:02}"]


@pytest.mark.parametrize(
    "text", ["0,200", "1234,567", "1,20", "1,2000", "a1,200", "1,200km", "1, 200", "1 200", "1.2.1987"]
)
def test_other_marks_part_words(text: str) -> None:
    assert len(words(text)) > 1


@pytest.mark.slow
def test_figures_with_other_marks_are_told_apart() -> None:
    seen: dict[str, object] = {}
    for characters in product("1, ", repeat=7):
        text = "".join(characters)
        written = (
            re.findall("1+", text),
            [len(re.findall("1+", text[: at.start()])) for at in re.finditer("(?<=1),(?=1)", text)],
        )
        assert seen.setdefault(repr(tokens_and_signs(text)), written) == written


@pytest.mark.parametrize(("spaced", "word"), [("S p e r r e", "sperre"), ("д л я", "для"), ("e é à", "eea")])
def test_spaced_out_print_is_a_word(spaced: str, word: str) -> None:
    assert words(f"The {spaced}, now") == ["the", word, "now"]


@pytest.mark.parametrize("form", ["{} {}\n", "{1} {0}\n", "{1} {0} ", "{:2}:   {}\n", "{}\n{}\n"])
@pytest.mark.parametrize("first", [1, 26, 50])
def test_line_numbers_are_left_out(form: str, first: int) -> None:
    plain = "\n".join(PLEADING)
    assert words(number(PLEADING, first, form)) == words(plain)
    assert words("\f".join(number(PLEADING[at : at + 10], first, form) for at in (0, 10))) == words(plain)


@pytest.mark.parametrize("text", ["a b", "I am", "U. S. A.", "a  b  c", "日 本 語", "1 2 3 4", "1 2 3 4 5 6 7 8 9"])
def test_other_single_letters_and_numbers_stay(text: str) -> None:
    several = text, number(PLEADING[:7], 1, "{} {}\n"), number(PLEADING, 1, "{}. {}\n")
    assert tuple(map(remove_layout, several)) == several


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("\n".join(PLEADING), number(PLEADING, 1, "{} {}\n")),
        (" ".join(f"{n * 37:,} tons" for n in range(90, 150)), " ".join(f"{n * 37} tons" for n in range(90, 150))),
        (" ".join(PLEADING), " ".join(PLEADING).replace("statute", "s t a t u t e")),
    ],
)
def test_they_are_near_and_never_identical(a: str, b: str) -> None:
    assert some(decide(packed(a), packed(b), Policy())).level == "near"


NAMES = ["bees", "sleep", "router", "glass", "vaccine", "ferry"]


def words_of(name: str, count: int) -> str:
    """Return words_of that no other text has."""
    return " ".join(f"{name}{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(count))


OPENING, CLOSING = words_of("opening", 60), words_of("closing", 50)
TALKS = [Document(name, f"{OPENING} {words_of(name, 30)}. {CLOSING}", language="en") for name in NAMES]


def test_the_frame_of_unlike_documents_is_found() -> None:
    found = find_passages(TALKS)
    assert [(each.words, each.documents) for each in found.passages] == [(60, 6), (50, 6)]
    assert found.passages[0].text.split() == OPENING.split()[:12]


def test_the_frame_is_sought_in_each_source() -> None:
    sources = [Document(each.id, each.text, source=each.id) for each in TALKS]
    assert not find_passages(sources).passages


STORY = words_of("story", 200)


@pytest.mark.parametrize(
    "texts",
    [
        [STORY] * 40,
        [f"{words_of(f'desk{number}', 8)} {STORY}" for number in range(40)],
        [
            *(f"{words_of(f'desk{number}', 30)} {STORY}" for number in range(40)),
            *(words_of(f"other{number}", 50) for number in range(160)),
        ],
        [" ".join([STORY, *(words_of(f"clause{each}", 30) for each in range(number))]) for number in range(9)],
        [words_of(name, 200) for name in NAMES],
        [],
    ],
    ids=["copies", "copies with a line of their own", "with a paragraph", "versions", "unlike", "none"],
)
def test_what_copies_and_versions_share_is_no_frame(texts: list[str]) -> None:
    assert not find_passages([Document(f"{number}", text) for number, text in enumerate(texts)]).passages


def copied_tables(folder: Path) -> Path:
    """Copy the general English table, which takes half a second to build."""
    assert general_tables().of("en")
    return Path(shutil.copytree(general_tables().folder, folder))


ENGLISH = tokens("about above after again against all always among another around ask away back because before began")


def test_nothing_is_left_out_where_many_look_misread(tmp_path: Path) -> None:
    opening = " ".join(ENGLISH * 2)
    own = [Random(number).choices(ENGLISH, k=40) for number in range(200)]  # noqa: S311 - texts
    clean = [Document(f"{at}", f"{opening} {' '.join(each)}", language="en") for at, each in enumerate(own)]
    misread = [
        replace(each, text=each.text + "".join(f" {word[::-1]}q" for word in own[at])) for at, each in enumerate(clean)
    ]
    for share, is_left_out in ((0, True), (10, True), (100, False)):
        tables = Tables(copied_tables(tmp_path / f"{share}"), "talks")
        assert bool(tables.look_through([*misread[:share], *clean[share:]])) == is_left_out


def test_a_list_is_of_one_index_and_is_kept_until_another_table_is_used(tmp_path: Path) -> None:
    folder = copied_tables(tmp_path / "own")
    tables = Tables(folder, "talks")
    general = some(tables.of("en"))
    passages = tables.look_through(TALKS, "talks")
    reopened = Tables(folder, "talks")
    own = some(reopened.of("en"))
    assert (own.name != general.name, reopened.passages(own), reopened.current()) == (True, passages, {"en": own.name})
    assert Tables(folder, "other").of("en").name == general.name
    assert not reopened.look_through(TALKS)
    reopened.use(own)
    assert Tables(folder, "other").of("en").name == own.name
    reopened.use(general)
    assert Tables(folder, "talks").of("en").name == general.name
    for damage in (b"no JSON", b"{}", b'{"table": "a", "runs": ["b"], "passages": []}'):
        (folder / f"{own.name}.passages").write_bytes(damage)
        with pytest.raises(TableError, match="sign the index again"):
            Tables(folder).named(own.name)


WORDS = [a + b + c for a in "bcdfgh" for b in "aeiou" for c in "lmnrst"]
TABLE = Table.build("en", 10**6, {word: 5.0 * 1.1**place for place, word in enumerate(WORDS)}, "a test")
word = st.sampled_from([*WORDS[:12], "12", "émeute", "un-\nbroken", "\f"])
text = st.lists(word, max_size=60).map(" ".join)


@given(st.lists(text, min_size=1, max_size=4), st.lists(text, max_size=2), st.integers(0, 30))
@example(["", "bal " * 22], [], 28)
def test_a_batch_signs_without_passages_as_plain_python_does(texts: list[str], own: list[str], tail: int) -> None:
    frame = " ".join(WORDS[20:60])
    documents = [Document("a", f"{frame} {each} {frame} {' '.join(WORDS[:tail])}") for each in chain(texts, own)]
    runs = shingles([wh1(each) for each in chain(tokens(frame), *map(tokens, texts[:1]))])
    table = TABLE.without(np.unique(np.array(runs, np.uint64)))
    assert sign_batch(documents, table) == [sign_one(document, table) for document in documents]
