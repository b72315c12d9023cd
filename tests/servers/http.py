"""Ask a search engine that is starting whether it is ready."""

import urllib.request


def healthy(port: int) -> bool:
    """Return whether a node on this port has elected itself and answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_cluster/health?local=true", timeout=5) as answer:
            return b'"status":"green"' in answer.read()
    except OSError:
        return False
