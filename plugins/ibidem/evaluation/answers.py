"""Table of answers: the pairs that a person judged, one per line, with the columns `a, b, duplicate`."""

import csv
from collections.abc import Collection as Ids
from pathlib import Path

from ibidem.evaluation.labels import Pair, judge_once, order_pair, read_table, refuse_unknown
from ibidem_ingest.errors import UsageError

COLUMNS = ("a", "b", "duplicate")
VERDICTS = {"1": True, "0": False}


def read_answers(path: Path, ids: Ids[str]) -> dict[Pair, bool]:
    """Read the answers so far; empty if there is no table yet."""
    if not path.exists():
        return {}
    columns, rows = read_table(path)
    if not set(COLUMNS) <= set(columns):
        raise UsageError(
            f"{path}: the columns {', '.join(columns)} are not those of answers",
            f"name a new file, or a table with the columns {', '.join(COLUMNS)}",
        )
    judged = []
    for location, row in rows:
        if row["duplicate"] not in VERDICTS:
            raise UsageError(f"{location}: duplicate is {row['duplicate']!r}", "it has to be 1 or 0")
        judged.append((order_pair(row["a"], row["b"]), VERDICTS[row["duplicate"]], location))
    known = set(ids)
    refuse_unknown(path, {name for pair, _, _ in judged for name in pair} - known, "answers")
    return judge_once(judged)


def add_answer(path: Path, pair: Pair, *, is_duplicate: bool) -> None:
    """Append an answer to the table, creating it with the first one."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        if is_new:
            table.writerow(COLUMNS)
        table.writerow((*pair, int(is_duplicate)))
