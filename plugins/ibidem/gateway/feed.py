"""`/ibidem/alerts/NAME.atom`: what a saved search reported, as a feed, as far as the caller may read it."""

from typing import Annotated
from urllib.parse import urlencode
from xml.etree.ElementTree import Element, SubElement, tostring

from fastapi import APIRouter, Path, Request, Response

from ibidem.alerts import LONGEST_NAME, Reported, named, reported
from ibidem.gateway.given import CallersEngine
from ibidem.gateway.parameters import NoParameters
from ibidem.linkedtext import readable
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document

router = APIRouter(prefix="/ibidem/alerts", tags=["alerts"])

ATOM = "http://www.w3.org/2005/Atom"
SHOWN = 50

Name = Annotated[str, Path(description="An alert's name.", min_length=1, max_length=LONGEST_NAME)]


@router.get("/{name}.atom", response_class=Response, responses={200: {"content": {"application/atom+xml": {}}}})
def feed(name: Name, request: Request, engine: CallersEngine, _: NoParameters) -> Response:
    """Give the latest documents that an alert reported; `ibidem alerts run` looks for new ones."""
    alert = named(engine, name)
    latest = reported(engine, name)[-SHOWN:][::-1]
    base = str(request.base_url).rstrip("/")
    root = Element("feed", xmlns=ATOM)
    tell(root, "id", f"{base}/ibidem/alerts/{name}.atom")
    tell(root, "title", f"{alert.name}: {alert.query}")
    tell(root, "updated", latest[0].when if latest else "1970-01-01T00:00:00+00:00")
    for each, document in readable_ones(engine, latest):
        root.append(entry(base, each, document))
    return Response(tostring(root, encoding="utf-8", xml_declaration=True), media_type="application/atom+xml")


def readable_ones(engine: Engine, latest: list[Reported]) -> list[tuple[Reported, Document]]:
    """Return what was reported with its documents, as far as they are there and may be read."""
    there = {(s.index, s.document.id): s.document for s in engine.fetch([(each.index, each.id) for each in latest])}
    return [(each, there[each.index, each.id]) for each in latest if (each.index, each.id) in there]


def entry(base: str, each: Reported, document: Document) -> Element:
    """Describe one document."""
    made = Element("entry")
    address = f"{base}/ibidem/page/document?{urlencode({'id': document.id})}"
    tell(made, "id", address)
    tell(made, "title", document.title or document.id)
    tell(made, "updated", each.when)
    SubElement(made, "link", rel="alternate", type="text/html", href=address)
    if about := " · ".join(part for part in (document.date, document.source) if part):
        tell(made, "summary", about)
    return made


def tell(parent: Element, name: str, text: str) -> None:
    """Add an element with a text, without what XML cannot hold."""
    SubElement(parent, name).text = "".join(each for each in readable(text) if each.isprintable())
