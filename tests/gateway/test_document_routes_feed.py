"""Reports of a saved search are served as a feed."""

from xml.etree import ElementTree as ET

from starlette.testclient import TestClient

from gateway.conftest import Serve
from ibidem.index.alerts import Alert, run, save
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine

NAMES = {"atom": "http://www.w3.org/2005/Atom"}


def test_a_feed_lists_what_was_reported_the_latest_first(serve: Serve, settings: Settings) -> None:
    engine = open_engine(settings.engine, settings.index)
    alert = Alert("rents", "rent")
    save(engine, alert)
    documents = run(engine, alert)
    engine.delete([documents[0].id], 2)
    engine.close()
    answer = serve().get("/ibidem/alerts/rents.atom")
    assert answer.headers["content-type"] == "application/atom+xml"
    entries = ET.fromstring(answer.content).findall("atom:entry/atom:title", NAMES)  # noqa: S314 - our own feed
    titles = [each.text for each in entries]
    assert titles == [each.title for each in documents[:0:-1]]


def test_a_feed_of_no_alert_is_not_there(client: TestClient) -> None:
    assert client.get("/ibidem/alerts/nosuch.atom").status_code == 404
