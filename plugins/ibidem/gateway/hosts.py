"""By which name the gateway is called, and from which site: no page of another site acts in a reader's name.

A browser tells where a request comes from (`Sec-Fetch-Site`, else `Origin`); what changes anything or costs anything is
refused when that is another site. A name that the gateway does not have is refused too, so that no site reaches it by
pointing a name of its own at this machine.
"""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from ibidem.gateway.refusals import Answered

SAFE = ("GET", "HEAD", "OPTIONS")
COSTLY = ("/ibidem/groups", "/ibidem/page/export")
"""Paths that take a processor for seconds: no link of another site leads there."""

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^:/@\s]+)(?::\d{1,5})?")


def check_host(host: str, known: tuple[str, ...]) -> None:
    """Refuse a name that the gateway is not called by.

    Args:
        host: The header `Host`.
        known: Names without ports; `*` for any.

    Raises:
        Answered: It is another's name.
    """
    matched = _HOST.fullmatch(host)
    if "*" in known or (matched and matched["name"].lower() in known):
        return
    raise Answered(
        421,
        "misdirected_request_exception",
        f"this gateway is not called {host!r}",
        f"it is called {', '.join(known)}; IBIDEM_GATEWAY_HOSTS names others",
    )


def check_site(method: str, headers: Mapping[str, str], path: str = "/") -> None:
    """Refuse a request which a page of another site sent, but for links that a reader follows.

    Args:
        method: The request's method.
        headers: Its headers, names in small letters.
        path: What is asked for.

    Raises:
        Answered: It comes from another site.
    """
    if same_site(headers):
        return
    followed = headers.get("sec-fetch-mode", "navigate") == "navigate" and not path.startswith(COSTLY)
    if method in SAFE and followed:
        return
    raise Answered(
        403,
        "security_exception",
        "a page of another site sent this request",
        "open the gateway's own page, or send the request with a program",
    )


def same_site(headers: Mapping[str, str]) -> bool:
    """Tell whether a request comes from the gateway's own page, from the address bar or from a program.

    >>> same_site({"host": "ibidem.example", "origin": "https://elsewhere.example"})
    False
    """
    if site := headers.get("sec-fetch-site"):
        return site in ("same-origin", "none")
    try:
        sent = [urlsplit(headers[name]).netloc for name in ("origin", "referer") if name in headers]
    except ValueError:
        return False
    return all(netloc == headers.get("host") for netloc in sent)
