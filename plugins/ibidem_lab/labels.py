"""Labels: which pairs of documents are truly duplicates.

Two kinds of table with a header, tabs or commas between its columns: `id, cluster`, where all documents of a cluster
are duplicates of each other; and `a, b, …`, where a listed pair is one when its other columns fulfil a condition.
"""

import csv
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TypeVar

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
        remedy = f"write COLUMN OPERATOR NUMBER, joined by `and`; the operators are {', '.join(OPERATORS)}"
        raise UsageError(f"--positive {typed!r} is not valid", remedy)
    return tuple((each[1], each[2], float(each[3])) for each in terms if each)


def number(row: Row, column: str, location: str) -> float:
    try:
        return float(row[column])
    except (TypeError, ValueError) as error:
        raise UsageError(f"{location}: {column} is {row[column]!r}", "it has to be a number") from error


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    path: Path
    condition: Condition  # which listed pairs are duplicates; empty: all are
    names: Sequence[str]  # the columns that name documents: `CLUSTERS` or `PAIRS`
    rows: Sequence[tuple[str, Row]]  # each with its line number

    @classmethod
    def read(cls, path: Path, positive: str = "") -> "Labels":
        """Read a table of labels, with a condition on the columns of a pair, such as `jac5>=0.5`."""
        condition = parse_condition(positive)
        columns, rows = read_table(path)
        names = next((kind for kind in (CLUSTERS, PAIRS) if set(kind) <= set(columns)), None)
        if names is None or (names == CLUSTERS and "cluster" not in columns):
            what = f"{path}: the columns {short_repr(', '.join(columns))} are not those of labels"
            raise UsageError(what, "begin with `id, cluster` or `a, b`")
        if names == CLUSTERS and condition:
            raise UsageError(f"{path} lists clusters, which cannot be combined with --positive", "leave --positive out")
        for column, _, _ in condition:
            if column not in columns:
                raise UsageError(f"{path}: no column {column!r}", f"its columns are {', '.join(columns)}")
        return cls(path, condition, names, list(rows))

    @property
    def ids(self) -> set[str]:
        return {row[name] for _, row in self.rows for name in self.names}

    def pairs(self, ids: Collection[str]) -> set[Pair]:
        """Return the pairs of some documents that are duplicates."""
        known_ids = set(ids)
        table = [(where, row) for where, row in self.rows if known_ids.issuperset(row[name] for name in self.names)]
        if not table:
            what = f"{self.path} covers none of these {len(known_ids):,} documents"
            raise UsageError(what, "name the labels that belong to them")
        if self.names == CLUSTERS:
            clusters: defaultdict[str, list[str]] = defaultdict(list)
            for (name,), cluster in judge_once(((row["id"],), row["cluster"], where) for where, row in table).items():
                clusters[cluster].append(name)
            return {order_pair(a, b) for members in clusters.values() for a, b in combinations(members, 2)}
        judged = (
            (
                order_pair(row["a"], row["b"]),
                all(OPERATORS[sign](number(row, column, where), bound) for column, sign, bound in self.condition),
                where,
            )
            for where, row in table
            if row["a"] != row["b"]
        )
        return {pair for pair, holds in judge_once(judged).items() if holds}

    def count(self, ids: AbstractSet[str]) -> int:
        """Count the documents that have labels, of which there have to be two to judge a pair."""
        if (labelled := len(self.ids & ids)) < MIN_LABELLED:
            what = f"{self.path} has labels of {labelled} of {len(ids):,} documents: there is no pair to judge"
            raise UsageError(what, "name the labels that belong to these documents")
        return labelled


MIN_LABELLED = 2  # labelled documents without which there is no pair to judge


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
        what = f"labels contradict each other about {'; '.join(contradictions[:MAX_CONTRADICTIONS])}{more}"
        raise UsageError(what, "keep the right one of each")
    return {names: verdict for names, (verdict, _) in verdicts.items()}


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
            remedy = f"there have to be {len(columns)}, as in its header"
            raise UsageError(f"{path}:{line}: {len(cells)} columns", remedy)
        yield f"{path}:{line}", dict(zip(columns, (cell.strip() for cell in cells), strict=False))
