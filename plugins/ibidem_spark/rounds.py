"""The groups of the sequential pass, in rounds of joins by key, decisions on pairs and minima by row.

Of each key the first rows that are undecided are paired and decided on. A row leads if it is among these under all of
its keys and duplicates no earlier one. Every later row that shares keys with a new lead is decided on against it, and
keeps the least of the leads that it duplicates. Greedy independent sets have few dependences, so rounds are few
(Blelloch, Fineman and Shun, SPAA 2012). A key's first `MAX_LEADS` leads count: its window has no more rows than it may
still have leads, so that a new lead is one of the first exactly if the key is still open.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial, reduce

import numpy as np
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own pages call it

from ibidem_dedupe import leader_clustering
from ibidem_dedupe.candidates import TERMS, KeyIndex
from ibidem_dedupe.leader_clustering import LeaderClustering
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.pairs import PairClassifier
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_spark import steps

WIDTH = 64  # undecided rows of a key that are paired at once
ROUNDS = 30  # after which the rest is settled by the sequential pass
TAIL = 10_000  # undecided rows that the sequential pass settles at once, as a block of it has

ENTRY = "key long, row long, weak boolean"
MARKED = f"{ENTRY}, marked boolean"
DECIDED = "row long, earlier long, code int"


def nearest(pairs: DataFrame) -> DataFrame:
    """Keep the first of the leads that each row duplicates."""
    best = pairs.groupBy("row").agg(F.min(F.struct("earlier", "code")).alias("best"))
    return best.select("row", "best.earlier", "best.code")


def share_keys(rows: DataFrame, earlier: DataFrame) -> DataFrame:
    """Return the pairs of rows and earlier ones that share a key, or several where keys say little alone."""
    shared = rows.join(earlier.selectExpr("key", "row as earlier"), "key").where("row > earlier")
    shared = shared.where("lead is null or lead > earlier").groupBy("row", "earlier")
    strength = F.sum(F.expr(f"if(weak, 1, {TERMS})")).alias("strength")
    return shared.agg(strength).where(f"strength >= {TERMS}").select("row", "earlier")


def still_open(later: DataFrame, of_new: DataFrame, found: DataFrame) -> DataFrame:
    """Return the entries that are still open: of rows that do not lead, under keys that may get further leads."""
    gained = of_new.groupBy("key").agg(F.count("*").alias("gained"))
    state = later.join(found.select("row", "earlier"), "row", "left").join(gained, "key", "left")
    leads = "cast(leads + coalesce(gained, 0) as int) as leads"
    state = state.selectExpr("key", "row", "weak", leads, "least(lead, earlier) as lead")
    state = state.where(f"leads < {leader_clustering.MAX_LEADS}")
    return state.join(state.where("lead is null").select("key").distinct(), "key", "left_semi")


def with_packed(pairs: DataFrame, packed: DataFrame) -> DataFrame:
    """Add the packed values of both rows to pairs."""
    return pairs.join(packed, "row").join(packed.toDF("earlier", "packed_earlier"), "earlier")


def run_step(frame: DataFrame, run: steps.Run, schema: str) -> DataFrame:
    """Run a step on each batch, in executors of the same version."""
    return frame.mapInArrow(steps.Step(run), schema)


@dataclass(slots=True)
class Job:
    """Work whose results are files, so that a lost executor costs a step."""

    spark: SparkSession
    folder: str  # where these files are, for driver and executors

    def keep(self, frame: DataFrame, name: str) -> DataFrame:
        self.spark.sparkContext.setJobDescription(name)
        frame.write.mode("overwrite").parquet(f"{self.folder}/{name}")
        return self.spark.read.schema(frame.schema).parquet(f"{self.folder}/{name}")

    def frame(self, rows: Sequence[tuple[object, ...]], schema: str) -> DataFrame:
        return self.spark.createDataFrame(rows, schema)


@dataclass(slots=True)
class Rounds(Job):
    """Rounds over the keys of documents."""

    policy: Policy
    constraints: PairConstraints  # manual decisions, on pairs of rows
    packed: DataFrame  # row, packed
    width: int = WIDTH
    tail: int = TAIL
    counts: Counter[str] = field(default_factory=Counter)  # rounds, and rows that the sequential pass settled

    def settle(self, entries: DataFrame) -> DataFrame:
        """Return the lead of each row that follows one, with the code of the evidence: row, earlier, code."""
        state = self.keep(entries.selectExpr("*", "0 as leads", "cast(null as long) as lead"), "open-0")
        found = [self.frame([], DECIDED)]
        while undecided := state.where("lead is null").select("row").distinct().count():
            self.counts["rounds"] += 1
            number = self.counts["rounds"]
            is_last = undecided <= self.tail or number > ROUNDS
            new, of_new, known = self.sequential(state) if is_last else self.first(state, number)
            later = state.join(new, "row", "left_anti")
            pairs = share_keys(later, of_new).join(known, ["row", "earlier"], "left")
            pairs = self.keep(pairs, f"pairs-{number}")
            decided = self.decide(pairs.where("code is null")).where("code > 0")
            found.append(self.keep(nearest(decided.union(pairs.where("code > 0"))), f"follows-{number}"))
            state = self.keep(still_open(later, of_new, found[-1]), f"open-{number}")
        return nearest(reduce(DataFrame.union, found))

    def first(self, state: DataFrame, number: int) -> tuple[DataFrame, DataFrame, DataFrame]:
        """Return new leads, their entries, and the pairs that were decided on, among the first rows of each key."""
        place = F.row_number().over(Window.partitionBy("key").orderBy("row"))
        window = state.where("lead is null").withColumn("place", place)
        near = f"place <= least({self.width}, {leader_clustering.MAX_LEADS} - leads) as near"
        window = self.keep(window.selectExpr("key", "row", "weak", "lead", near), f"window-{number}")
        of_first = window.where("near").drop("near")
        known = self.keep(self.decide(share_keys(of_first, of_first)), f"decided-{number}")
        complete = window.groupBy("row").agg(F.min("near").alias("near")).where("near").select("row")
        new = self.keep(complete.join(known.where("code > 0").select("row"), "row", "left_anti"), f"leads-{number}")
        return new, of_first.join(new, "row", "left_semi"), known

    def decide(self, pairs: DataFrame) -> DataFrame:
        """Decide on pairs: row, earlier, code."""
        step = partial(steps.decide, policy=self.policy, constraints=self.constraints)
        return run_step(with_packed(pairs.select("row", "earlier"), self.packed), step, DECIDED)

    def sequential(self, state: DataFrame) -> tuple[DataFrame, DataFrame, DataFrame]:
        """Find the leads among the undecided rows by the sequential pass."""
        entries = state.where("lead is null").orderBy("weak", "key", "row").toPandas()
        rows = np.unique(entries["row"])
        self.counts["tail"] += len(rows)
        numbers = self.frame([(row,) for row in rows.tolist()], "row long")
        packed = {row: bytes(value) for row, value in self.packed.join(F.broadcast(numbers), "row").collect()}
        columns = PackedColumns.decode([packed[row] for row in rows.tolist()])
        local = self.constraints.renumber({row: place for place, row in enumerate(rows.tolist())})
        is_first = np.ones(len(entries), bool)
        is_first[1:] = np.diff(entries["key"].to_numpy()) != 0
        key = (np.cumsum(is_first) - 1).astype(np.int32)
        at = np.searchsorted(rows, entries["row"]).astype(np.int32)
        strong = int(key[~entries["weak"].to_numpy()].max(initial=-1)) + 1
        held = entries["leads"].to_numpy()[is_first].astype(np.int64)
        work = LeaderClustering(PairClassifier(columns, self.policy, local), held.copy())
        work.settle(KeyIndex(key, at, strong, TERMS))
        leads = entries.assign(number=key)[work.lead[at] == at]
        rank = leads.groupby("number").cumcount().to_numpy() + held[leads["number"]]
        of_new = leads[rank < leader_clustering.MAX_LEADS][["key", "row", "weak"]]
        new = self.frame([(row,) for row in rows[work.lead == np.arange(len(rows))].tolist()], "row long")
        return new, self.frame(of_new.to_records(index=False).tolist(), ENTRY), self.frame([], DECIDED)
