"""Tags as they are stored next to an index: an entry under a key of its own, so that none is ever replaced."""

from secrets import token_hex

from ibidem_dedupe.tags import TagEntry, Tags
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import read_ledger


def load_tags(engine: Engine) -> Tags:
    """Read all entries, in the order of time.

    Args:
        engine: The index that they are next to.
    """
    return Tags(entry for _, entry in read_ledger(engine, "tags", TagEntry.from_record))


def append_entry(engine: Engine, entry: TagEntry) -> None:
    """Add an entry.

    Args:
        engine: The index that it is next to.
        entry: The entry; its date begins the key, by which entries are in the order of time.
    """
    engine.put_records("tags", {f"{entry.date}/{token_hex(8)}": entry.as_record()})
