"""The groups of the sequential pass, in rounds of joins by key, decisions on pairs and minima by row.

Of each key the first rows that are undecided are paired and decided on. A row leads if it is among these under all of
its keys and duplicates no earlier one. Every later row that shares keys with a new lead is decided on against it, and
keeps the least of the leads that it duplicates. Greedy independent sets have few dependences, so rounds are few
(Blelloch, Fineman and Shun, SPAA 2012). A key's first `MAX_LEADS` leads count: its window has no more rows than it may
still have leads, so that a new lead is one of the first exactly if the key is still open.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own pages call it

from ibidem_dedupe import leader_clustering
from ibidem_dedupe.candidates import TERMS
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.policy import Policy
from ibidem_spark import steps

_log = logging.getLogger(__name__)

WIDTH = 64  # undecided rows of a key that are paired at once
ROUNDS = 30  # after which the rest is settled by the sequential pass
TAIL = 1_000_000  # undecided rows that a task settles by the sequential pass
MAX_BROADCAST = 2_000_000  # rows that every executor may hold

ENTRY = "key long, row long"  # a key below zero is enough alone
DECISION = "row long, earlier long, code int"


def nearest(pairs: DataFrame) -> DataFrame:
    """Keep the first of the leads that each row duplicates."""
    return pairs.groupBy("row").agg(F.min(F.struct("earlier", "code")).alias("best")).select("row", "best.*")


def share_keys(rows: DataFrame, earlier: DataFrame) -> DataFrame:
    """Return the pairs of rows and earlier ones that share a key, or several where keys say little alone."""
    shared = rows.join(earlier.selectExpr("key", "row as earlier"), "key").where("row > earlier")
    shared = shared.where("lead is null or lead > earlier").groupBy("row", "earlier")
    strength = F.sum(F.expr(f"if(key < 0, {TERMS}, 1)")).alias("strength")
    return shared.agg(strength).where(f"strength >= {TERMS}").select("row", "earlier")


def still_open(later: DataFrame, of_new: DataFrame, found: DataFrame) -> DataFrame:
    """Return the entries that are still open: of rows that do not lead, under keys that may get further leads."""
    gained = of_new.groupBy("key").agg(F.count("*").alias("gained"))
    state = later.join(found.select("row", "earlier"), "row", "left").join(gained, "key", "left")
    leads = "cast(leads + coalesce(gained, 0) as int) as leads"
    state = state.selectExpr("key", "row", leads, "least(lead, earlier) as lead")
    state = state.where(f"leads < {leader_clustering.MAX_LEADS}")
    return state.join(state.where("lead is null").select("key").distinct(), "key", "left_semi")


def within_first(entries: DataFrame, width: int) -> DataFrame:
    """Add whether a row is among so many first ones of its key, and among those that may be leads under it."""
    place = F.row_number().over(Window.partitionBy("key").orderBy("row"))
    near = f"place <= least({width}, {leader_clustering.MAX_LEADS} - leads) as near"
    return entries.withColumn("place", place).selectExpr("key", "row", "lead", near)


def with_packed(pairs: DataFrame, packed: DataFrame) -> DataFrame:
    """Add the packed values of both rows to pairs."""
    return pairs.join(packed, "row").join(packed.toDF("earlier", "packed_earlier"), "earlier")


def run_step(frame: DataFrame, run: steps.Run, schema: str) -> DataFrame:
    """Run a step on partitions, in executors of the same version."""
    return frame.mapInArrow(steps.Step(run), schema)


def run_each(frame: DataFrame, run: Callable[[pa.RecordBatch], pa.RecordBatch], schema: str) -> DataFrame:
    """Run a step on each batch."""
    return run_step(frame, partial(map, run), schema)


def small(kept: DataFrame) -> DataFrame:
    """Let rows that were kept be handed to all executors, where they are few enough, so that others need not move."""
    return F.broadcast(kept) if kept.count() <= MAX_BROADCAST else kept


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

    def settle(self, entries: DataFrame) -> DataFrame:
        """Return the lead of each row that follows one, with the code of the evidence: row, earlier, code."""
        state = entries.selectExpr("*", "0 as leads", "cast(null as long) as lead")
        if (undecided := self.packed.count()) <= self.tail:
            return self.sequential(state, self.packed).where("row > earlier")
        found, number = [self.frame([], DECISION)], 0
        while undecided:
            number += 1
            if undecided <= self.tail or number > ROUNDS:
                _log.info("one task settles the %s documents that are left after %s rounds", undecided, number - 1)
                left = state.where("lead is null")
                packed = self.packed.join(F.broadcast(left.select("row").distinct()), "row", "left_semi")
                known = self.keep(self.sequential(left, packed), f"decided-{number}")
                new = known.where("row = earlier").select("row")
                of_new = within_first(state.join(new, "row", "left_semi"), leader_clustering.MAX_LEADS).where("near")
            else:
                new, of_new, known = self.first(state, number)
            later = state.join(new, "row", "left_anti")
            pairs = self.keep(share_keys(later, of_new).join(known, ["row", "earlier"], "left"), f"pairs-{number}")
            decided = self.decide(pairs.where("code is null")).where("code > 0")
            found.append(self.keep(nearest(decided.union(pairs.where("code > 0"))), f"follows-{number}"))
            state = self.keep(still_open(later, of_new, found[-1]), f"open-{number}")
            undecided = state.where("lead is null").select("row").distinct().count()
        return nearest(reduce(DataFrame.union, found))

    def first(self, state: DataFrame, number: int) -> tuple[DataFrame, DataFrame, DataFrame]:
        """Return new leads, their entries, and the pairs that were decided on, among the first rows of each key."""
        window = self.keep(within_first(state.where("lead is null"), self.width), f"window-{number}")
        of_first = window.where("near").drop("near")
        known = self.keep(self.decide(share_keys(of_first, of_first)), f"decided-{number}")
        complete = window.groupBy("row").agg(F.min("near").alias("near")).where("near").select("row")
        new = self.keep(complete.join(known.where("code > 0").select("row"), "row", "left_anti"), f"leads-{number}")
        return new, of_first.join(new, "row", "left_semi"), known

    def decide(self, pairs: DataFrame) -> DataFrame:
        """Decide on pairs: row, earlier, code."""
        step = partial(steps.decide, policy=self.policy, constraints=self.constraints)
        return run_each(with_packed(pairs.select("row", "earlier"), self.packed), step, DECISION)

    def sequential(self, entries: DataFrame, packed: DataFrame) -> DataFrame:
        """Settle rows in one task: row, its lead or own number as earlier, code."""
        whole = entries.selectExpr("key", "row", "leads", "cast(null as binary) as packed")
        whole = whole.union(packed.selectExpr("0L as key", "row", "0 as leads", "packed"))
        step = partial(steps.settle, policy=self.policy, constraints=self.constraints)
        return run_step(whole.coalesce(1), step, DECISION)
