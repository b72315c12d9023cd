"""A search engine with accounts: the real one behind a server with two users, one of whom may not read all.

The guest reads through an alias with a filter, which represents the document rights of the engines' security plugins.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from gateway.conftest import Leases
from servers.fake_server import Answer, Between, Request, between
from servers.indices import ask

CLERK, GUEST = (f"Basic {base64.b64encode(pair).decode()}" for pair in (b"clerk:pw", b"guest:pw"))
HIDDEN = "copy"  # the document that the guest may not read

STRANGER = Answer(401, {"error": {"type": "security_exception", "reason": "who are you?"}, "status": 401})
FORBIDDEN = Answer(403, {"error": {"type": "security_exception", "reason": "not for you"}, "status": 403})


@dataclass(frozen=True)
class Accounts:
    """The rights of the two."""

    index: str  # the index's name

    @property
    def alias(self) -> str:
        """Through which the guest reads."""
        return f"{self.index}-guest"

    def plan(self, request: Request) -> Answer | Request | None:
        """Let the clerk do everything, and the guest read what he may."""
        authorization = {name.lower(): value for name, value in request.headers.items()}.get("authorization", "")
        if authorization not in (CLERK, GUEST):
            return STRANGER
        if authorization == CLERK:
            return None
        return self.narrow(request)

    def narrow(self, request: Request) -> Answer | Request:
        """Read through the alias; leave the hidden document out of what is read by id; write nothing."""
        action = request.path.partition("?")[0]
        if action.endswith("/_bulk"):
            return FORBIDDEN
        if action == "/_mget":
            docs = json.loads(request.body)["docs"]
            visible = [each for each in docs if each["_id"] != HIDDEN]
            return (
                replace(request, body=json.dumps({"docs": visible}).encode()) if visible else Answer(200, {"docs": []})
            )
        reads = any(word in action for word in ("_search", "_msearch", "_count", "_pit"))
        if reads and action.startswith(f"/{self.index}/"):
            return replace(request, path=request.path.replace(self.index, self.alias, 1))
        return request


@contextmanager
def with_accounts(leases: Leases) -> Iterator[Between]:
    """Stand before the leases until the block ends."""
    accounts = Accounts(leases.index)
    hides = {"bool": {"must_not": {"ids": {"values": [HIDDEN]}}}}
    added = {"actions": [{"add": {"index": leases.index, "alias": accounts.alias, "filter": hides}}]}
    ask(leases.settings.engine, "POST", "/_aliases", json.dumps(added))
    with between(leases.settings.engine, accounts.plan) as server:
        yield server
