"""A snapshot that is taken in the middle of settling is restored: the groups are those of one plain pass once more."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_workers.groups.follower import Follower, settle_all
from nodes.history import wrong_groups
from servers.indices import ask, names, remove_indices
from servers.kinds import CLUSTERS
from workers.groups.test_service import signed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
LATER = 25  # documents that are written after the snapshot, and others in their place after it is restored


@dataclass
class Archive:
    """An index whose snapshots the server keeps in a folder that it may write to."""

    address: str
    index: str

    def open(self) -> Engine:
        return open_engine(self.address, self.index)

    def ask(self, method: str, path: str, body: object = None) -> object:
        return ask(self.address, method, path, body)

    def make(self) -> None:
        nodes = ask(self.address, "GET", "/_nodes/settings")["nodes"].values()
        (repo,) = (node["settings"]["path"]["repo"] for node in nodes)
        location = repo if isinstance(repo, str) else repo[0]
        settings = {"location": str(Path(location) / self.index)}
        self.ask("PUT", f"/_snapshot/{self.index}", {"type": "fs", "settings": settings})

    def keep(self, index: str) -> None:
        body = {"indices": index, "include_global_state": False, "ignore_unavailable": True}
        self.ask("PUT", f"/_snapshot/{self.index}/{uuid4().hex}?wait_for_completion=true", body)

    def restore(self, index: str) -> None:
        """Restore some indexes from all snapshots, in the order in which these were taken."""
        answer = ask(self.address, "GET", f"/_snapshot/{self.index}/_all")
        for snapshot in answer["snapshots"]:
            kept = [name for name in snapshot["indices"] if name in index.split(",")]
            body = {"indices": ",".join(kept), "include_global_state": False}
            if not kept:
                continue
            self.ask("POST", f"/_snapshot/{self.index}/{snapshot['snapshot']}/_restore?wait_for_completion=true", body)


@pytest.fixture(params=CLUSTERS)
def archive(request: pytest.FixtureRequest) -> Iterator[Archive]:
    archive = Archive(request.getfixturevalue(request.param), f"kept-{uuid4().hex}")
    archive.make()
    yield archive
    remove_indices(archive.address, archive.index)
    archive.ask("DELETE", f"/_snapshot/{archive.index}")


def step(engine: Engine, portions: int) -> None:
    """Settle some portions of three documents, and stop in the middle."""
    looks = iter(range(portions))
    Follower(engine, size=3, stop=lambda: next(looks, None) is None).catch_up()


@pytest.mark.parametrize(("closed", "alone"), [(False, False), (True, False), (True, True)])
def test_an_index_that_is_restored_is_settled_as_it_is_now(archive: Archive, closed: bool, alone: bool) -> None:
    rng = random.Random(17)  # noqa: S311 - made-up data keeps no secret
    records = signed(17, families=12, versions=8)
    first, lost, later = records[: -2 * LATER], records[-2 * LATER : -LATER], records[-LATER:]
    with_index = archive.open()
    with_index.create()
    with_index.write(first)
    step(with_index, 4)
    archive.keep(archive.index)
    with_index.write(lost)
    settle_all(with_index)
    # A snapshot is none of one moment: the record of how far groups are settled may be of a later one.
    archive.keep(names(archive.index).partition(",")[2])
    every = ",".join(
        name
        for name in names(archive.index).split(",")
        if name in ask(archive.address, "GET", f"/{names(archive.index)}?ignore_unavailable=true")
    )
    with_index.close()
    restored = archive.index if alone else every
    if closed:
        archive.ask("POST", f"/{restored}/_close")
    else:
        remove_indices(archive.address, archive.index)
    archive.restore(restored)
    engine = archive.open()
    engine.write(rng.sample(later, len(later)))
    settle_all(engine)
    faults = list(wrong_groups(engine))
    engine.close()
    assert faults == []
