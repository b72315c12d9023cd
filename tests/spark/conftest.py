"""A session of Spark on two threads; without PySpark, or Java 17 or 21, these tests are skipped by name."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def java_home() -> str:
    """Return the folder of a Java that Spark runs on; empty if there is none."""
    named = [os.environ.get(f"JAVA_HOME_{version}_X64", "") for version in (17, 21)]
    installed = [str(each) for version in (17, 21) for each in Path("/usr/lib/jvm").glob(f"*{version}*")]
    return next((each for each in (*named, *installed) if each and Path(each, "bin/java").exists()), "")


SUBMIT = "--conf spark.ui.enabled=false --conf spark.sql.codegen.wholeStage=false --conf spark.sql.shuffle.partitions=2"


@pytest.fixture(scope="session")
def java() -> Iterator[None]:
    """Java for Spark, quick to start, here and in commands."""
    pytest.importorskip("pyspark", reason="PySpark is missing: pip install '.[spark]'")
    if not (home := java_home()):
        pytest.skip("Java 17 or 21 is missing")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_HOME", home)
        environment.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        environment.setenv("PYSPARK_SUBMIT_ARGS", f"{SUBMIT} pyspark-shell")
        environment.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        yield


@pytest.fixture(scope="session")
def spark(java: None) -> Iterator[Any]:
    session = pytest.importorskip("pyspark.sql").SparkSession.builder.master("local[2]").getOrCreate()
    yield session
    process = session.sparkContext._gateway.proc
    session.stop()
    process.stdin.close()  # Java ends when nobody is left who may ask it
    process.wait()
