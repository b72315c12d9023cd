"""The two ways of signing and grouping: by numpy alone, and by the loops that a C compiler made."""

from collections.abc import Iterator

import pytest

from ibidem_ingest.kernel import loops

NUMPY = pytest.param("numpy", marks=pytest.mark.slow if loops.load() else ())
"""Quick tests run over the loops that are used here."""


@pytest.fixture(scope="module", params=[NUMPY, "compiled"], autouse=True)
def way_of_signing(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run every test of a module twice; the second time is left out where no compiler was at installation."""
    compiled = loops.load()
    if request.param == "compiled" and compiled is None:
        pytest.skip("the loops of signing are not compiled: no C compiler was there at installation")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "IN_USE", compiled if request.param == "compiled" else None)
        yield str(request.param)
