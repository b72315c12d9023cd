"""Labels: which pairs of documents are truly duplicates.

Two kinds of table with a header, tabs or commas between its columns: `id, cluster`, where all documents of a cluster
are duplicates of each other; and `a, b, …`, where a listed pair is one when its other columns fulfil a condition.
"""

import csv
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from pathlib import Path
from typing import TypeVar

from ibidem.grouped_search.api import format_count
from ibidem_ingest.errors import UsageError, short_repr

Pair = tuple[str, str]
Row = Mapping[str, str]
Names = TypeVar("Names", bound=tuple[str, ...])
Verdict = TypeVar("Verdict", str, bool)
Condition = tuple[tuple[str, str, float], ...]  # column, operator and number

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "=": operator.eq,
}
CLUSTERS = ("id",)
PAIRS = ("a", "b")  # the columns that name documents

MAX_CONTRADICTIONS = 10  # so many contradictions are named

_TERM = re.compile(r"\s*(\w+)\s*(>=|<=|==|=|>|<)\s*(-?\d+(?:\.\d+)?)\s*")


def parse_condition(typed: str) -> Condition:
    """Parse a condition such as `jac5>=0.5 and words_a>=50`, of which every term has to hold; an empty one has none.

    >>> parse_condition("jac5>=0.5 and words_a > 50")
    (('jac5', '>=', 0.5), ('words_a', '>', 50.0))
    """
    terms = [_TERM.fullmatch(part) for part in re.split(r"\band\b", typed)] if typed.strip() else []
    if not all(terms):
        raise UsageError(
            f"--positive {typed!r} is not valid",
            f"write COLUMN OPERATOR NUMBER, joined by `and`; the operators are {', '.join(OPERATORS)}",
        )
    return tuple((each[1], each[2], float(each[3])) for each in terms if each)


def number(row: Row, column: str, location: str) -> float:
    try:
        return float(row[column])
    except (TypeError, ValueError) as error:
        raise UsageError(f"{location}: {column} is {row[column]!r}", "it has to be a number") from error


def read_pairs(path: Path, condition: Condition, ids: Iterable[str]) -> set[Pair]:
    known_ids = set(ids)
    names, rows = read_labels(path, condition)
    table = [(where, row) for where, row in rows if known_ids.issuperset(row[name] for name in names)]
    if not table:
        raise UsageError(
            f"{path} covers none of these {len(known_ids):,} documents", "name the labels that belong to them"
        )
    if names == CLUSTERS:
        clusters: defaultdict[str, list[str]] = defaultdict(list)
        for (name,), cluster in judge_once(((row["id"],), row["cluster"], where) for where, row in table).items():
            clusters[cluster].append(name)
        return {order_pair(a, b) for members in clusters.values() for a, b in combinations(members, 2)}
    judged = (
        (
            order_pair(row["a"], row["b"]),
            all(OPERATORS[sign](number(row, column, where), bound) for column, sign, bound in condition),
            where,
        )
        for where, row in table
        if row["a"] != row["b"]
    )
    return {pair for pair, holds in judge_once(judged).items() if holds}


def judge_once(rows: Iterable[tuple[Names, Verdict, str]]) -> dict[Names, Verdict]:
    verdicts: dict[Names, tuple[Verdict, str]] = {}
    contradictions = []
    for names, verdict, location in rows:
        first, place = verdicts.setdefault(names, (verdict, location))
        if first != verdict:
            contradictions.append(f"{' and '.join(map(repr, names))} at {place} and {location}")
    if contradictions:
        rest = len(contradictions) - MAX_CONTRADICTIONS
        more = f" and {rest:,} more" if rest > 0 else ""
        raise UsageError(
            f"labels contradict each other about {'; '.join(contradictions[:MAX_CONTRADICTIONS])}{more}",
            "keep the right one of each",
        )
    return {names: verdict for names, (verdict, _) in verdicts.items()}


def labelled_ids(path: Path) -> set[str]:
    names, rows = read_labels(path, ())
    return {row[name] for _, row in rows for name in names}


MIN_LABELLED = 2  # labelled documents without which there is no pair to judge


def count_labelled(path: Path, labelled: AbstractSet[str], documents: int) -> int:
    if len(labelled) < MIN_LABELLED:
        raise UsageError(
            f"{path} has labels of {len(labelled)} of {documents:,} documents: there is no pair to judge",
            "name the labels that belong to these documents",
        )
    return len(labelled)


def read_labels(path: Path, condition: Condition) -> tuple[Sequence[str], Iterator[tuple[str, Row]]]:
    """Read a table of labels: its id columns, then each row with its line number."""
    columns, rows = read_table(path)
    names = next((kind for kind in (CLUSTERS, PAIRS) if set(kind) <= set(columns)), None)
    if names is None or (names == CLUSTERS and "cluster" not in columns):
        raise UsageError(
            f"{path}: the columns {short_repr(', '.join(columns))} are not those of labels",
            "begin with `id, cluster` or `a, b`",
        )
    if names == CLUSTERS and condition:
        raise UsageError(f"{path} lists clusters, which cannot be combined with --positive", "leave --positive out")
    for column, _, _ in condition:
        if column not in columns:
            raise UsageError(f"{path}: no column {column!r}", f"its columns are {', '.join(columns)}")
    return names, rows


def refuse_unknown(path: Path, unknown: Iterable[str]) -> None:
    """Refuse a file that names documents that do not exist."""
    if ids := sorted(unknown):
        shown = ", ".join(map(repr, ids[:MAX_CONTRADICTIONS]))
        raise UsageError(
            f"{path} names {format_count(len(ids), 'id')} that no document has: {shown}",
            "name all documents that the labels are about, or remove these lines",
        )


def order_pair(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)


def read_table(path: Path) -> tuple[Sequence[str], Iterator[tuple[str, Row]]]:
    """Read a table: its columns, then each row with its line number."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "name a table of labels") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8", "name a table with a header, in UTF-8") from error
    if not lines:
        raise UsageError(f"{path} is empty", "it has to begin with a header: `id, cluster` or `a, b`")
    delimiter = "\t" if "\t" in lines[0] else ","
    table = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL)
    columns = [name.strip() for name in next(table)]
    return columns, _rows(path, columns, table)


def _rows(path: Path, columns: Sequence[str], table: Iterable[Sequence[str]]) -> Iterator[tuple[str, Row]]:
    for line, cells in enumerate(table, 2):
        if not cells:
            continue
        if len(cells) < len(columns):
            raise UsageError(
                f"{path}:{line}: {len(cells)} columns", f"there have to be {len(columns)}, as in its header"
            )
        yield f"{path}:{line}", dict(zip(columns, (cell.strip() for cell in cells), strict=False))
