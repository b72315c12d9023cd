"""Readers: stream documents from files, with a refusal for each that cannot be read."""

from ibidem_ingest.readers.formats import Tally
from ibidem_ingest.readers.inputs import read

__all__ = ["Tally", "read"]
