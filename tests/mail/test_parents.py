"""Whom a mail answers: by its head, by what it quotes, or by subject, people and time."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_mail.forest import Forest
from ibidem_mail.parents import Parents, break_circles, thread_mails
from mail.letters import LEASE, PAID, ROOF, answer, mail
from support.examples import examples


def find(*batches: Sequence[Document]) -> dict[str, tuple[str | None, str | None]]:
    parents = Parents()
    for documents in batches:
        parents.add(thread_mails(documents))
    return {row.id: (row.parent, row.by) for row in Forest.grow(parents).rows()}


def test_the_head_decides_where_it_names_a_mail_that_is_there() -> None:
    found = find([mail("a", LEASE, number="1"), mail("b", answer(ROOF, PAID), parent="1"), mail("c", PAID)])
    assert found["b"] == ("a", "headers")
    assert found["a"] == (None, None)


def test_without_a_head_the_mail_that_is_quoted_is_answered() -> None:
    first, second = mail("a", LEASE, hour=1), mail("b", answer(ROOF, LEASE), hour=2, subject="Re: lease")
    third = mail("c", answer(PAID, answer(ROOF, LEASE)), hour=3, subject="another thing")
    assert find([third, second, first]) == {
        "a": (None, None),
        "b": ("a", "quotation"),
        "c": ("b", "quotation"),
    }


def test_a_quoted_mail_that_is_not_there_is_passed_over_for_the_one_that_it_quotes() -> None:
    third = mail("c", answer(PAID, answer(ROOF, LEASE)), hour=3)
    assert find([mail("a", LEASE, hour=1), third])["c"] == ("a", "quotation")


def test_an_answer_of_one_subject_to_its_author_is_found_last() -> None:
    first = mail("a", "Is it due?", hour=1)
    second = mail("b", "Yes.", hour=2, sender="bob@example.org", to="ann@example.org", subject="AW: lease")
    other = mail("c", "Yes.", hour=3, sender="bob@example.org", to="eve@example.org", subject="AW: lease")
    found = find([first, second, other])
    assert found["b"] == ("a", "subject")
    assert found["c"] == (None, None)


def test_mails_that_come_later_find_their_place() -> None:
    mails = [mail("a", LEASE, hour=1), mail("b", answer(ROOF, LEASE), hour=2)]
    mails.append(mail("c", answer(PAID, answer(ROOF, LEASE)), hour=3))
    assert find([mails[2]], [mails[1]], [mails[0]]) == find(mails)
    headed = [mail("a", LEASE, number="1"), mail("b", ROOF, number="2", parent="1")]
    assert find([headed[1]], [headed[0]])["b"] == ("a", "headers")


def test_a_circle_of_references_is_cut_at_its_earliest_mail() -> None:
    found = find([mail(f"{at}", ROOF, number=f"{at}", parent=f"{(at + 1) % 3}", hour=at) for at in range(3)])
    assert found["0"] == (None, None)
    assert [found["1"][0], found["2"][0]] == ["2", "0"]
    assert find([mail("a", LEASE, number="1", parent="1")])["a"] == (None, None)


def test_thousands_of_mails_of_one_subject_are_each_taken() -> None:
    found = find([mail(f"{at}", f"note {at}", hour=at % 600, subject="Re: lease") for at in range(10_000)])
    assert len(found) == 10_000


PLACES = st.lists(st.integers(-1, 7), min_size=8, max_size=8)


@given(PLACES, st.permutations(range(8)), st.sets(st.integers(1, 7)), st.booleans())
@settings(max_examples=examples(100))
def test_mails_that_heads_name_have_one_place_in_whatever_order_and_portions_they_arrive(
    answered: list[int],
    order: list[int],
    cuts: set[int],
    quotes: bool,
) -> None:
    """Heads name earlier mails, later ones, the mail itself, or (`-1`) none."""
    mails = [
        mail(
            f"{at}",
            answer(f"{ROOF} {at}", LEASE) if quotes and parent >= 0 else f"{LEASE} {at}",
            number=f"{at}",
            parent=f"{parent}" if parent >= 0 else "",
            hour=at,
            subject=f"house {at}",
        )
        for at, parent in enumerate(answered)
    ]
    shuffled = [mails[at] for at in order]
    ends = sorted(cuts)
    portions = [shuffled[start:end] for start, end in zip([0, *ends], [*ends, 8], strict=True)]
    headed = [name for name, (_, by) in find(mails).items() if by == "headers"]
    found, whole = find(*portions), find(mails)
    assert [found[name] for name in headed] == [whole[name] for name in headed]


@given(st.permutations(range(6)))
@settings(max_examples=examples(50))
def test_a_whole_pass_finds_the_same_parents_by_quotation_in_whatever_order_the_mails_are(order: list[int]) -> None:
    texts = [LEASE]
    for at in range(1, 6):
        texts.append(answer(f"{ROOF} {at}" if at % 2 else f"{PAID} {at}", texts[at - 1]))
    mails = [mail(f"{at}", text, hour=at) for at, text in enumerate(texts)]
    assert find([mails[at] for at in order]) == find(mails)


@given(st.lists(st.integers(0, 11), min_size=12, max_size=12))
@settings(max_examples=examples(200))
def test_no_mail_answers_itself_once_circles_are_cut(parents: list[int]) -> None:
    order = [(float(each % 3), each) for each in range(12)]
    trees: list[int | None] = list(parents)
    for each in break_circles(trees, order):
        trees[each] = None
    for start in range(12):
        at: int | None = start
        for _ in range(13):
            at = at if at is None else trees[at]
        assert at is None


def test_of_heads_alone_a_parent_is_the_named_mail_or_else_the_known_one() -> None:
    mails = [
        mail("a", LEASE, number="a"),
        mail("b", answer(ROOF, LEASE), number="b", parent="a"),
        mail("c", answer(PAID, LEASE), number="c", parent="gone"),
        mail("d", answer(PAID, LEASE)),
        mail("e", answer(ROOF, LEASE)),
    ]
    parents = Parents.of_heads(
        thread_mails(mails), {"b": ("e", "quotation"), "c": ("a", "quotation"), "e": ("x", "subject")}
    )
    assert parents.parent == [None, 0, 0, None, None]
    assert parents.by == [None, "headers", "quotation", None, None]
