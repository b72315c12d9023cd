"""Spark is an extra: where it is missing, or cannot be of use, an error says so before anything is read."""

import sys
from contextlib import closing
from pathlib import Path

import pytest

from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import UsageError
from ibidem_spark.command import export, regroup


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with closing(open_engine(f"sqlite:///{tmp_path}/a.sqlite", "news")) as engine:
        monkeypatch.setitem(sys.modules, "ibidem_spark.steps", None)
        with pytest.raises(UsageError, match=r"Parquet needs .*ibidem-search\[spark\]"):
            export(engine, tmp_path / "a.parquet", print)
        monkeypatch.setitem(sys.modules, "ibidem_spark.settle", None)
        with pytest.raises(UsageError, match=r"ibidem-search\[spark\]"):
            regroup("local", "", engine, everything=True, policy=None, report=print)
