"""The rounds of parallel settling, in plain Python: the groups of one pass, whatever the width of rounds."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

Keys = Sequence[Mapping[int, bool]]  # the keys of each row, and whether each says little alone
Duplicate = Callable[[int, int], bool]
LEAST = 3  # keys that say little alone of which a pair shares so many, or one other


def one_pass(keys: Keys, duplicate: Duplicate, most: int) -> list[int]:
    """Let each row join the first lead that it duplicates, among the first leads of its keys."""
    holders, leads = defaultdict[int, list[int]](list), []
    for row, mine in enumerate(keys):
        shared = Counter[int]()
        for key, is_weak in mine.items():
            shared.update(dict.fromkeys(holders[key], 1 if is_weak else LEAST))
        leads.append(next((e for e in sorted(shared) if shared[e] >= LEAST and duplicate(row, e)), row))
        for key in mine if leads[row] == row else ():
            holders[key] += [row] * (len(holders[key]) < most)
    return leads


def in_rounds(keys: Keys, duplicate: Duplicate, most: int, width: int) -> list[int]:
    """Decide on the first rows of each key at once, as `ibidem_spark.rounds` does."""
    undecided, leads, follows = set(range(len(keys))), set[int](), dict[int, int]()
    held = Counter[int]()  # leads of each key
    while undecided:
        is_open = {key for row in undecided for key in keys[row] if held[key] < most}
        window = {
            key: sorted(row for row in undecided if key in keys[row])[: min(width, most - held[key])] for key in is_open
        }
        blocked = {r for r, e in pairs(keys, window, window) if duplicate(r, e)}
        complete = {row for row in undecided if all(row in window[key] for key in keys[row] if key in is_open)}
        new = complete - blocked
        leads |= new
        of_new = {key: [row for row in rows if row in new] for key, rows in window.items()}
        later = {key: [row for row in range(len(keys)) if key in keys[row] and row not in leads] for key in is_open}
        for r, e in sorted(pairs(keys, later, of_new)):
            if follows.get(r, len(keys)) > e and duplicate(r, e):
                follows[r] = e
        held.update(key for rows in of_new.items() for key in [rows[0]] * len(rows[1]))
        undecided -= new | follows.keys()
    return [follows.get(row, row) for row in range(len(keys))]


def pairs(keys: Keys, rows: Mapping[int, Sequence[int]], earlier: Mapping[int, Sequence[int]]) -> set[tuple[int, int]]:
    shared = Counter[tuple[int, int]]()
    for key in rows:
        for r in rows[key]:
            shared.update({(r, e): 1 if keys[r][key] else LEAST for e in earlier[key] if e < r})
    return {pair for pair, count in shared.items() if count >= LEAST}


@given(st.data(), st.sampled_from([1, 2, 3, 8, 64]), st.sampled_from([1, 3, 1_000]), st.sampled_from([5, 30, 60, 95]))
def test_rounds_of_any_width_find_the_groups_of_one_pass(
    data: st.DataObject, width: int, most: int, percent: int
) -> None:
    chosen = data.draw(st.lists(st.frozensets(st.integers(0, 19), max_size=8), max_size=40))
    seed = data.draw(st.integers(0, 1_000))
    keys = [{key: key >= 6 for key in mine} for mine in chosen]  # six are strong

    def duplicate(a: int, b: int) -> bool:
        return hash((seed, max(a, b), min(a, b))) % 100 < percent

    assert in_rounds(keys, duplicate, most, width) == one_pass(keys, duplicate, most)
