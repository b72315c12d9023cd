"""A real browser before a gateway over a real index: Debian's Chromium, driven by Playwright."""

import secrets
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from gateway.gateway_server import run_gateway
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import records
from servers.indices import remove_indices
from servers.missing import Missing
from support.leases import LEASE

OFF = ("gpu", "quic", "background-networking", "component-update", "sync")
ARGUMENTS = ["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in OFF)]
CITIES = ["York", "Leeds", "Bath", "Ely", "Wells", "Ripon", "Truro", "Derby", "Exeter", "Durham", "Oxford", "Lincoln"]
EVIL = '<script>document.title="caught"</script><img src=x onerror="document.title=\'caught\'">"\'&'
NOTICE = (
    "Trespassers on this estate will be prosecuted with the full force of the law, whether they come by day or night, "
    "on foot or on horseback, alone or in company, by order of the owner and of the parish council."
)
GREETING = "سلام"
DOCUMENTS = [
    Document("lease", LEASE, title="Lease: rent, roof, drains", date="2001-05-01", source="Chambers", version=1),
    Document("copy", LEASE.upper(), title="Lease (copy)", date="2001-06-02", source="Registry", version=1),
    Document(
        "draft", LEASE.replace("London", "York"), title="Lease (draft)", date="2001-04", source="Chambers", version=1
    ),
    Document(
        "evil", f"drains {EVIL} " * 9, title=EVIL, source=EVIL, url="javascript:document.title='caught'", version=1
    ),
    *(
        Document(f"letter-{city}", f"Dear Sir, the rent of the house in {city} has not arrived.", title=f"From {city}")
        for city in CITIES
    ),
    Document(
        "rtl", f"{GREETING} Miete drains.", title=GREETING, date="2003-01-01", source="صحيفة", language="ar", version=1
    ),
    *(Document(f"notice-{number}", NOTICE, title="Notice") for number in range(105)),
]


def chromium() -> str:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path:
        return path
    raise Missing("no chromium on the path: install it (tests/servers/install.sh)")


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """The browser; each test has a window of its own.

    It ends with its module: while it runs, its driver's event loop disturbs tests that run one themselves.
    """
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site(opensearch: str, tables: Tables) -> Iterator[str]:
    """The address of a gateway over leases and letters in OpenSearch, whose readers may say what is a duplicate."""
    settings = Settings(
        engine=opensearch, index=f"browsed-{secrets.token_hex(4)}", tables=tables.folder, gateway_overrides=True
    )
    engine = open_engine(settings.engine, settings.index)
    engine.create()
    engine.write(list(records(DOCUMENTS, tables)))
    engine.refresh()
    engine.close()
    with run_gateway(settings) as url:
        yield url
    remove_indices(opensearch, settings.index)


Open = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, site: str) -> Iterator[Open]:
    """Opens a page in a window of its own; when the test ends, the console has to be empty."""
    contexts: list[BrowserContext] = []
    messages: list[str] = []

    def visit(path: str, **options: object) -> Page:
        context = browser.new_context(base_url=site, **options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on(
            "request",
            lambda request: messages.append(request.url) if not request.url.startswith((site, "data:")) else None,
        )
        page.goto(path)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not messages
