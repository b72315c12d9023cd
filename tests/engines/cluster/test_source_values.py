"""JSON keeps every byte but those of the one member that is put into it."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.cluster.source_values import members, objects, remove_member, with_member

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text().filter(lambda name: name != "ibidem"), VALUES, max_size=4)
STYLES = st.sampled_from([(", ", ": "), (",", ":"), (" ,\n ", "\t: ")])


def write_json(value: object, style: tuple[str, str], *, is_plain: bool) -> str:
    return json.dumps(value, separators=style, ensure_ascii=is_plain)


@given(OBJECTS, STYLES, st.booleans())
def test_a_new_member_changes_no_other_byte(source: dict[str, object], style: tuple[str, str], is_plain: bool) -> None:
    raw = write_json(source, style, is_plain=is_plain).encode("utf-8", "surrogatepass")
    with_it = with_member(raw, "ibidem", b'{"schema":"1"}')
    addition = b',"ibidem":{"schema":"1"}}' if source else b'"ibidem":{"schema":"1"}}'
    assert with_it == raw.rstrip()[:-1] + addition


@given(OBJECTS, STYLES, st.booleans())
def test_a_member_that_was_added_and_is_taken_out_leaves_what_was_there(
    source: dict[str, object], style: tuple[str, str], is_plain: bool
) -> None:
    raw = write_json(source, style, is_plain=is_plain).encode("utf-8", "surrogatepass")
    assert remove_member(with_member(raw, "ibidem", b'{"schema":"1"}'), "ibidem") == raw
    assert remove_member(raw, "ibidem") == raw


@given(OBJECTS, VALUES, OBJECTS, STYLES)
def test_a_member_taken_out_takes_no_other_with_it(
    before: dict[str, object], old: object, after: dict[str, object], style: tuple[str, str]
) -> None:
    after = {name: value for name, value in after.items() if name not in before}
    raw = write_json(before | {"ibidem": old} | after, style, is_plain=True)
    assert list(json.loads(remove_member(raw.encode(), "ibidem")).items()) == [*before.items(), *after.items()]


@given(OBJECTS, VALUES, OBJECTS, STYLES)
def test_a_member_that_is_there_is_replaced_in_its_place(
    before: dict[str, object], old: object, after: dict[str, object], style: tuple[str, str]
) -> None:
    after = {name: value for name, value in after.items() if name not in before}
    source = before | {"ibidem": old} | after
    raw = write_json(source, style, is_plain=True)
    assert json.loads(with_member(raw.encode(), "ibidem", b"7")) == before | {"ibidem": 7} | after
    expected = raw.replace(f'"ibidem"{style[1]}{write_json(old, style, is_plain=True)}', f'"ibidem"{style[1]}7', 1)
    assert with_member(raw.encode(), "ibidem", b"7").decode() == expected


@given(OBJECTS, STYLES)
def test_members_are_where_they_are_told_to(source: dict[str, object], style: tuple[str, str]) -> None:
    raw = write_json(source, style, is_plain=True)
    assert {name: json.loads(raw[begin:end]) for name, (begin, end) in members(raw)} == source


@given(st.lists(OBJECTS.filter(bool), max_size=4), STYLES)
def test_the_members_of_each_object_of_an_array_are_at_the_places_that_are_named(
    sources: list[dict[str, object]], style: tuple[str, str]
) -> None:
    raw = write_json(sources, style, is_plain=True)
    places = [{name: json.loads(raw[begin:end]) for name, (begin, end) in spans.items()} for spans in objects(raw, 0)]
    assert places == sources


def test_numbers_that_no_float_holds_stay_as_they_are() -> None:
    raw = b'{"price": 1.50, "exact": 12345678901234567890.123456789, "large": 1E400}'
    assert with_member(raw, "ibidem", b"{}") == raw[:-1] + b',"ibidem":{}}'
