"""All documents settled again on Spark: read once at a point in time, grouped in rounds, written by a plan.

The plan has every document whose group changes, in the state in which it was read. It is complete before the first
write; whoever goes on after a driver that ended writes the rest of that plan.
"""

import logging
import os
import re
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyspark
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own pages call it

from ibidem_core.errors import NoIndex, Permanent, Unavailable
from ibidem_core.settings import load
from ibidem_dedupe import evidence
from ibidem_dedupe.collection import PARTNERS, RUNS_ALONE, CollectionFigures, least_long_slots
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.policy import Policy
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.cluster.groups import ClusterGroups
from ibidem_engines.connect import open_engine
from ibidem_engines.ledger import SIGN_AGAIN, GroupCheckpoint
from ibidem_engines.stored_groups import (
    Assignment,
    GroupedDocument,
    Marks,
    Name,
    SeqNoRange,
    ShardRef,
    marks_as_record,
    new_group,
)
from ibidem_ingest.distribution import install_command
from ibidem_ingest.errors import IbidemError, UsageError
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_ingest.signatures.schema import SLOTS
from ibidem_spark import steps
from ibidem_spark.rounds import ENTRY, TAIL, WIDTH, Job, Rounds, run_each, run_step, small, with_packed
from ibidem_spark.steps import ARRAYS, EXPORT_ROW, FIELDS, ORDER_BITS, PLAN, STATE_FIELDS, Batches, TermCounts
from ibidem_workers.groups.follower import Follower, Report, revisit
from ibidem_workers.groups.settle import SLICE, Rules, Settler, promote, read_slices, ref

_log = logging.getLogger(__name__)

RANGE = 50_000  # writes that a task reads
ROWS = 200_000  # rows of a partition
WRITE = 2_000  # documents that are written at once
LEASE_INTERVAL = 5.0  # seconds between two looks at the lease

DOCUMENT = f"{PLAN}, content long, words boolean, block int, misread int, long int, guarded boolean, damaged boolean"
EXPORT = "ibidem groups --packed --export FILE.parquet"
Points = tuple[tuple[ShardRef, str], ...]  # a point in time of each part
NO_TERMS = np.empty(0, np.int64), np.empty(0, np.int64)

# Settings of Spark that its page and its log of events show, with the environment of executors.
EXPOSED_SETTINGS = re.compile(r"spark\.(executorEnv|yarn\.appMasterEnv|kubernetes\.driverEnv)\.IBIDEM_")
OURS: Mapping[str, type[IbidemError]] = {each.__name__: each for each in (NoIndex, Permanent, Unavailable, UsageError)}
ERROR = re.compile(rf"\b({'|'.join(OURS)}): ([^\n]+)")
END_MESSAGES = "masters are unresponsive", "SparkContext was shut down", "stopped SparkContext", "None.org.apache.spark"


@lru_cache(maxsize=4)
def store_of(index: str, points: Points = ()) -> ClusterGroups:
    """Open the stored groups of an index in an executor, whose environment has the address and its credentials."""
    if not isinstance(engine := open_engine(load().engine, index), ClusterEngine):  # the default, in a file
        raise UsageError("an executor has no address of the cluster", "set IBIDEM_ENGINE in the executors' environment")
    return engine.groups(dict(points))


def read_documents(batches: Batches, index: str, points: Points, ranges: Sequence[tuple[int, SeqNoRange]]) -> Batches:
    """Read ranges of writes at a point in time."""
    store = store_of(index, points)
    for place, seq_range in (ranges[number] for batch in batches for number in batch["id"].to_pylist()):
        for documents in read_slices(store.documents, [seq_range], SLICE):
            yield add_figures(steps.table(steps.stored(place, documents)))


def add_figures(batch: pa.RecordBatch) -> pa.RecordBatch:
    return steps.table({name: batch[name] for name in FIELDS} | steps.figures(steps.decode(batch["packed"])))


