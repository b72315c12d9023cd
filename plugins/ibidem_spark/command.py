"""`ibidem regroup --all --spark MASTER`; Spark is imported only where it is asked for."""

from collections.abc import Callable
from pathlib import Path

from ibidem_dedupe.policy import Policy
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import GroupCheckpoint
from ibidem_ingest.distribution import install_command
from ibidem_ingest.errors import UsageError
from ibidem_workers.groups import follower


def export(engine: Engine, path: Path, report: Callable[[int], None]) -> None:
    """Write packed values and groups of all documents as a Parquet file, which `regroup` reads."""
    try:
        from ibidem_spark.steps import export as write  # noqa: PLC0415 - of an extra
    except ModuleNotFoundError as error:
        raise UsageError(f"Parquet needs {error.name}", install_command("spark")) from error
    write(engine.group_set().groups(), path, report)


def regroup(
    master: str,
    exported: str,
    engine: Engine,
    *,
    everything: bool,
    policy: Policy | None,
    report: Callable[[int], None],
) -> None:
    """Settle all groups again on Spark, or write the rest of a plan that was made and not yet written."""
    try:
        from ibidem_spark.settle import SparkSettling, open_export, open_session  # noqa: PLC0415 - of an extra
    except ModuleNotFoundError as error:
        raise UsageError(f"Spark needs {error.name}", install_command("spark")) from error
    engine = engine.group_set(takes_over=everything)
    if not isinstance(engine, ClusterEngine):
        raise UsageError(
            "--spark writes to OpenSearch or Elasticsearch", "leave --spark out: one process settles a file"
        )
    with open_session(master) as spark:
        settling = SparkSettling(spark, f"{spark.conf.get('spark.sql.warehouse.dir')}/ibidem-{engine.index}", engine)
        settling.exported = open_export(spark, exported, engine) if exported else None
        resumes = policy is None and settling.find_plan(GroupCheckpoint.read(engine)) is not None
        follower.regroup(engine, everything=True, policy=policy, report=report, settle=settling, resumes=resumes)
