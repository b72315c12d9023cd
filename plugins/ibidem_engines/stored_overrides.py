"""Manual decisions, as stored next to an index."""

from ibidem_dedupe.overrides import Override
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import read_ledger


def load_overrides(engine: Engine) -> list[Override]:
    """Read all overrides."""
    return [word for _, word in read_ledger(engine, "overrides", Override.from_record)]
