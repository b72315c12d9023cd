"""What readers said of pairs of documents, as it is kept beside the index."""

from ibidem.dedupe.overrides import Override
from ibidem_engines.engine import Engine


def recorded(engine: Engine) -> list[Override]:
    """Read all words of readers.

    Args:
        engine: The index that they stand beside.
    """
    return [Override.from_record(record) for _, record in engine.noted("overrides")]
