"""Reading long signatures in a cluster: of named documents only, and nothing else of them."""

from collections.abc import Sequence

from ibidem_engines import dsl
from ibidem_engines.exchange import Exchange
from ibidem_engines.hits import read_long
from ibidem_engines.target import Target

AT_ONCE = 200
"""Documents in a request: the long signatures of a book take some 100 KB."""


def long_values(target: Target, ids: Sequence[tuple[str, str]]) -> Exchange[dict[tuple[str, str], bytes]]:
    """Read the long signatures of documents by (index, id); those that have none are left out.

    Args:
        target: Where they are.
        ids: Index and id of each.
    """
    found: dict[tuple[str, str], bytes] = {}
    every = list(dict.fromkeys(ids))
    for at in range(0, len(every), AT_ONCE):
        found |= read_long((yield target.search(dsl.long_signatures(every[at : at + AT_ONCE]))))
    return found
