"""Reported documents of an alert are kept with their signatures, the latest ones."""

import pytest

from ibidem.index import alerts
from ibidem.index.alerts import Alert, list_reports, read_alert, run, save
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_ingest.errors import UsageError

ALERT = Alert("said", "said")


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory, records: list[Record]) -> Engine:
    store = open_engine(f"sqlite:///{tmp_path_factory.mktemp('alerts')}/index.sqlite", "news")
    store.create()
    store.write(records)
    return store


def test_every_text_is_reported_by_one_document_and_kept(engine: Engine) -> None:
    save(engine, ALERT)
    documents = run(engine, ALERT)
    ids = list_reports(engine, "said")
    assert [each.id for each in ids] == [each.id for each in documents]
    assert all(each.packed for each in ids)
    assert run(engine, ALERT) == []


def test_of_very_many_the_latest_are_kept(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts, "MOST_REPORTED", 5)
    documents = run(engine, ALERT)
    assert len(documents) > 5
    assert [each.id for each in list_reports(engine, "said")] == [each.id for each in documents[-5:]]


def test_an_alert_is_read_as_it_was_kept() -> None:
    alert = Alert("a.b-c_1", "export duty", ("source=AP",), (("dedupe_level", "near"),))
    assert read_alert(alert.as_record()) == alert


@pytest.mark.parametrize("name", ["", "a:b", "a/b", "x" * 101])
def test_a_name_that_no_key_could_hold_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="letters, digits"):
        Alert(name, "rent")
