"""A backfill into a new index that is killed around the move of the alias is finished by the next."""

from pathlib import Path

import pytest

from faults.table import small_table
from upgrade.killed_swap import trial
from workers.backfill.conftest import KINDS, Theirs

MOVES = "POST /_aliases"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("engine", KINDS[:1])
def test_killed_around_the_move_of_the_alias_the_same_command_ends_with_all_that_others_wrote(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    index, tables = Theirs(request.getfixturevalue(engine)), small_table(tmp_path)
    try:
        steps = trial(index, tmp_path, tables, None)
        move = steps.index(MOVES)
        for at in range(move - 2, move + 2):
            trial(index, tmp_path, tables, at)
    finally:
        index.remove()
