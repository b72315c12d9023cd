"""The parser reads a typed query as words, phrases and filters, which are marked in passages that we cut."""

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.test_contract import mark_words
from ibidem_engines.query import (
    HIGHLIGHT,
    MAX_PARENTHESES,
    MAX_WORDS,
    PASSAGE_CHARACTERS,
    Filter,
    Phrase,
    Query,
    Words,
    days,
    mark,
    parse_filter,
    parse_query,
    passage,
    searched_phrases,
)
from ibidem_ingest.dates import MONTHS, iso_range, spelled_date
from ibidem_ingest.errors import UsageError

Parts = list[list[Any]]


def meaning(typed: str) -> tuple[Parts, list[Any]]:
    query = parse_query(typed)
    return describe(query)


def describe(words: Query | Words) -> tuple[Parts, list[Any]]:
    """Write a query as it may be typed, a group as a pair."""
    return [[describe_part(part) for part in entry] for entry in words.all_of], list(map(describe_part, words.none_of))


def describe_part(part: Phrase | Words) -> Any:
    if isinstance(part, Words):
        return describe(part)
    slop = "" if part.slop is None else f"~{part.slop}"
    return f"{part.field}{':' * bool(part.field)}{part.text}{'*' * part.prefix}{slop}"


@pytest.mark.parametrize(
    ("typed", "all_of", "none_of"),
    [
        ("grain", [["grain"]], []),
        ("  Grain\t prices ", [["Grain"], ["prices"]], []),
        ('"export duty" grain', [["export duty"], ["grain"]], []),
        ("“export duty”", [["export duty"]], []),
        ('"export duty"~5', [["export duty~5"]], []),
        ('"duty"~5', [["duty"]], []),
        ('"export duty" ~5', [["export duty"], ["5"]], []),
        ('say"export duty"now', [["say"], ["export duty"], ["now"]], []),
        ("a OR b", [["a", "b"]], []),
        ("() OR a", [["a"]], []),
        ("a OR b OR c d", [["a", "b", "c"], ["d"]], []),
        ("a or b", [["a"], ["or"], ["b"]], []),
        ('"OR"', [["OR"]], []),
        ("a AND b", [["a"], ["b"]], []),
        ("a and not b", [["a"], ["and"], ["not"], ["b"]], []),
        ("a - b", [["a"], ["b"]], []),
        ("(a OR b) c", [["a", "b"], ["c"]], []),
        ("a (b (c OR d))", [["a"], ["b"], ["c", "d"]], []),
        ("a OR (b c)", [["a", ([["b"], ["c"]], [])]], []),
        ("(a NOT b) OR c", [[([["a"]], ["b"]), "c"]], []),
        ("a -(b OR c)", [["a"]], ["b", "c"]),
        ("a NOT (b c)", [["a"]], [([["b"], ["c"]], [])]),
        ("section 5(a) (b)", [["section"], ["5(a"], ["b"]], []),
        ("title:coalition", [["title:coalition"]], []),
        ("title:(a OR b) c", [["title:a", "title:b"], ["c"]], []),
        ("a -title:b", [["a"]], ["title:b"]),
        ("elect*", [["elect*"]], []),
        ('"elect*"', [["elect"]], []),
        ('a -"b c" -d', [["a"]], ["b c", "d"]),
        ("a --b", [["a"]], ["b"]),
        ("a-b", [["a-b"]], []),
        ('"a b"-c', [["a b"], ["c"]], []),
        ("don't C++ .NET #5", [["don't"], ["C"], ["NET"], ["5"]], []),
        ("titel:grain^2 gr*in~", [["titel:grain^2"], ["gr*in"]], []),
        ("हिन्दी", [["हिन्दी"]], []),
        ("a\0b", [["a"], ["b"]], []),
    ],
)
def test_words_phrases_or_and_minus_mean_something_and_nothing_else_does(
    typed: str, all_of: list[list[str]], none_of: list[str]
) -> None:
    assert meaning(typed) == (all_of, none_of)


