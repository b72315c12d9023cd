"""All groups settled on Spark: the groups, leads and evidence of one process, whatever goes wrong meanwhile."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from secrets import token_hex
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from ibidem_core.errors import NoIndex, Permanent, Unavailable
from ibidem_dedupe import leader_clustering
from ibidem_dedupe.collection import CollectionFigures
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.overrides import Override, Overrides
from ibidem_dedupe.policy import MISREAD, Policy
from ibidem_engines.connect import open_engine
from ibidem_engines.ledger import GroupCheckpoint, parse_policy
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_workers.groups import follower
from ibidem_workers.groups.settle import Rules, count_joined
from servers.command_line import IBIDEM
from servers.indices import ask, remove_indices
from support.learned_rules import make_rule
from support.windows import make_window, signatures, value, with_slots
from workers.groups.test_service import groups, signed, stored

pyarrow = pytest.importorskip("pyarrow", reason="PySpark is missing: pip install '.[spark]'")
parquet = pytest.importorskip("pyarrow.parquet")
settle = pytest.importorskip("ibidem_spark.settle", reason="PySpark is missing: pip install '.[spark]'")
steps = pytest.importorskip("ibidem_spark.steps")

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow, pytest.mark.timeout(1_200)]

WORDS = [
    Override(("news", "3"), ("news", "40"), "same"),
    Override(("news", "40"), ("news", "90"), "same"),
    *(Override(("news", str(at)), ("news", str(at + 1)), "not") for at in range(0, 60, 2)),
]


def crowd(rows: int) -> list[bytes]:
    """Make rows that share sixteen bands, and two more slots if they are of one text."""
    made = [(at % 13, signatures(at)) for at in range(rows)]
    return [
        value(replace(each, slots=(*range(48), text, text, *each.slots[50:])), f"{at}")
        for at, (text, each) in enumerate(made)
    ]


def settling_of(spark: Any, folder: Path, values: list[bytes | None], sizes: tuple[int, int]) -> tuple[Any, Any]:
    """Return the settling of documents as they are read, and these."""
    n, packed = len(values), [each or b"" for each in values]
    plain = {"row": np.arange(n), "index": ["news"] * n, "id": [str(at) for at in range(n)], "routing": [""] * n}
    plain |= {"seq": np.arange(n), "term": np.ones(n, np.int64), "group": [""] * n, "lead": [True] * n}
    columns = plain | {"packed": packed} | steps.figures(PackedColumns.decode(packed))
    parquet.write_table(pyarrow.table(columns), folder / "in")
    documents = spark.read.schema(settle.DOCUMENT).parquet(str(folder / "in")).repartition(3)
    return settle.SparkSettling(spark, str(folder / "work"), None, sizes), documents


def test_the_figure_of_long_texts_is_that_of_one_process(spark: Any, tmp_path: Path) -> None:
    long_texts = [with_slots(replace(signatures(1), length=4_000), 30 + at) for at in range(70)]
    values = [value(each, f"{at}") for at, each in enumerate(long_texts)]
    settling, documents = settling_of(spark, tmp_path, values, (64, 0))
    assert settling.long_slots(documents) == CollectionFigures.count(PackedColumns.decode(values)).long is not None


POLICIES = {
    "clean": Policy(characters=None),
    "misread": MISREAD,
    "window": Policy(window_days=42),
    "learned": Policy.from_rule(make_rule()),
}


@pytest.mark.parametrize(
    ("name", "sizes", "most"),
    [
        ("misread", (64, 0), 1_000),
        ("clean", (1, 150), 3),
        pytest.param("window", (2, 0), 3, marks=pytest.mark.nightly),
        pytest.param("learned", (64, 10_000), 1_000, marks=pytest.mark.nightly),
    ],
)
def test_groups_are_those_of_one_pass(spark: Any, tmp_path: Path, name: str, sizes: tuple[int, int], most: int) -> None:
    values = [*make_window(7, 200).values, *crowd(80), *make_window(8, 120).values]
    with patch.object(leader_clustering, "MAX_LEADS", most):
        settling, documents = settling_of(spark, tmp_path, values, sizes)
        settler = SimpleNamespace(rules=Rules(Policy(), Overrides(WORDS)))
        checkpoint = GroupCheckpoint(policy=asdict(POLICIES[name]), origin="named")
        lead, code = list(range(len(values))), [0] * len(values)
        for row, earlier, evidence in settling.group(documents, settler, checkpoint).collect():
            lead[row], code[row] = earlier, evidence
        columns = PackedColumns.decode(values)
        rules = Rules(POLICIES[name], Overrides(WORDS))
        names = [("news", str(at)) for at in range(len(values))]
        expected = group(columns, rules.policy, rules.constraints(names, columns))
    assert [lead, code] == [expected.lead.tolist(), expected.evidence.tolist()]


# Ends the driver behind a part of the writes.
KILLED = """
import os
from ibidem_spark import settle
def write(self):
    for name in ("leads", "followers"):
        few = self.spark.read.parquet(f"{self.folder}/plan-{name}").drop("earlier").limit(20)
        self.keep(settle.run_step(few, settle.partial(settle.write_groups, index=self.engine.index), "row long"), "few")
        assert few.count() == 20
    os._exit(9)
