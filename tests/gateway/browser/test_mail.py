"""A thread of mails in a real browser, as a reviewer reads it."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import expect

from gateway.browser.conftest import Open
from gateway.browser.test_browser import DARK, PHONE, serious
from gateway.gateway_server import run_gateway
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.idf.store import Tables
from ibidem_mail.memberships import write_threads
from ibidem_workers.batches import records
from support.mail_thread import MAILS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, tables: Tables) -> Iterator[str]:
    """The address of a gateway over a thread of mails."""
    settings = Settings(engine=f"sqlite:///{tmp_path_factory.mktemp('mail')}/i.sqlite", tables=tables.folder)
    with closing(open_engine(settings.engine, settings.index)) as engine:
        engine.create()
        engine.write(list(records(MAILS, tables)))
        engine.refresh()
        write_threads(engine)
        engine.refresh()
    with run_gateway(settings) as url:
        yield url


def test_a_faithful_quotation_opens_without_scripts(visit: Open) -> None:
    page = visit("/ibidem/page/document?id=faithful", java_script_enabled=False)
    quotation = page.locator("blockquote")
    expect(quotation).to_be_hidden()
    page.get_by_text("Quoted from Ann Landlord <ann@example.org>, 3 lines").click()
    expect(quotation).to_contain_text("due on the first of May")
    expect(quotation).to_be_visible()


def test_an_altered_quotation_is_open_and_both_words_are_seen(visit: Open) -> None:
    page = visit("/ibidem/page/document?id=altered")
    expect(page.locator("article .about")).to_contain_text("MIH 72e39d1143096e04372d5d8f1a5bdee4")
    expect(page.locator("blockquote ins")).to_have_text("quoted as: twenty")
    expect(page.locator("blockquote del")).to_have_text("in the original: thirty")
    expect(page.locator("blockquote ins")).to_be_visible()
    expect(page.locator(".quotation summary")).to_contain_text("altered in 1 place")


def test_a_thread_is_a_tree_of_links_in_which_the_mail_has_its_place(visit: Open) -> None:
    page = visit("/ibidem/page/document?id=last")
    tree = page.get_by_role("navigation", name="Thread")
    expect(tree).to_contain_text("6 documents in 6 families, 4 inclusive")
    expect(tree.locator("[aria-current=page]")).to_contain_text("Ann Landlord")
    places = [each.bounding_box() for each in tree.locator("li").all()]
    lefts = [place["x"] for place in places if place is not None]
    assert lefts[0] < lefts[1] == lefts[4] < lefts[5]
    tree.get_by_role("link").first.click()
    expect(page).to_have_url("/ibidem/page/document?id=question")


def test_a_match_in_a_folded_quotation_is_seen(visit: Open) -> None:
    page = visit("/ibidem/page/document?id=last&q=notary")
    expect(page.locator("#m1")).to_be_visible()


@pytest.mark.parametrize("options", [{}, DARK, PHONE], ids=["light", "dark", "phone"])
@pytest.mark.parametrize("name", ["altered", "inline", "evil"])
def test_a_mail_is_accessible_fits_and_runs_no_script_of_its_author(visit: Open, name: str, options: object) -> None:
    page = visit(f"/ibidem/page/document?id={name}", **options)  # type: ignore[arg-type]
    assert not serious(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.title() == "Re: The lease · ibidem"