@pytest.mark.parametrize(
    ("typed", "filters", "excluded"),
    [
        ("a date:1987..1988", [Filter("date", "1987..1988")], []),
        ("a date:[1987-03 TO 1987-06]", [Filter("date", "1987-03..1987-06")], []),
        ("a date:[1987 TO *]", [Filter("date", "1987..")], []),
        ('a source:"AT&T Inc."', [Filter("source", "AT&T Inc.")], []),
        ("a (source:AP OR source:UPI)", [Filter("source", "AP"), Filter("source", "UPI")], []),
        ("a source:(AP OR UPI)", [Filter("source", "AP"), Filter("source", "UPI")], []),
        ("a NOT language:de -meta.court:9th", [], [Filter("language", "de"), Filter("meta.court", "9th")]),
        ("source:AP", [Filter("source", "AP")], []),
    ],
)
def test_a_field_that_holds_no_words_is_a_filter(typed: str, filters: list[Filter], excluded: list[Filter]) -> None:
    query = parse_query(typed)
    assert (list(query.filters), list(query.excluded)) == (filters, excluded)
    assert describe(query)[0] == ([["a"]] if typed.startswith("a") else [])


@pytest.mark.parametrize(
    ("typed", "note"),
    [
        ("author:smith", "field 'author' does not exist"),
        ("el*ct", r"el\*ct: .*have no meaning there"),
        ("*elect", r"\*elect: .*have no meaning there"),
        ("e-mail*", r"e-mail\*: \* is allowed after one word"),
        ("grain~2", "grain~2: .*have no meaning there"),
        ("a) b", "unmatched parenthesis"),
        ('"a b', "unmatched quotation mark"),
        ("a OR -b", "OR cannot join excluded words"),
        ("a AND b OR c", "OR was applied before AND"),
        ("title: grain", "title: needs its word right behind it"),
    ],
)
def test_what_is_not_understood_is_named(typed: str, note: str) -> None:
    (text,) = parse_query(typed).notes
    assert re.search(note, text)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("a OR source:AP", "source: is in an OR with something else"),
        ("source:AP OR language:de", "is in an OR with something else"),
        ("a NOT (b source:AP)", "source: nested too deep in parentheses"),
        ("a OR (NOT b)", "only excludes"),
        ("a date:1987-13", "date=1987-13"),
        ("(" * (MAX_PARENTHESES + 1) + "a" + ")" * (MAX_PARENTHESES + 1), f"more than {MAX_PARENTHESES} parentheses"),
        ("-grain -wheat", "only excludes words; type at least one word"),
        ("a " * MAX_WORDS + "-b", f"201 words; use at most {MAX_WORDS}"),
        *((typed, "no word; type words") for typed in ("", "  ", "OR OR", '""', '"', "***", "- (", "&& ||")),
    ],
)
def test_what_no_engine_can_be_asked_is_refused_with_what_would_be_right(typed: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        parse_query(typed, ["source=Reuters"])
    assert error.value.remedy


FIELDS = r"source, language, date, id, thread, work, inclusive, current, meta\.<name>"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        *((typed, FIELDS) for typed in ("titel=x", "meta=x", "meta.=x", "Source=x", "text=x", " =x")),
        *((typed, "write FIELD=VALUE, FIELD one of source") for typed in ("", "source", "source=", "source= ")),
        *((f"date={day}", f"date={day}") for day in ("yesterday", "..", "1988..1987", "1987..never", "1987-02-30")),
        ("current=yes", "filter current=yes is not valid; write current=true or current=false"),
    ],
)
def test_a_filter_that_is_not_valid_is_refused_with_what_would_be_right(typed: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_filter(typed)


def test_as_many_words_as_engines_allow_are_asked_for_and_the_name_of_a_flag_is_a_word() -> None:
    assert len(parse_query("a " * MAX_WORDS).all_of) == MAX_WORDS
    assert parse_query("current:true").filters == ()


ENGLISH = [names.split()[0] for names in MONTHS]


@given(st.dates(date(1000, 1, 1)))
def test_every_way_of_writing_a_day_means_that_day(day: date) -> None:
    name = ENGLISH[day.month - 1]
    forms = [
        f"{day.day} {name.title()} {day.year}",
        f"{name} {day.day}, {day.year}",
        f"{day.day}. {name[:3]}. {day.year}",
        f"{day.day}.{day.month}.{day.year}",
        f"{day.year}/{day.month}/{day.day}",
        day.isoformat(),
    ]
    assert {spelled_date(each) for each in forms} == {day.isoformat()}


def test_a_month_stays_a_month_and_a_range_a_range() -> None:
    assert spelled_date("Mars 1987") == "1987-03"
    assert iso_range("March 1987..3. Juni 1987") == "1987-03..1987-06-03"


@pytest.mark.parametrize("written", ["3/4/1987", "12/11/1987"])
def test_a_day_that_may_be_the_month_is_refused_with_what_to_write(written: str) -> None:
    with pytest.raises(UsageError, match="two ways"):
        spelled_date(written)


def test_a_condition_on_a_date_is_read_so_in_a_query_too() -> None:
    (condition,) = parse_query('rent date:"3 March 1987"').filters
    assert days(condition.value) == days("1987-03-03")
    with pytest.raises(UsageError, match="date"):
        parse_query("rent date:yesterday")


FILLING = "Lorem ipsum dolor sit amet. " * 40


def cut(text: str, *phrases: str) -> str:
    return mark_words(passage(text, [Phrase(phrase) for phrase in phrases]))


@pytest.mark.parametrize(
    ("text", "phrases", "expected"),
    [
        ("The duty on Grain.", ["grain"], "The duty on [Grain]."),
        ("Grain and grains, grain-fed", ["grain"], "[Grain] and grains, [grain]-fed"),
        ("The export  duty; export: duty", ["export duty"], "The [export duty]; [export: duty]"),
        ("Au CAFÉ, au cafe\u0301", ["cafe"], "Au [CAFÉ], au [cafe]\u0301"),
        ("We don't know", ["don't"], "We [don't] know"),
        ("one two three", ["one two", "two three"], "[one two] three"),
        ("one two", ["one", "one two"], "[one] two"),
        ("ΟΔΟΣ и Ёж ß İstanbul", ["ёж"], "ΟΔΟΣ и [Ёж] ß İstanbul"),
        ("東京 grain", ["東京"], "[東京] grain"),
        ("(a+b)* .x", ["a+b"], "([a+b])* .x"),
        ("nothing here", ["grain"], "nothing here"),
        ("  text \n with\fgaps  ", ["grain"], "text with gaps"),
        ("", ["grain"], ""),
        ("grain", [], "grain"),
        ("grain", ["***"], "grain"),
        (f"a {HIGHLIGHT[0]}false{HIGHLIGHT[1]} grain", ["grain"], "a false [grain]"),
    ],
)
def test_the_words_of_a_query_are_marked(text: str, phrases: list[str], expected: str) -> None:
    assert cut(text, *phrases) == expected


def test_the_passage_begins_with_the_sentence_in_which_the_word_is() -> None:
    assert cut(f"{FILLING}The duty on grain was raised. {FILLING}", "grain").startswith("…The duty on [grain] was")


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=600),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=3),
)
def test_a_passage_is_a_part_of_the_text_with_marks_in_pairs(text: str, phrases: list[str]) -> None:
    clean = text.replace(HIGHLIGHT[0], "").replace(HIGHLIGHT[1], "")
    excerpt = passage(clean, [Phrase(phrase) for phrase in phrases])
    assert excerpt.count(HIGHLIGHT[0]) == excerpt.count(HIGHLIGHT[1])
    bare = excerpt.replace(HIGHLIGHT[0], "").replace(HIGHLIGHT[1], "")
    assert bare.removeprefix("…").removesuffix("…").strip() in " ".join(clean.split())
    assert len(bare) <= PASSAGE_CHARACTERS + 2


@pytest.mark.parametrize(
    ("typed", "marked"),
    [
        ("the court of appeal", ["court", "appeal"]),
        ("the", ["the"]),
        ('"court of appeal"', ["court of appeal"]),
        ('"appeal the court"~3', ["court", "appeal"]),
        ("of*", ["of"]),
    ],
)
def test_stop_words_are_marked_only_where_they_are_all_that_was_asked_for(typed: str, marked: list[str]) -> None:
    text = mark("the court of appeal", searched_phrases(parse_query(typed)))
    assert [part.partition(HIGHLIGHT[1])[0] for part in text.split(HIGHLIGHT[0])[1:]] == marked