settle.SparkSettling.write = write
"""
# Fails where groups are computed again.
PLANNED = "from ibidem_spark import settle; settle.SparkSettling.group = None"
COMMAND = "from ibidem.cli import main; main(['regroup', '--all', '--json', '--spark'"
ENGINES = [
    pytest.param("opensearch", marks=pytest.mark.server("opensearch")),
    pytest.param("elasticsearch", marks=[pytest.mark.server("elasticsearch"), pytest.mark.nightly]),
]


@pytest.fixture(params=ENGINES)
def index(request: pytest.FixtureRequest, java: None) -> Iterator[Any]:
    """An index whose groups were settled by other figures."""
    url = request.getfixturevalue(request.param)
    with closing(open_engine(url, f"spark-{token_hex(4)}")) as engine, pytest.MonkeyPatch.context() as environment:
        environment.setenv("IBIDEM_ENGINE", url)
        environment.setenv("IBIDEM_INDEX", engine.index)
        environment.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)
        engine.create()
        records = signed(5, families=500)
        for start in range(0, len(records), 500):
            engine.write(records[start : start + 500])
        follower.regroup(engine, everything=True, policy=Policy().similar(40))
        yield engine
        remove_indices(url, engine.index)


def regroup(folder: Path, *options: str, prelude: str = "", master: str = "local[2]", code: int = 0) -> str:
    """Settle all groups by the command; returns what it says of errors."""
    script = f"{prelude}\n{COMMAND}, {', '.join(map(repr, (master, *options)))}])"
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, stderr=-1, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr


def check(engine: Any, before: list[Any], deleted: str = "") -> None:
    """The groups are those of one pass over the documents as they were; one that was deleted since had joined, too."""
    checkpoint = GroupCheckpoint.read(engine)
    rules = Rules(parse_policy(checkpoint.policy), Overrides())
    found = group(PackedColumns.decode([each.packed for each in before]), rules.policy)
    names = [each.name.id for each in before]
    expected = {name: names[lead] for name, lead in zip(names, found.lead.tolist(), strict=True)}
    assert groups(engine) == {name: lead for name, lead in expected.items() if name != deleted}
    assert checkpoint.joined == count_joined(found, rules)


def test_an_index_gets_the_groups_of_one_pass_though_a_driver_is_killed_while_it_writes(
    index: Any, tmp_path: Path
) -> None:
    before = stored(index)
    regroup(tmp_path, "--preset", "none", prelude=KILLED, code=9)
    regroup(tmp_path, prelude=PLANNED)
    check(index, before)
    before = stored(index)
    regroup(tmp_path)
    check(index, before)
    assert not [*(tmp_path / "spark-warehouse").iterdir()]


def test_an_export_is_settled_with_what_was_written_since_and_damaged_values_are_named(
    index: Any, tmp_path: Path
) -> None:
    first = signed(9, families=1)[0]
    index.write([replace(first, document=replace(first.document, id="other"), packed=b"damaged")])
    index.groups().newest()
    command = [IBIDEM, "groups", "--packed", "--export", "packed.parquet"]
    subprocess.run(command, cwd=tmp_path, check=True)
    before = stored(index)
    assert parquet.read_table(tmp_path / "packed.parquet").num_rows == len(before)
    copies = signed(5, families=500)[:20]
    index.write([replace(each, document=replace(each.document, id=f"later-{each.document.id}")) for each in copies])
    before = stored(index)
    found = group(PackedColumns.decode([each.packed for each in before]), Rules(Policy(), Overrides()).policy)
    deleted = next(each.name.id for row, each in enumerate(before) if found.lead[row] != row)
    index.delete([deleted], 2)
    said = regroup(tmp_path, "--packed", "packed.parquet", "--preset", "none")
    assert f"1 packed values are damaged and count as not signed ({index.index}/other)" in said
    assert "ibidem backfill" in said
    check(index, before, deleted)


def test_what_is_not_an_export_of_the_index_is_refused(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name, columns in (("another", {"part": ["news/0"], "uuid": ["before"]}), ("other", {"id": ["a"]})):
        parquet.write_table(pyarrow.table(columns), tmp_path / name)
    engine = SimpleNamespace(index="news", groups=lambda: SimpleNamespace(uuids=lambda: {"news": "now"}))
    for name, why in (
        ("missing", "cannot be read"),
        ("empty", "not an"),
        ("another", "'news' as it is"),
        ("other", "not an"),
    ):
        with pytest.raises(UsageError, match=why):
            settle.open_export(spark, str(tmp_path / name), engine)


# Deletes the index where a step of settling begins.
DELETED = """
import os
from ibidem_spark import settle
from servers.command_line import IBIDEM
from servers.indices import ask
def delete(self, *arguments, then=settle.SparkSettling.{step}):
    ask(os.environ["IBIDEM_ENGINE"], "DELETE", "/" + self.engine.index)
    return then(self, *arguments)
