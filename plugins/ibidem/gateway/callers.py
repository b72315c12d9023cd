"""Who calls: the headers that carry a caller's rights, handed to the engine as they came, and never more than these."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field

RIGHTS = ("authorization", "es-security-runas-user", "es-secondary-authorization", "securitytenant")
"""Headers by which an engine grants or narrows rights. What a proxy before an engine vouches for is not among them."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller as the engine will know him.

    Args:
        headers: Those of `RIGHTS` that were sent, with their values.
    """

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> "Caller":
        """Read the headers of a request; their names in any case.

        >>> Caller.of({"Authorization": "Basic YWRhOnB3", "cookie": "a=1"}).name
        'ada'
        """
        sent = {name.lower(): value for name, value in headers.items()}
        return cls(tuple((name, sent[name]) for name in RIGHTS if name in sent))

    @property
    def name(self) -> str:
        """The user's name where it was sent with a password; else empty."""
        scheme, _, value = dict(self.headers).get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return ""
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[0]
        except (binascii.Error, UnicodeDecodeError):
            return ""
