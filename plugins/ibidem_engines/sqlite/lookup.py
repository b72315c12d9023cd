"""Look-up by signature in SQLite."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ibidem_engines.engine import LookupResult, SignatureLookup
from ibidem_engines.query import Query
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.read import matching_places, read_places
from ibidem_engines.sqlite.tables import as_json, word
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.signatures.lookup_keys import LONG_CLUES, LookupField

_WITH_VALUE = 'select rowid from "ibidem.{index}.keys" where "ibidem.{index}.keys" match ? order by rowid limit ?'
_LEADS_WITH_VALUE = """select rowid from "ibidem.{index}.keys" where "ibidem.{index}.keys" match ? and rowid <= ?
    and (select lead from "ibidem.{index}.documents" where place = "ibidem.{index}.keys".rowid)
    order by rowid limit ?"""
_COUNT = 'select count(*) from "ibidem.{index}.keys" where "ibidem.{index}.keys" match ? and rowid <> ?'
_OWN = 'select id, place from "ibidem.{index}.documents" where id in (select value from json_each(?))'


@dataclass(slots=True)
class _Answer:
    """The result of one search, as positions of documents."""

    places: set[int] = field(default_factory=set)
    capped: list[LookupField] = field(default_factory=list)
    copies: int = 0


def find(
    file: SqliteFile, searches: Sequence[SignatureLookup], query: Query | None, last_lead: int | None = None
) -> list[LookupResult]:
    """Look up values; see `Engine.find`, and `StoredGroups.with_value` for the leads up to a position."""
    answers = [_Answer() for _ in searches]
    with file.reading():
        own_places = _own_places(file, {each.own_id for each in searches})
        allowed_places = None if query is None else matching_places(file, query)
        look_up = _LookUp(file, allowed_places, last_lead)
        for answer, search in zip(answers, searches, strict=True):
            for lookup_field, values in search.values.items():
                look_up.answer(answer, lookup_field, values, search, own_places.get(search.own_id, 0))
        places = set(chain.from_iterable(answer.places for answer in answers))
        documents = read_places(file, places, leads=last_lead is not None)
    hits = [Hit(file.index, name, 0.0, packed, place) for place, name, packed in documents]
    number = {hit.order: at for at, hit in enumerate(hits)}
    return [_result(answer, hits, number) for answer in answers]


def _own_places(file: SqliteFile, ids: Iterable[str]) -> dict[str, int]:
    """Read the positions of the searching documents."""
    names = [name for name in ids if name]
    return dict(file.run(_OWN, (as_json(names),)).fetchall()) if names else {}


class _LookUp:
    """The look-ups of one call, in one snapshot of the file; each distinct value is looked up once."""

    def __init__(self, file: SqliteFile, allowed_places: set[int] | None, last_lead: int | None = None) -> None:
        self._file = file
        self._allowed_places = allowed_places
        self._last_lead = last_lead
        self._places_by_value: dict[tuple[str, int], list[int]] = {}

    def answer(
        self,
        answer: _Answer,
        lookup_field: LookupField,
        all_values: Sequence[str],
        search: SignatureLookup,
        own_place: int,
    ) -> None:
        """Add the documents with the values to a result, up to the limit."""
        min_shared = search.min_shared.get(lookup_field, 1)
        limit = search.hit_limit(lookup_field)
        # Positions ascend: the first few of each value contain the first few of all, plus the own one and one more.
        read_limit = limit + 2 if min_shared <= 1 and self._allowed_places is None else -1
        values = list(dict.fromkeys(all_values))
        with_value = [self._with_value(value, read_limit) for value in values]
        if lookup_field in LONG_CLUES:
            below_limit = [each for each in with_value if self._count_others(each, own_place) <= limit]
            answer.capped += [lookup_field] * (len(below_limit) < len(with_value))
            with_value = below_limit or [[]]
        places = (
            set(with_value[0]) if len(with_value) == 1 and min_shared <= 1 else _match_least(with_value, min_shared)
        )
        places.discard(own_place)
        if self._allowed_places is not None:
            places &= self._allowed_places
        answer.places.update(places if len(places) <= limit else sorted(places)[:limit])
        if lookup_field == "content":
            answer.copies = len(places) if len(places) <= limit else self._count(values, places, own_place)
        elif len(places) > limit and lookup_field not in answer.capped:
            answer.capped.append(lookup_field)

    def _count_others(self, places: Sequence[int], own_place: int) -> int:
        """Count the documents found, without the searching document."""
        return sum(
            place != own_place and (self._allowed_places is None or place in self._allowed_places) for place in places
        )

    def _with_value(self, value: str, limit: int) -> list[int]:
        """Read the positions of documents with a value, in ascending order."""
        key = value, limit
        if key not in self._places_by_value:
            phrase = f'"{word(value)}"'
            if self._last_lead is None:
                rows = self._file.run(_WITH_VALUE, (phrase, limit))
            else:
                rows = self._file.run(_LEADS_WITH_VALUE, (phrase, self._last_lead, limit))
            self._places_by_value[key] = [place for (place,) in rows]
        return self._places_by_value[key]

    def _count(self, values: Sequence[str], places: set[int], own_place: int) -> int:
        """Count the documents with a content hash; with a query, all are known."""
        if self._allowed_places is not None:
            return len(places)
        words = {word(value) for value in values}
        return sum(self._file.run(_COUNT, (f'"{each}"', own_place)).fetchone()[0] for each in words)


def _match_least(with_value: Sequence[Sequence[int]], min_shared: int) -> set[int]:
    """Return the positions with at least `min_shared` of the values."""
    if min_shared <= 1:
        return set(chain.from_iterable(with_value))
    return {place for place, count in Counter(chain.from_iterable(with_value)).items() if count >= min_shared}


def _result(answer: _Answer, hits: Sequence[Hit], number: dict[int, int]) -> LookupResult:
    """Return an answer's hits, ordered by id."""
    numbers = sorted([number[place] for place in answer.places if place in number])
    return LookupResult([hits[at] for at in numbers], answer.capped, answer.copies)
