"""A group as it is shown: its lead, those that follow, and how many are kept out of sight."""

import pytest

from ibidem.dedupe.request import parse_request
from ibidem.dedupe.window import Window
from ibidem.grouped_search.groups import build_groups
from ibidem_ingest.pairs.decision import Policy
from support.windows import Made, signatures, value

COPY, OTHER = signatures(1), signatures(2)
DATES = ["1987-03-05", "1987-03-01", "1987-03-09", "1987-03-20"]
WINDOW = Window.of(
    Made(
        [
            value(COPY, "0", DATES[0]),
            value(OTHER, "1"),
            value(COPY, "2", DATES[1]),
            value(COPY, "3", DATES[2]),
            value(COPY, "4", DATES[3]),
        ]
    ).hits,
    Policy(),
)


def test_duplicates_follow_in_rank_order_and_the_group_keeps_its_place() -> None:
    latest, alone = build_groups(WINDOW, [0, 1], parse_request({"dedupe": "indent", "dedupe_keep": "latest"}))
    assert (latest.first, latest.lead, latest.duplicates) == (0, 4, (0, 2, 3))
    assert (alone.size, alone.listed) == (1, (1,))


def test_the_lead_is_chosen_within_the_step_in_which_the_group_began() -> None:
    asked = {"dedupe": "indent", "dedupe_keep": "latest", "dedupe_window": 4}
    (group,) = build_groups(WINDOW, [0], parse_request(asked))
    assert (group.lead, group.size) == (3, 4)


@pytest.mark.parametrize(("most", "listed"), [(0, (0,)), (2, (0, 2, 3)), (9, (0, 2, 3, 4))])
def test_no_more_duplicates_are_shown_than_asked_for_and_all_are_counted(most: int, listed: tuple[int, ...]) -> None:
    (group,) = build_groups(WINDOW, [0], parse_request({"dedupe": "collapse", "dedupe_max_per_group": most}))
    assert group.listed == listed
    assert group.size == 4
