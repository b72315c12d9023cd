"""Take the pictures of the page: the list that README shows, and a mail below its thread.

python docs/drawings/photograph.py

The list holds the notices of a news agency that `record.py` records on a terminal.
"""

import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_mail.memberships import write_threads
from ibidem_workers.batches import records

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from gateway.gateway_server import run_gateway
from support.mail_thread import MAILS

NOTICES: dict[str, str] = runpy.run_path(str(Path(__file__).with_name("record.py")))["FILES"]
SIZE: ViewportSize = {"width": 1080, "height": 760}
MAIL_SIZE: ViewportSize = {"width": 800, "height": 660}


def photograph(settings: Settings, address: str, size: ViewportSize, name: str) -> None:
    """Open an address of a gateway, and keep what it looks like."""
    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("no chromium on the path: install it (tests/servers/install.sh)")
    with run_gateway(settings) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=size)
        page.goto(url + address)
        page.screenshot(path=Path(__file__).with_name(name))
        browser.close()


def index(folder: Path, documents: Iterable[Document]) -> Settings:
    """Index documents, and settle the threads among them."""
    settings = Settings(engine=f"sqlite:///{folder}/index.sqlite", tables=folder)
    engine = open_engine(settings.engine, settings.index)
    engine.create()
    engine.write(list(records(documents, Tables(folder))))
    engine.refresh()
    write_threads(engine)
    engine.close()
    return settings


def main() -> None:
    """Take both pictures; the thread of mails is without the one by a hostile author."""
    days = ("2024-03-05", "2024-03-06", "2024-03-07", "2024-03-04")
    notices = [
        Document(name, text, text.splitlines()[0], day, name.partition(".")[0])
        for (name, text), day in zip(NOTICES.items(), days, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        photograph(index(Path(folder), notices), "/?q=merger", SIZE, "page.png")
    mails = [mail for mail in MAILS if mail.id != "evil"]
    with tempfile.TemporaryDirectory() as folder:
        photograph(index(Path(folder), mails), "/ibidem/page/document?id=altered", MAIL_SIZE, "mail.png")


if __name__ == "__main__":
    main()
