"""What is counted: requests, how long each stage of a search takes, groups, unsigned documents, errors."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

Stage = Literal["window", "grouping", "fetch"]

STAGES: ContextVar[dict[str, float]] = ContextVar("stages")
"""Seconds of each stage of the request that is being answered."""

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """What one gateway counts; never what a document holds, nor who asked."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("ibidem_requests", "Requests answered.", ["route", "status"], registry=self.registry)
        self.seconds = Histogram(
            "ibidem_request_seconds", "Seconds until an answer.", ["route"], registry=self.registry, buckets=SECONDS
        )
        self.stages = Histogram(
            "ibidem_stage_seconds",
            "Seconds of a grouped search, by stage.",
            ["stage"],
            registry=self.registry,
            buckets=SECONDS,
        )
        self.errors = Counter("ibidem_errors", "Requests that went wrong, by type.", ["type"], registry=self.registry)
        self.documents = Counter("ibidem_window_documents", "Documents in windows.", registry=self.registry)
        self.groups = Counter("ibidem_window_groups", "Groups found in windows.", registry=self.registry)
        self.unsigned = Counter(
            "ibidem_window_unsigned", "Documents in windows without signatures.", registry=self.registry
        )

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count a request.

        Args:
            route: The route's path, as it is declared; empty where none answered.
            status: HTTP status.
            seconds: From its first byte to the end of the answer.
        """
        self.requests.labels(route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def took(self, stage: Stage, seconds: float) -> None:
        """Note how long a stage of a grouped search took."""
        self.stages.labels(stage).observe(seconds)
        if (stages := STAGES.get(None)) is not None:
            stages[stage] = stages.get(stage, 0.0) + seconds

    def grouped(self, told: Mapping[str, Any]) -> None:
        """Count what a grouped search looked at.

        Args:
            told: Its account, the block `dedupe` of the answer.
        """
        self.documents.inc(told["documents"]["in_window"])
        self.groups.inc(told["groups"]["in_window"])
        self.unsigned.inc(told["unsigned"])
