"""Former indexes, replaced by a backfill (`--into`): they keep documents deleted from their successor."""

from collections.abc import Iterator, Sequence

from ibidem_core.errors import EngineError, NoIndex
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import read_entries
from ibidem_workers.backfill.checkpoint import KEYS, Checkpoint


def still_held(engine: Engine, settings: Settings, ids: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the former indexes that still hold any of the documents, with the ids of these documents."""
    for name in former_indexes(engine):
        former = open_engine(settings.address, name)
        try:
            found = [each.document.id for each in former.fetch([(name, id_) for id_ in ids])]
        except EngineError:  # the former index was deleted, and the documents with it
            found = []
        finally:
            former.close()
        if found:
            yield name, found


def former_indexes(engine: Engine) -> list[str]:
    """Return the names of the indexes from which an index was copied."""
    try:
        checkpoints = [each for _, each in read_entries(engine.get_records("runs", KEYS), Checkpoint.from_json)]
    except NoIndex:
        return []
    return sorted({each.source for each in checkpoints if each.into})
