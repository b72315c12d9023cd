"""The two ways of signing and grouping: in Python alone, and by the loops that a C compiler made."""

from collections.abc import Iterator

import pytest

from ibidem_ingest.kernel import loops

# Quick tests run over the loops that are used here.
NUMPY = pytest.param("numpy", marks=pytest.mark.slow if loops.load() else ())

ABSENT = "the loops of signing are not compiled: no C compiler was there at installation"


@pytest.fixture(scope="module", autouse=True)
def need_compiled_loops() -> None:
    """Leave a module out where nothing signs batches."""
    if loops.IN_USE is None:
        pytest.skip(ABSENT)


@pytest.fixture(scope="module", params=[NUMPY, "compiled"], autouse=True)
def way_of_grouping(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run every test of a module twice; the second time is left out where no compiler was at installation."""
    compiled = loops.load()
    if request.param == "compiled" and compiled is None:
        pytest.skip(ABSENT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "IN_USE", compiled if request.param == "compiled" else None)
        yield str(request.param)
