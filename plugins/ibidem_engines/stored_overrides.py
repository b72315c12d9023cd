"""Manual decisions as they are stored next to an index."""

from ibidem_dedupe.overrides import Override
from ibidem_engines.engine import Engine


def load_overrides(engine: Engine) -> list[Override]:
    """Read all words of readers.

    Args:
        engine: The index that they are next to.
    """
    return [Override.from_record(record) for _, record in engine.get_records("overrides")]
