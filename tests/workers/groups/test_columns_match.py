"""Joins found with all leads in columns are those that look-ups find."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.overrides import Overrides
from ibidem_engines.ledger import POLICY
from ibidem_engines.stored_groups import GroupedDocument, Name, SeqNoRange, ShardRef
from ibidem_workers.groups.settle import LeadChanged, Match, Row, Rules, StoredColumns, keeping, match_columns
from support.windows import SampleWindow, example_settings, windows
from workers.groups.test_block import rows_of

RULES = Rules(POLICY, Overrides())


def documents(rows: Sequence[Row], group: str = "") -> list[GroupedDocument]:
    """The rows as stored leads, each of a group of its own."""
    return [
        GroupedDocument(Name(*row.name, row.order), row.value, group or f"group {row.name[1]}", True, (row.order, 0))
        for row in rows
    ]


def match(stored: StoredColumns, leads: Sequence[GroupedDocument], new: Sequence[GroupedDocument]) -> Match:
    return match_columns(stored, ([leads], [new]), RULES, lambda: None)


@example_settings
@given(windows, st.integers(0, 10))
def test_new_documents_join_what_they_join_in_a_block_of_their_own(window: SampleWindow, settled: int) -> None:
    rows = rows_of(window)
    joined = {join.name for join in RULES.joins([], rows[:settled])}
    leads, block = [row for row in rows[:settled] if row.name not in joined], rows[settled:]
    with StoredColumns(len(rows)) as stored:
        found = match(stored, documents(leads), documents(block))(block, {})
    assert found == RULES.joins(leads, block)


def test_a_document_that_was_not_there_when_leads_were_read_is_outrun() -> None:
    late = Row(("news", "late"), 7, b"")
    with StoredColumns(0) as stored, pytest.raises(LeadChanged):
        match(stored, [], [])([late], {})


@example_settings
@given(windows)
def test_a_document_that_names_the_group_of_another_lead_is_nobody_s_lead(window: SampleWindow) -> None:
    rows = rows_of(window)
    with StoredColumns(len(rows)) as stored:
        found = match(stored, [], documents(rows, group="one"))(rows, {})
    assert all(join.lead == rows[0].name for join in found)


def test_new_documents_that_were_read_into_columns_are_not_read_a_second_time_as_far_as_they_may_be_kept() -> None:
    stored = documents([Row(("news", str(order)), order, b"") for order in range(1, 6)])
    reads: list[int] = []

    def read(seq_range: SeqNoRange, size: int) -> list[GroupedDocument]:
        reads.append(seq_range.after)
        return [each for each in stored if seq_range.after < each.name.order <= seq_range.end][:size]

    cached = keeping(read, room=4)
    stretches = [SeqNoRange(ShardRef("news", 0), after, 5) for after in (0, 2, 4)]
    first, second = ([cached(seq_range, 2) for seq_range in stretches] for _ in range(2))
    assert first == second == [stored[:2], stored[2:4], stored[4:]]
    assert reads == [0, 2, 4, 4]
