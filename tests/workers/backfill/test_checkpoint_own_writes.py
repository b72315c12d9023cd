"""Sequence numbers between our own writes belong to other writers."""

from itertools import permutations, product

from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.stored_groups import SeqNoRange, ShardRef
from ibidem_workers.backfill.batch import OwnWrites

PART = ShardRef("news", 1)
NUMBERS = st.lists(st.integers(1, 40), max_size=30)


@given(st.lists(NUMBERS, max_size=4), st.integers(0, 40), st.integers(0, 40))
def test_the_gaps_are_all_that_is_not_our_own(batches: list[list[int]], start: int, upto: int) -> None:
    own_writes = OwnWrites()
    for batch in batches:
        own_writes.add(PART, batch)
    own_writes.add(ShardRef("news", 2), [start, upto])  # another part has writes of its own
    gaps = [
        number for gap in own_writes.gaps(SeqNoRange(PART, start, upto)) for number in range(gap.after + 1, gap.end + 1)
    ]
    numbers = {number for batch in batches for number in batch}
    assert gaps == [number for number in range(start + 1, upto + 1) if number not in numbers]


@given(NUMBERS)
def test_writes_without_gaps_are_kept_as_one_run(numbers: list[int]) -> None:
    own_writes = OwnWrites()
    own_writes.add(PART, numbers)
    runs = sum(number - 1 not in numbers for number in set(numbers))
    assert len(own_writes._first[PART]) == len(own_writes._last[PART]) == runs


def test_all_few_writes_in_each_order_leave_the_gaps_between_them_and_no_empty_one() -> None:
    ranges = list(product(range(7), range(7)))
    for numbers in (order for size in range(5) for order in permutations(range(1, 6), size)):
        own_writes = OwnWrites()
        for number in numbers:
            own_writes.add(PART, [number, number])
        assert own_writes._first[PART] == sorted(number for number in numbers if number - 1 not in numbers)
        assert own_writes._last[PART] == sorted(number for number in numbers if number + 1 not in numbers)
        for after, end in ranges if list(numbers) == sorted(numbers) else ():
            gaps = list(own_writes.gaps(SeqNoRange(PART, after, end)))
            assert all(gap.part == PART and gap.after < gap.end for gap in gaps)
            found = [number for gap in gaps for number in range(gap.after + 1, gap.end + 1)]
            assert found == [number for number in range(after + 1, end + 1) if number not in numbers]
