"""What others damage or take away while groups are settled: it is named, nothing else is lost, the next run goes on."""

import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from ibidem_core.errors import EngineError, Permanent
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_engines.ledger import GroupCheckpoint
from ibidem_workers.groups import follower
from ibidem_workers.groups.follower import Follower
from ibidem_workers.groups.settle import ROW_BYTES, StoredColumns
from servers.indices import remove_indices
from workers.groups.test_service import check, groups, index, plain, signed

# From how many new documents on leads are read into columns, and how many leads a document then may have.
WAYS = {"columns": (1, 20), "look-ups": (10_000, 20), "look-ups of many": (1, -1)}


def damaged(records: list[Record]) -> list[Record]:
    """Records of which some hold packed values that this version does not read, the first of a family among them."""
    changes = {0: b"damaged", 3: b"", 5: b"\x09" + records[5].packed[1:], 7: records[7].packed[:-3]}
    return [replace(each, packed=changes.get(at, each.packed)) for at, each in enumerate(records)]


def settle(engine: Engine, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    many, leads = WAYS[way]
    monkeypatch.setattr(follower, "LEADS_PER_DOCUMENT", leads)
    Follower(engine, size=4, min_new=many).catch_up()


@pytest.mark.parametrize("way", WAYS)
def test_a_document_whose_packed_value_cannot_be_read_is_a_group_of_its_own(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = damaged(signed(5))
    with index() as engine:
        engine.write(records[:12])
        settle(engine, way, monkeypatch)
        engine.write(records[12:])
        settle(engine, way, monkeypatch)
        found = groups(engine)
        assert len(found) == len(records)
        assert found == plain(engine)
        assert all(found[records[at].document.id] == records[at].document.id for at in (0, 3, 5, 7))
        check(engine)


@pytest.fixture
def own_index(opensearch: str) -> Iterator[Engine]:
    """An index of a server that this test alone uses."""
    engine = open_engine(opensearch, f"gone-{uuid4().hex}")
    engine.create()
    yield engine
    engine.close()
    remove_indices(opensearch, engine.index)


@pytest.mark.server("opensearch")
@pytest.mark.parametrize("way", WAYS)
def test_an_index_that_is_deleted_while_it_is_settled_is_named_and_one_that_is_made_again_is_settled(
    own_index: Engine, opensearch: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    many, leads = WAYS[way]
    monkeypatch.setattr(follower, "LEADS_PER_DOCUMENT", leads)
    own_index.write(signed(5))

    def delete(_: int) -> None:
        remove_indices(opensearch, own_index.index)

    with pytest.raises(EngineError, match=own_index.index):
        Follower(own_index, delete, size=2, min_new=many).catch_up()
    engine = open_engine(opensearch, own_index.index)
    engine.create()
    engine.write(signed(5))
    settle(engine, way, monkeypatch)
    assert groups(engine) == plain(engine)
    engine.close()


def test_settling_goes_on_where_a_folder_had_no_room(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.write(signed(5))
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
        with pytest.raises(Permanent, match="nowhere") as caught:
            Follower(engine, min_new=1, memory=0).catch_up()
    assert "TMPDIR" in caught.value.remedy
    assert GroupCheckpoint.read(engine).done == {}
    Follower(engine, min_new=1, memory=0).catch_up()
    assert groups(engine) == plain(engine)


def test_files_end_with_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with StoredColumns(10, 0):
        assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) == 10 * ROW_BYTES
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_is_named_before_a_row_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, limits[1]))
    try:
        with pytest.raises(Permanent, match="no room for the columns"):
            StoredColumns(1_000, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []
