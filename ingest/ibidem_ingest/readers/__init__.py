"""Readers: from files to documents, streaming, a refusal for each that cannot be read."""

from ibidem_ingest.readers.reading import read
from ibidem_ingest.readers.tally import Tally

__all__ = ["Tally", "read"]
