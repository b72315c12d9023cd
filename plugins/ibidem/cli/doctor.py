"""`ibidem doctor`: every setting with its source, and a check of each part of the installation."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from ibidem.cli.app import FAILED
from ibidem.cli.console import Json, engine_context, print_json, results, sanitize
from ibidem.index.doctor import Check, report
from ibidem_core.address import parse_address
from ibidem_core.settings import load
from ibidem_engines.cluster.index import own_fields
from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import UsageError

Repair = Annotated[
    bool,
    typer.Option("--repair", help="First remove aliases, pipelines and policies that record indexes were given."),
]

Template = Annotated[
    bool,
    typer.Option("--template", help="Print ibidem's fields as a component template for indexes of yours, and end."),
]


def run(repair: Repair = False, template: Template = False, as_json: Json = False) -> None:
    """Show every setting with its origin, and what answers; leaves with 1 when something does not."""
    if template:
        if (address := load().address).startswith("sqlite"):
            raise UsageError("SQLite has no index templates", "name a cluster in IBIDEM_ENGINE")
        print_json({"template": {"mappings": own_fields(parse_address(address).layout)}})
        return
    repaired = repair_ledgers() if repair else None
    findings = read_report() | ({} if repaired is None else {"repaired": repaired})
    if as_json:
        print_json(findings)
    else:
        console = results()
        for name in repaired or ():
            console.print(f"repaired: {sanitize(name)}")
        console.print(settings_table(findings["settings"]))
        console.print()
        console.print(checks_table(findings["checks"]))
    if not all(check["ok"] for check in findings["checks"]):
        raise typer.Exit(FAILED)


def repair_ledgers() -> list[str]:
    """Rebuild ledgers that another program created; returns their names."""
    with engine_context() as engine:
        return engine.repair_ledgers()


def read_report() -> dict[str, Any]:
    """Return the report; if the settings cannot be read, a report of their errors."""
    try:
        settings = load()
    except UsageError as error:
        return {"settings": [], "checks": [asdict(Check.from_issue("settings", error))]}
    return report(settings, lambda: open_engine(settings.address, settings.index))


def settings_table(rows: Sequence[Mapping[str, str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for column in ("setting", "value", "from"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(row["name"], row["value"], row["origin"])
    return table


def checks_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for row in rows:
        mark = Text("ok", "good") if row["ok"] else Text("NOT OK", "bad")
        remedy = f" ({row['remedy']})" if row["remedy"] else ""
        table.add_row(mark, row["name"], Text(f"{row['what']}{remedy}"))
    return table
