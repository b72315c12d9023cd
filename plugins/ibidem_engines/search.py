"""Protocol of a search: everything that an engine reads for one query, as request flows.

Whoever waits runs a flow by `Engine.run`, at the outermost edge; SQLite sends no requests, and has its answers at once.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ibidem_engines.cursor import NOW, ReadView
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import Collapsed, Members, Order, Place
from ibidem_engines.stored_memberships import Memberships

if TYPE_CHECKING:
    from ibidem_engines.engine import Hit, LookupResult, Ranking, SignatureLookup, StoredDocument
    from ibidem_engines.engine_plugin import GroupedHits
    from ibidem_engines.reindex import Marks


class EngineSearch(Protocol):
    """One query to an engine; the methods raise the errors of `Engine`.

    Where the query is None, everything matches, and nothing can be ranked.
    """

    def window(self, size: int, view: ReadView = NOW, exclude: Collection[str] = ()) -> RequestFlow["Ranking"]:
        """Read the top of the ranking; see `Engine.search`."""

    def grouped(
        self, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW
    ) -> RequestFlow["GroupedHits | None"]:
        """Let a plugin inside the engine search and group; None unless every node has it.

        Args:
            options: How to group, as the plugin reads it.
            start: How many groups come before the page's.
            size: Groups on the page.
            view: As in `window`.
        """

    def fetch(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[list["StoredDocument"]]:
        """Read documents by (index, id); see `Engine.fetch`."""

    def dates(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], str]]:
        """Read the dates of documents; see `Engine.dates`."""

    def find(self, searches: Sequence["SignatureLookup"]) -> RequestFlow[list["LookupResult"]]:
        """Look up signature values among the matches; see `Engine.find`."""

    def long_signatures(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], bytes]]:
        """Read long signatures; see `Engine.long_signatures`."""

    def collapse(
        self, place: Place, size: int, *, settled_marks: "Marks", order: Order = "relevance", view: ReadView = NOW
    ) -> RequestFlow[Collapsed]:
        """Rank the matches, keeping only the best document of each stored group.

        Args:
            place: Start of the page.
            size: How many groups.
            settled_marks: Up to which write of each part groups are settled.
            order: How documents are ordered.
            view: What it reads: that of an earlier ranking.

        Raises:
            UsageError: The place lies beyond what can be counted off.
        """

    def members(
        self, groups: Sequence[str], limit: int, *, order: Order = "relevance", view: ReadView = NOW
    ) -> RequestFlow[Members]:
        """Read up to `limit` matching documents of each of some stored groups, in rank order."""

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, "Hit"]]:
        """Read the matching leads of some stored groups."""

    def memberships(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], Memberships]]:
        """Read the thread and the work of documents by (index, id); see `MembershipStore.read`."""
