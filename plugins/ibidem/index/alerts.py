"""Alerts: saved searches that report only documents that are not duplicates of reported ones.

A run searches, groups what was reported before together with the hits, reported documents first, and reports the leads
among the hits: a document that repeats one reported before joins it and is passed over, whatever its id. What was
reported is kept with its packed signatures, the latest `MAX_REPORTED` documents of each alert.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ibidem.grouped_search.window import Window
from ibidem_core.records import parse_record
from ibidem_dedupe.request import DedupeRequest, parse_request
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import read_ledger
from ibidem_engines.query import Query, parse_query
from ibidem_engines.stored_groups import Hit
from ibidem_engines.stored_presets import lookup_presets
from ibidem_ingest.document import Document
from ibidem_ingest.errors import MissingDocument, UsageError

MAX_REPORTED = 5_000
MAX_NAME = 100
SAVED, REPORTED = "saved:", "reported:"  # beginnings of the keys of alerts, and of what each reported


@dataclass(frozen=True, slots=True)
class Alert:
    """A saved search."""

    name: str
    query: str  # the words, as typed
    filters: tuple[str, ...] = ()  # conditions, each as `FIELD=VALUE`
    dedupe: tuple[tuple[str, str], ...] = ()  # parameters of the dedupe layer, by the names of `PARAMETERS`

    def __post_init__(self) -> None:
        """Refuse an invalid name, and a search that cannot be run."""
        if not 0 < len(self.name) <= MAX_NAME or not all(each.isalnum() or each in "-_." for each in self.name):
            raise UsageError(
                f"alert name {self.name!r} is not allowed", f"use letters, digits, - _ and ., at most {MAX_NAME}"
            )
        self.to_query()
        if (request := parse_request(dict(self.dedupe), mode="indent", later=True)).membership:
            raise UsageError(
                f"dedupe_level={request.membership} does not go with an alert, which compares texts",
                "leave it out; a filter such as inclusive=true may be saved with it",
            )

    def to_query(self) -> Query:
        """Return the parsed query of the search."""
        return parse_query(self.query, self.filters)

    def request(self, engine: Engine) -> DedupeRequest:
        """Return the dedupe request."""
        options = dict(self.dedupe)
        presets = lookup_presets(engine, options.get("dedupe_preset"))
        return parse_request(options, mode="indent", presets=presets)

    def as_record(self) -> dict[str, object]:
        """Return the stored record, which `ibidem alerts list --json` prints."""
        return {"name": self.name, "query": self.query, "filters": list(self.filters), "dedupe": dict(self.dedupe)}


@dataclass(frozen=True, slots=True)
class AlertReport:
    """A document that was reported."""

    index: str
    id: str
    when: str  # when it was reported, ISO 8601
    packed: bytes | None  # its packed signatures; None when it has none

    def as_record(self) -> dict[str, object]:
        """Return the stored record."""
        packed = "" if self.packed is None else base64.b64encode(self.packed).decode()
        return {"index": self.index, "id": self.id, "when": self.when, "packed": packed}


def save(engine: Engine, alert: Alert) -> None:
    """Save an alert; it replaces an alert of the same name, but keeps its reported documents."""
    alert.request(engine)
    engine.put_records("alerts", {f"{SAVED}{alert.name}": alert.as_record()})


def alerts(engine: Engine) -> list[Alert]:
    """Return all alerts, by name."""
    return [alert for _, alert in read_ledger(engine, "alerts", read_alert, SAVED)]


def find_alert(engine: Engine, name: str) -> Alert:
    """Return an alert."""
    for alert in alerts(engine):
        if alert.name == name:
            return alert
    raise MissingDocument(f"no alert {name!r}", "list them with: ibidem alerts list")


def read_alert(record: Mapping[str, Any]) -> Alert:
    """Parse a stored alert."""
    dedupe = record.get("dedupe")
    return parse_record(Alert, {**record, "dedupe": list(dedupe.items()) if isinstance(dedupe, Mapping) else dedupe})


def remove(engine: Engine, name: str) -> None:
    """Remove an alert and its reported documents."""
    find_alert(engine, name)
    engine.delete_records(
        "alerts", [f"{SAVED}{name}", *(key for key, _ in engine.get_records("alerts", report_prefix(name)))]
    )


def run(engine: Engine, alert: Alert) -> list[Document]:
    """Search, and report the documents that are not duplicates of reported ones."""
    reports, hits = find_unreported(engine, alert)
    keep(engine, alert.name, reports, hits)
    return fetch_documents(engine, hits)


def find_new(engine: Engine, alert: Alert) -> list[Document]:
    """Return what the next run would report, without recording it."""
    return fetch_documents(engine, find_unreported(engine, alert)[1])


def find_unreported(engine: Engine, alert: Alert) -> tuple[list[AlertReport], list[Hit]]:
    """Return the reported documents, and the hits that are not duplicates of them."""
    request = alert.request(engine)
    reports = list_reports(engine, alert.name)
    reported_names = {(each.index, each.id) for each in reports}
    ranking = engine.search(alert.to_query(), request.window)
    hits = [hit for hit in ranking.hits if (hit.index, hit.id) not in reported_names]
    return reports, new_leads(reports, hits, request)


def fetch_documents(engine: Engine, hits: Sequence[Hit]) -> list[Document]:
    """Read the documents of hits."""
    return [entry.document for entry in engine.fetch([(hit.index, hit.id) for hit in hits])]


def new_leads(reports: Sequence[AlertReport], hits: Sequence[Hit], request: DedupeRequest) -> list[Hit]:
    """Return the leads of groups without reported documents."""
    report_hits = [Hit(each.index, each.id, 0.0, each.packed) for each in reports]
    leads = Window.group([*report_hits, *hits], request.policy).grouping.lead.tolist()
    return [hit for row, hit in enumerate(hits, len(report_hits)) if leads[row] == row]


def keep(engine: Engine, name: str, reports: Sequence[AlertReport], hits: Sequence[Hit]) -> None:
    """Store the latest reported documents."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    entries = {
        f"{report_prefix(name)}{now}:{number:05d}": AlertReport(hit.index, hit.id, now, hit.packed).as_record()
        for number, hit in enumerate(hits)
    }
    if entries:
        engine.put_records("alerts", entries)
    if excess := len(reports) + len(hits) - MAX_REPORTED:
        keys = [key for key, _ in engine.get_records("alerts", report_prefix(name))] if excess > 0 else []
        engine.delete_records("alerts", keys[: max(0, excess)])


def list_reports(engine: Engine, name: str) -> list[AlertReport]:
    """Return the reported documents of an alert, the earliest first."""
    return [report for _, report in read_ledger(engine, "alerts", read_report, report_prefix(name))]


def read_report(record: Mapping[str, Any]) -> AlertReport:
    """Parse a stored report."""
    read = parse_record(AlertReport, {**record, "packed": None})
    return replace(read, packed=_decode_packed(str(record.get("packed", ""))))


def _decode_packed(value: str) -> bytes | None:
    try:
        return base64.b64decode(value, validate=True) or None
    except ValueError:
        return None


def report_prefix(name: str) -> str:
    """Return the key prefix of an alert's reports; no name contains a colon."""
    return f"{REPORTED}{name}:"
