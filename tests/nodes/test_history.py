"""The checker of a history names whatever an index has lost, brought back, forgotten or grouped wrongly."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import Assignment
from ibidem_ingest.document import Document
from ibidem_ingest.readers import read
from ibidem_workers.ingest import ingest_documents
from nodes.history import History, people
from workers.groups.test_service import stored

pytestmark = pytest.mark.slow
Damage = Callable[[History, Engine, Settings], None]


@pytest.fixture
def history(engine: Engine, settings: Settings, tmp_path: Path) -> History:
    """A history of an index in which all is well."""
    history = History(random.Random(7))  # noqa: S311 - a lot that can be drawn again
    path = tmp_path / "documents.jsonl"
    history.write(path, 60)
    ingest_documents([each for each in read([path]) if isinstance(each, Document)], settings)
    history.finish_file()
    crowd = people(history, engine, random.Random(7), 4)  # noqa: S311 - as above
    crowd.start()
    crowd.finish()
    assert (crowd.faults, len(history.deleted), len(history.decisions)) == ([], 4, 4)
    assert (history.wrong(engine), history.brought_back(engine)) == ([], [])
    return history


def lose(history: History, engine: Engine, _: Settings) -> None:
    engine.delete([next(iter(history.standing))], 2**60)


def bring_back(history: History, engine: Engine, settings: Settings) -> None:
    engine.delete_records("tombstones", [key for key, _ in engine.get_records("tombstones")])
    line = json.loads(history.deleted_lines().splitlines()[0])
    ingest_documents([Document(**line)], settings)


def forget(_: History, engine: Engine, __: Settings) -> None:
    engine.delete_records("overrides", [next(key for key, _ in engine.get_records("overrides"))])


def part(_: History, engine: Engine, __: Settings) -> None:
    follower = next(each for each in stored(engine) if not each.lead)
    engine.groups().assign([Assignment(follower, "elsewhere", lead=False)])


@pytest.mark.parametrize(
    ("damage", "message"),
    [(lose, "is lost"), (bring_back, "is nobody's"), (forget, "were decided to be"), (part, "groups break their laws")],
)
def test_damage_is_named(history: History, engine: Engine, settings: Settings, damage: Damage, message: str) -> None:
    damage(history, engine, settings)
    assert any(message in fault for fault in history.wrong(engine))
