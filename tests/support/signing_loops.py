"""What only the compiled loops do is tested where a C compiler made them."""

import pytest

from ibidem_ingest.kernel import loops

ABSENT = "the loops are not compiled: no C compiler was there at installation"


@pytest.fixture(scope="module", autouse=True)
def need_compiled_loops() -> None:
    """Leave a module out where nothing signs batches, and compares columns."""
    if loops.IN_USE is None:
        pytest.skip(ABSENT)