def open_export(spark: SparkSession, path: str, engine: ClusterEngine) -> tuple[DataFrame, dict[str, int]]:
    """Open what `ibidem groups --packed` wrote of these indexes, with the last write of each part that it has."""
    try:
        found = spark.read.schema(EXPORT_ROW).parquet(path)
        parts = found.select("part", "uuid", "end").distinct().collect()
    except (PySparkException, Py4JError) as error:
        raise UsageError(f"{path} cannot be read as an export", f"write it with: {EXPORT}") from error
    uuids = engine.groups().uuids()
    if not parts or any(not part or uuids.get(ShardRef.parse(part).index) != uuid for part, uuid, _ in parts):
        raise UsageError(f"{path} is not an export of {engine.index!r} as it is now", f"export it again: {EXPORT}")
    return found, {part: end for part, _, end in parts}


def name_groups(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = {name: batch[name] for name in FIELDS}
    return steps.table(columns | {"group": [new_group() for _ in range(len(batch))], "lead": [True] * len(batch)})


def write_groups(batches: Batches, index: str) -> Batches:
    """Write groups onto the states that were read; yields the rows whose document has changed since."""
    store = store_of(index)
    for part in (batch.slice(start, WRITE) for batch in batches for start in range(0, len(batch), WRITE)):
        changes = []
        for each in part.to_pylist():
            name = Name(each["index"], each["id"], each["row"] & ((1 << ORDER_BITS) - 1), each["routing"])
            document = GroupedDocument(name, each["packed"], "", state=(each["seq"], each["term"]), lead=False)
            changes.append(Assignment(document, each["group"], lead=each["lead"], settled=True))
        written = store.assign(changes)
        if not all(written):  # an attempt before this one may have written it
            store.newest()
            now = {ref(each): (each.group, each.lead) for each in store.read([ref(each.document) for each in changes])}
            is_lost = [now.get(ref(each.document)) != (each.group, each.lead) for each in changes]
            yield steps.table({"row": part["row"].filter(pa.array(is_lost))})


@contextmanager
def beating(spark: SparkSession, report: Report) -> Iterator[None]:
    """Renew the lease on settling while jobs run; they end where another process has taken it."""
    ended, failures = threading.Event(), list[BaseException]()

    def beat() -> None:
        try:
            while not ended.wait(LEASE_INTERVAL):
                report(0)
        except Exception as error:  # noqa: BLE001 - raised in the other thread
            failures.append(error)
            spark.sparkContext.cancelAllJobs()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    except Exception as error:
        raise (failures or [error])[0] from error
    finally:
        ended.set()
        thread.join()


@contextmanager
def open_session(master: str) -> Iterator[SparkSession]:
    """Open a session of Spark; an empty master leaves it to `spark-submit`."""
    if not pyspark.__version__.startswith("4."):
        raise UsageError(f"PySpark {pyspark.__version__} is not supported", install_command("spark"))
    if not shutil.which(f"{home}/bin/java" if (home := os.environ.get("JAVA_HOME")) else "java"):
        raise UsageError("Spark needs Java", "install Java 17 or 21, and name its folder in JAVA_HOME")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("ibidem regroup").config("spark.ui.showConsoleProgress", "false")
    if master.startswith("local"):  # plans are compiled for one run: what Java's second compiler costs is not earned
        builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
    try:
        with (builder.master(master) if master else builder).getOrCreate() as spark:
            spark.sparkContext.setLogLevel("ERROR")
            if shown := [name for name, _ in spark.sparkContext.getConf().getAll() if EXPOSED_SETTINGS.match(name)]:
                raise UsageError(f"{shown[0]}: Spark shows its settings", "set it in the executors' environment")
            yield spark
    except (PySparkException, Py4JError) as error:
        raise as_ours(str(error)) from error


def as_ours(text: str) -> IbidemError:
    """Return the error of ours that a step raised in an executor; else one that has Spark's last line."""
    if found := ERROR.search(text):
        what, _, remedy = found[2].rpartition("; ")
        return OURS[found[1]](what, remedy)
    if any(sign in text for sign in END_MESSAGES):
        return Unavailable("Spark's master does not answer, or has ended", "start it, or name another after --spark")
    last = re.findall(r"^(?!\s+at |\s*\.\.\.)\s*(\S.*)$", text, re.MULTILINE)[-1]
    return Permanent(f"Spark: {last}", "nothing is written by halves: run it again")


@dataclass(slots=True)
class SparkSettling(Job):
    """Settles all documents of an index on Spark, in place of `follower.settle_everything`."""

    engine: ClusterEngine
    sizes: tuple[int, int] = (WIDTH, TAIL)  # of `Rounds`
    exported: tuple[DataFrame, dict[str, int]] | None = None  # all documents; they are read from the index without it

    def __call__(self, follower: Follower, settler: Settler, checkpoint: GroupCheckpoint, end: Marks) -> None:
        """Settle all documents again, and record this in the checkpoint."""
        with beating(self.spark, follower.tell):
            if (found := self.find_plan(checkpoint)) is None:
                documents = self.read(end)
                leads = self.group(documents, settler, checkpoint)
                self.make_plan(documents, leads)
                follower.plan(checkpoint, [])  # a conflict where another process has written the checkpoint since
                found = {"done": self.exported[1] if self.exported else marks_as_record(end), "state": checkpoint.state}
                counts = leads.groupBy("code").count().collect()
                levels = (Counter({evidence.TABLE.level(code, settler.rules.policy): count}) for code, count in counts)
                found |= {"uuids": checkpoint.uuids, "joined": dict(sum(levels, Counter()))}
                line = self.frame([(orjson.dumps(found).decode(),)], "value string")
                line.coalesce(1).write.mode("overwrite").text(f"{self.folder}/plan.json")
            lost = self.write()
            if self.engine.groups().has_threads():
                for row in self.spark.read.parquet(f"{self.folder}/documents").toLocalIterator():
                    follower.note([(row["index"], row["id"])])
        if lost or self.exported:  # whose leads may have been deleted since
            promote(settler.store)
        checkpoint.done, checkpoint.joined = found["done"], found["joined"]
        checkpoint.everything, checkpoint.in_hand = False, []
        context = self.spark.sparkContext  # whose private part alone leads to file systems
        path = context._jvm.org.apache.hadoop.fs.Path(self.folder)  # noqa: SLF001
        path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)  # noqa: FBT003, SLF001

    def read(self, end: Marks) -> DataFrame:
        """Read all documents once, from an export or at a point in time of each part; name those that are damaged."""
        documents = run_each(self.exported[0], add_figures, DOCUMENT) if self.exported else None
        documents = self.scan(end) if documents is None else self.keep(documents, "documents")
        partitions = max(self.spark.sparkContext.defaultParallelism, documents.count() // ROWS)
        self.spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        damaged = documents.where("damaged").select("index", "id")
        if count := damaged.count():
            first = ", ".join(f"{index}/{name}" for index, name in damaged.orderBy("index", "id").take(5))
            _log.warning("%s packed values are damaged and count as not signed (%s); %s", count, first, SIGN_AGAIN)
        return documents

    def scan(self, end: Marks) -> DataFrame:
        ranges = [
            (place, SeqNoRange(part, after, min(after + RANGE, number)))
            for place, (part, number) in enumerate(end.items())
            for after in range(0, number, RANGE)
        ]
        ranges.sort(key=lambda each: each[1].after)  # of all parts in turn, so that no point in time lapses
        with self.engine.points() as points:
            run = partial(read_documents, index=self.engine.index, points=tuple(points.items()), ranges=ranges)
            numbers = self.spark.range(len(ranges), numPartitions=max(1, len(ranges)))
            return self.keep(run_step(numbers, run, DOCUMENT), "documents")

    def group(self, documents: DataFrame, settler: Settler, checkpoint: GroupCheckpoint) -> DataFrame:
        """Return the lead of each document that follows one, with the code of the evidence: row, earlier, code."""
        sums = [f"coalesce(sum({name}), 0) as {name}" for name in ("block", "misread", "long")]
        totals = documents.selectExpr(*sums, "coalesce(max(guarded), false) as guarded").first()

        def count(earlier: Policy | None) -> Policy | None:
            least = self.long_slots(documents) if totals["long"] > 1 else None
            return CollectionFigures(totals["block"], totals["misread"], least).rule(earlier)

        settler.rules = rules = Rules(checkpoint.choose(count, guarded=totals["guarded"]), settler.rules.overrides)
        constraints = self.constraints(documents, rules)
        copies = self.copies(documents, rules.policy, constraints)
        originals = documents.where("words").select("row", "packed").join(small(copies), "row", "left_anti")
        shared = self.keep(self.entries(originals, rules.policy, constraints), "entries")
        rows = small(self.keep(shared.select("row").distinct(), "rows"))
        packed = self.keep(documents.select("row", "packed").join(rows, "row", "left_semi"), "packed")
        rounds = Rounds(self.spark, self.folder, rules.policy, constraints, packed, *self.sizes)
        follows = self.keep(rounds.settle(shared), "follows")
        joins = copies.join(follows.toDF("first", "earlier", "code"), "first", "left")
        code = f"coalesce(code, {evidence.TABLE.code('content')})"
        return self.keep(follows.union(joins.selectExpr("row", "coalesce(earlier, first)", code)), "joins")

    def constraints(self, documents: DataFrame, rules: Rules) -> PairConstraints:
        """Return the valid manual decisions, on pairs of rows."""
        if not rules.overrides.names:
            return PairConstraints()
        names = self.frame(sorted(rules.overrides.names), "index string, id string")
        named = documents.join(F.broadcast(names), ["index", "id"]).select("row", "index", "id", "packed")
        rows = sorted(map(tuple, named.collect()))
        columns = PackedColumns.decode([bytes(packed) for *_, packed in rows])
        local = rules.constraints([(index, id_) for _, index, id_, _ in rows], columns)
        return local.renumber({place: row for place, (row, *_) in enumerate(rows)})

    def copies(self, documents: DataFrame, policy: Policy, constraints: PairConstraints) -> DataFrame:
        """Return the rows that the rules cannot tell from an earlier row, with the first of these: row, first."""
        named = [row for pair in constraints.same | constraints.different for row in pair]
        may = documents.where("words").where(~F.col("row").isin(named)).select("row", "content", "packed")
        several = self.keep(may.groupBy("content").count().where("count > 1").select("content"), "several")
        run = partial(steps.digests, policy=policy)
        digests = run_each(
            may.join(small(several), "content", "left_semi"), run, "row long, content long, digest binary"
        )
        digests = self.keep(digests, "digests")
        first = digests.groupBy("content").agg(F.min(F.struct("row", "digest")).alias("first"))
        equal = digests.join(first, "content").where("row > first.row and digest = first.digest")
        return self.keep(equal.selectExpr("row", "first.row as first"), "copies")

    def entries(self, originals: DataFrame, policy: Policy, constraints: PairConstraints) -> DataFrame:
        """Return the keys that rows share: key, row, weak."""
        counts = NO_TERMS
        if (rule := policy.candidates.terms) is not None:
            counted = run_step(originals, partial(steps.count_terms, rule=rule), "term long, count long")
            found = counted.groupBy("term").agg(F.sum("count").alias("count")).toArrow().sort_by("term")
            counts = np.asarray(found["term"]), np.asarray(found["count"])
        entries = self.shared_keys(originals, policy, counts)
        pairs = [(-1 - at, row) for at, pair in enumerate(sorted(constraints.same)) for row in pair]
        return entries.union(self.frame(pairs, ENTRY)) if pairs else entries

    def shared_keys(self, rows: DataFrame, policy: Policy, counts: TermCounts = NO_TERMS) -> DataFrame:
        """Return the keys that several rows have."""
        partitions = int(self.spark.conf.get("spark.sql.shuffle.partitions"))
        parts = min(8 * partitions, 60_000)  # several for each partition, which get about as many
        spread = run_step(rows, partial(steps.spread, policy=policy, counts=counts, parts=parts), ARRAYS)
        return run_step(spread.repartition(partitions, "part"), steps.share, ENTRY)

    def long_slots(self, documents: DataFrame) -> int | None:
        """Return the least number of equal slots of two long texts that are versions of one text."""
        texts = documents.where("long > 0").select("row", "packed")
        entries = self.keep(self.shared_keys(texts, RUNS_ALONE), "long")
        place = F.row_number().over(Window.partitionBy("key").orderBy("row"))
        first = entries.withColumn("place", place).where(f"place <= {PARTNERS}").selectExpr("key", "row as earlier")
        pairs = entries.join(first, "key").where("row > earlier").select("row", "earlier").distinct()
        equal = run_each(with_packed(pairs, texts), steps.equal_slots, "equal int").groupBy("equal").count()
        counts = dict(equal.collect())
        return least_long_slots(np.array([counts.get(at, 0) for at in range(SLOTS + 1)], float))

    def make_plan(self, documents: DataFrame, joins: DataFrame) -> None:
        """Write the plan: leads that get another name, and followers that do not yet follow their lead."""
        joins = small(joins.select("row", "earlier"))
        of_name = documents.where("lead and group != ''").groupBy("group").agg(F.min("row"), F.max("row"))
        several = small(self.keep(of_name.toDF("group", "first", "last").where("first < last"), "plan-names"))
        leads = documents.select(FIELDS).join(joins, "row", "left_anti").join(several, "group", "left")
        keeps = "lead and group != '' and coalesce(first = row, true)"  # of several with a name the first keeps it
        changed = self.keep(run_each(leads.where(f"not ({keeps})"), name_groups, PLAN), "plan-leads")
        names = leads.where(keeps).select("row", "group").union(changed.select("row", "group"))
        wanted = self.keep(names.toDF("earlier", "name").join(joins, "earlier"), "plan-wanted")
        followers = documents.join(small(wanted), "row").where("lead or group != name")
        followers = followers.selectExpr(*STATE_FIELDS, "name as group", "false as lead", "packed", "earlier")
        self.keep(followers, "plan-followers")

    def write(self) -> bool:
        """Write what the plan has and is not yet written; returns whether a document has changed since it was read."""
        run = partial(write_groups, index=self.engine.index)
        leads, followers = (self.spark.read.parquet(f"{self.folder}/plan-{name}") for name in ("leads", "followers"))
        lost = self.keep(run_step(leads, run, "row long"), "lost-leads").toDF("earlier")
        without = followers.join(lost, "earlier", "left_semi").select("index", "id").collect()
        if without:  # they are settled like new documents
            revisit(self.engine.groups(), [(name, id_) for name, id_ in without])
        followers = followers.join(lost, "earlier", "left_anti").select(FIELDS).repartition("group")
        gone = self.keep(run_step(followers, run, "row long"), "lost-followers")
        return bool(lost.take(1) or gone.take(1))

    def find_plan(self, checkpoint: GroupCheckpoint) -> dict[str, Any] | None:
        """Return what an unfinished plan says of itself, unless the checkpoint or the indexes are others by now."""
        try:
            found = orjson.loads(self.spark.read.text(f"{self.folder}/plan.json").first()[0])
        except AnalysisException:  # there is none
            return None
        return found if (found["state"], found["uuids"]) == (list(checkpoint.state or ()), checkpoint.uuids) else None
