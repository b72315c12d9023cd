"""What messages show of a value is short and can be printed everywhere."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.short_repr import kind, short_repr

ANY = st.text(st.characters())


@given(ANY | st.recursive(st.none() | ANY, lambda inner: st.lists(inner) | st.dictionaries(ANY, inner)))
def test_every_value_is_shown_short_and_without_half_a_surrogate_pair(value: object) -> None:
    assert len(short_repr(value).encode()) <= 60 * 10 + 5


def test_a_type_is_named_as_json_names_it() -> None:
    named = [kind(value) for value in (None, True, 1, "a", [], (), {})]
    assert named == ["null", "true or false", "a number", "a string", "a list", "a list", "an object"]
