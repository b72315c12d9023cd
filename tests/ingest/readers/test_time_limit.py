"""A file is left when reading it gives no document for too long, wherever that time passed."""

import time

import pytest

from ibidem_ingest.errors import Unreadable
from ibidem_ingest.readers.time_limit import TimeLimit


def test_waiting_is_no_reading() -> None:
    limit = TimeLimit(0.05)
    time.sleep(0.1)
    limit.check()


def test_reading_by_other_processes_counts_until_one_of_them_finds_a_document() -> None:
    limit = TimeLimit(60)
    limit.note(40, found=False)
    limit.check()
    limit.note(40, found=False)
    with pytest.raises(Unreadable, match=r"60 seconds of reading gave no document; .* IBIDEM_READ_SECONDS"):
        limit.check()
    limit.note(1, found=True)
    limit.check()
    limit.note(40, found=False)
    limit.check()
