"""An index is read in portions that stay of about one size in memory."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.connect import open_reindex_source
from ibidem_engines.engine import Engine
from ibidem_engines.reindex import Name
from ibidem_ingest.document import Document
from ibidem_workers.backfill.paging import CHARACTERS, FIRST, PAGE, Portions, everything, names, paged, whole
from ibidem_workers.ingest import ingest_documents
from ibidem_workers.settings import Settings

NAMES = [Name("news", f"d{at}", at + 1) for at in range(2_000)]


@given(st.lists(st.lists(st.integers(0, 10_000_000), max_size=5), max_size=5), st.integers(0, 2_000))
def test_every_name_is_in_one_portion_whatever_the_lengths_were(lengths: list[list[int]], count: int) -> None:
    portions = Portions()
    for some in lengths:
        portions.learn(some)
    cut = list(portions.cut(NAMES[:count]))
    assert [name for some in cut for name in some] == NAMES[:count]
    assert all(1 <= len(some) <= PAGE for some in cut)


def test_long_documents_are_read_one_by_one_and_short_ones_a_page_at_once() -> None:
    portions = Portions()
    assert len(next(portions.cut(NAMES))) == FIRST
    portions.learn([2 * CHARACTERS])
    assert len(next(portions.cut(NAMES))) == 1
    portions.learn([10] * 20)
    assert len(next(portions.cut(NAMES))) == PAGE


def test_everything_is_read_once_in_the_order_of_writing(settings: Settings, engine: Engine) -> None:
    ingest_documents(
        [Document(f"d{at:04}", f"We the People {at}") for at in range(1_200)], settings.changed(concurrency=1)
    )
    holding = open_reindex_source(settings.address, settings.index)
    upto = holding.newest()
    ids = [held.document.id for some in everything(holding, upto) for held in some]
    assert len(ids) == len(set(ids)) == 1_200
    (stretch,) = whole(upto)
    assert [name.id for page in paged(names(holding, stretch)) for name in page] == ids
    holding.close()
