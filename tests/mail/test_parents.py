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
