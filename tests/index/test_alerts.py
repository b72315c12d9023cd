"""Reported documents of an alert are kept with their signatures, the latest ones."""

import pytest

from ibidem.index import alerts
from ibidem.index.alerts import Alert, list_reports, read_alert, run, save
from ibidem_dedupe.parameters import Preset
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine, Record
from ibidem_engines.stored_presets import save_preset
from ibidem_ingest.errors import UsageError
from support.learned_rules import make_rule

ALERT = Alert("said", "said")


@pytest.fixture(autouse=True)
def news(engine: Engine, records: list[Record]) -> None:
    """The index holds the stories."""
    engine.write(records)


def test_every_text_is_reported_by_one_document_and_kept(engine: Engine) -> None:
    save(engine, ALERT)
    documents = run(engine, ALERT)
    ids = list_reports(engine, "said")
    assert [each.id for each in ids] == [each.id for each in documents]
    assert all(each.packed for each in ids)
    assert run(engine, ALERT) == []


def test_of_very_many_the_latest_are_kept(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts, "MAX_REPORTED", 5)
    documents = run(engine, ALERT)
    assert len(documents) > 5
    assert [each.id for each in list_reports(engine, "said")] == [each.id for each in documents[-5:]]


def test_an_alert_is_read_as_it_was_kept() -> None:
    alert = Alert("a.b-c_1", "export duty", ("source=AP",), (("dedupe_level", "near"),))
    assert read_alert(alert.as_record()) == alert


def test_an_alert_groups_by_a_preset_of_the_index_and_by_none_that_is_not_there(engine: Engine) -> None:
    alert = Alert("ours", "said", (), (("dedupe_preset", "ours"),))
    with pytest.raises(UsageError, match="'ours' is not known"):
        save(engine, alert)
    assert alerts.alerts(engine) == []
    save_preset(engine, "ours", Preset(Policy.from_rule(make_rule()), "learned"))
    save(engine, alert)
    assert run(engine, alert)
    assert alert.request(engine).policy.learned == make_rule()


@pytest.mark.parametrize("name", ["", "a:b", "a/b", "x" * 101])
def test_a_name_that_no_key_could_hold_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="letters, digits"):
        Alert(name, "rent")
