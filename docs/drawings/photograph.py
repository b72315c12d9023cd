"""Take the pictures of the page: the list that README shows, and a mail below its thread.

python docs/drawings/photograph.py

The list holds the licence texts of this machine, as `ibidem demo` has them.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import ViewportSize, sync_playwright

from ibidem.demo import QUERY, demonstrate
from ibidem_core.settings import Settings, load
from ibidem_engines.connect import open_engine
from ibidem_engines.records import records
from ibidem_ingest.idf.store import Tables
from ibidem_mail.memberships import write_threads

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from gateway.gateway_server import run_gateway
from support.mail_thread import MAILS

SHOWN = {"q": QUERY, "source": "Python packages"}
SIZE: ViewportSize = {"width": 1080, "height": 1020}
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


def index_thread(folder: Path) -> Settings:
    """Index a thread of mails, without the one by a hostile author."""
    settings = Settings(engine=f"sqlite:///{folder}/mail.sqlite", tables=folder)
    engine = open_engine(settings.engine, settings.index)
    engine.create()
    engine.write(list(records([mail for mail in MAILS if mail.id != "evil"], Tables(folder))))
    engine.refresh()
    write_threads(engine)
    engine.close()
    return settings


def main() -> None:
    """Take both pictures."""
    with tempfile.TemporaryDirectory() as folder:
        list_settings = demonstrate(load(), folder=Path(folder) / "list").settings
        photograph(list_settings, f"/?{urlencode(SHOWN)}", SIZE, "page.png")
    with tempfile.TemporaryDirectory() as folder:
        photograph(index_thread(Path(folder)), "/ibidem/page/document?id=altered", MAIL_SIZE, "mail.png")


if __name__ == "__main__":
    main()
