"""Take the picture of the page that README shows: the licence texts of this machine, as `ibidem demo --serve` has them.

python docs/drawings/photograph.py
"""

import shutil
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

import uvicorn
from playwright.sync_api import sync_playwright

from ibidem.demo import QUERY, demonstrate
from ibidem.gateway.app import make_gateway
from ibidem_core.settings import load

SHOWN = {"q": QUERY, "source": "Python packages"}
SIZE = {"width": 1080, "height": 1020}


def main() -> None:
    """Index the licence texts, open the page, and keep what it looks like."""
    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("no chromium on the path: install it (tests/servers/install.sh)")
    with tempfile.TemporaryDirectory() as folder:
        settings = demonstrate(load(), folder=Path(folder)).settings
        server = uvicorn.Server(uvicorn.Config(make_gateway(settings), port=0, log_level="error"))
        threading.Thread(target=server.run, daemon=True).start()
        while not server.started:
            time.sleep(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport=SIZE)
            page.goto(f"http://127.0.0.1:{port}/?{urlencode(SHOWN)}")
            page.screenshot(path=Path(__file__).with_name("page.png"))
            browser.close()
        server.should_exit = True


if __name__ == "__main__":
    main()