settle.SparkSettling.{step} = delete
"""


@pytest.mark.parametrize("step", ["read", pytest.param("group", marks=pytest.mark.nightly), "write"])
def test_an_index_that_is_deleted_meanwhile_is_named_and_not_created_again(
    index: Any, tmp_path: Path, step: str
) -> None:
    said = regroup(tmp_path, prelude=DELETED.format(step=step), code=1)
    assert re.search(rf"no (such )?index \S*{index.index}.*; create .*: ibidem ingest PATH", said)
    with pytest.raises(RuntimeError, match="index_not_found"):
        ask(os.environ["IBIDEM_ENGINE"], "GET", f"/{index.index}")


# Kills the executor behind the first answer of each step.
KILLS = """
import os
from pathlib import Path
from ibidem_spark import settle, steps
settle.SparkSettling = settle.partial(settle.SparkSettling, sizes=(64, 0))
class Killing:
    def __init__(self, run):
        step = run.args[0] if getattr(run, "func", run) is map else run
        self.run, self.mark = run, Path({folder!r}, getattr(step, "func", step).__name__)
    def __call__(self, batches):
        answer = list(self.run(batches))
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return answer
        os.kill(int(Path("/proc", str(os.getppid()), "stat").read_text().rpartition(")")[2].split()[1]), 9)
        os._exit(9)
def make(run, make=steps.Step):
    return make(Killing(run))
steps.Step = make
"""


@pytest.mark.nightly
def test_executors_that_are_killed_in_each_step_change_nothing(index: Any, tmp_path: Path) -> None:
    before = stored(index)
    (tmp_path / "killed").mkdir()
    prelude = KILLS.format(folder=str(tmp_path / "killed"))
    regroup(tmp_path, "--preset", "none", prelude=prelude, master="local-cluster[2,1,1024]")
    killed = {path.name for path in (tmp_path / "killed").iterdir()}
    assert killed >= {"read_documents", "spread", "share", "decide", "name_groups", "write_groups"}
    check(index, before)


def test_an_executor_of_another_version_is_refused() -> None:
    with pytest.raises(Permanent, match=r"the driver has ibidem-search 0\.0"):
        list(steps.Step(lambda batch: batch, "0.0")(iter(())))


def test_errors_of_executors_and_masters_are_ours() -> None:
    found = settle.as_ours("Traceback\nibidem_core.errors.NoIndex: there is no index 'news'; create it first\n")
    assert isinstance(found, NoIndex)
    assert (found.what, found.remedy) == ("there is no index 'news'", "create it first")
    text = (
        "Py4JJavaError: An error occurred\n: java.lang.Fault: the disk is full\n\tat org.apache.Step.run(Step.java:1)\n"
    )
    assert settle.as_ours(text).what == "Spark: : java.lang.Fault: the disk is full"
    assert isinstance(settle.as_ours("All masters are unresponsive! Giving up."), Unavailable)
