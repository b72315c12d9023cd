"""`ibidem doctor`: every setting with its source, and a check of each part of the installation."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ibidem.cli import FAILED
from ibidem.cli.console import Json, engine_context, option, print_json, sanitize, show, table
from ibidem.index.doctor import Check, report
from ibidem_core.address import parse_address
from ibidem_core.settings import load
from ibidem_engines.cluster.index import own_fields
from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import UsageError


def run(
    repair: Annotated[
        bool, option("--repair", "First remove aliases, pipelines and policies that record indexes were given.")
    ] = False,
    template: Annotated[
        bool, option("--template", "Print ibidem's fields as a component template for indexes of yours, and end.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show every setting with its origin, and what answers; leaves with 1 when something does not."""
    if template:
        if (address := load().address).startswith("sqlite"):
            raise UsageError("SQLite has no index templates", "name a cluster in IBIDEM_ENGINE")
        print_json({"template": {"mappings": own_fields(parse_address(address).layout)}})
        return
    findings: dict[str, Any] = {}
    if repair:
        with engine_context() as engine:
            findings["repaired"] = engine.repair_ledgers()
    try:
        settings = load()
    except UsageError as error:
        findings |= {"settings": [], "checks": [Check.from_issue("settings", error)._asdict()]}
    else:
        findings |= report(settings, lambda: open_engine(settings.address, settings.index))
    show(findings, describe(findings), as_json=as_json)
    if not all(check["ok"] for check in findings["checks"]):
        raise typer.Exit(FAILED)


def describe(findings: Mapping[str, Any]) -> Iterator[RenderableType]:
    yield from (f"repaired: {sanitize(name)}" for name in findings.get("repaired", ()))
    rows = [(row["name"], row["value"], row["origin"]) for row in findings["settings"]]
    yield table(("setting", "value", "from"), rows)
    yield ""
    checks = Table.grid(padding=(0, 2))
    for row in findings["checks"]:
        mark = Text("ok", "good") if row["ok"] else Text("NOT OK", "bad")
        remedy = f" ({row['remedy']})" if row["remedy"] else ""
        checks.add_row(mark, row["name"], Text(f"{row['what']}{remedy}"))
    yield checks
