"""Search of an index in an SQLite file: flows without requests, since the file answers at once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from ibidem_engines.cursor import NOW, ReadView
from ibidem_engines.engine import EngineSearch, LookupResult, Ranking, SignatureLookup, StoredDocument
from ibidem_engines.query import Query
from ibidem_engines.requests import RequestFlow, answered
from ibidem_engines.sqlite import groups, read
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.lookup import find
from ibidem_engines.sqlite.memberships import SqliteMemberships
from ibidem_engines.stored_groups import Collapsed, Hit, Marks, Members, Order, Place, Values


@dataclass(frozen=True, slots=True)
class SqliteSearch(EngineSearch):
    """One query to a file; ranked by bm25, with double weight for titles."""

    file: SqliteFile  # file of the index
    query: Query | None = None  # for what; None: for everything

    @property
    def _ranked(self) -> Query:
        return Query() if self.query is None else self.query

    @override
    def window(self, size: int, view: ReadView = NOW, exclude: Collection[str] = ()) -> RequestFlow[Ranking]:
        return answered(read.window(self.file, self._ranked, size, view, exclude))

    @override
    def grouped(self, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW) -> RequestFlow[None]:
        return answered(None)

    @override
    def fetch(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[list[StoredDocument]]:
        return answered(read.fetch(self.file, ids, self.query))

    @override
    def dates(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], str]]:
        return answered(read.dates(self.file, ids))

    @override
    def find(self, searches: Sequence[SignatureLookup]) -> RequestFlow[list[LookupResult]]:
        return answered(find(self.file, searches, self.query))

    @override
    def long_signatures(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], bytes]]:
        return answered(read.long_signatures(self.file, ids))

    @override
    def collapse(
        self, place: Place, size: int, *, settled_marks: Marks, order: Order = "relevance", view: ReadView = NOW
    ) -> RequestFlow[Collapsed]:
        return answered(
            groups.collapse(self.file, self._ranked, place, size, settled_marks=settled_marks, order=order, view=view)
        )

    @override
    def members(
        self, names: Sequence[str], limit: int, *, order: Order = "relevance", view: ReadView = NOW
    ) -> RequestFlow[Members]:
        return answered(groups.members(self.file, self._ranked, names, limit, order, view))

    @override
    def leads(self, names: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        return answered(groups.leads(self.file, self._ranked, names))

    @override
    def memberships(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], Values]]:
        return SqliteMemberships(self.file).read(ids)
