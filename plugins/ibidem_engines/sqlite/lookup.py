"""Look-up by signature in SQLite."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import numpy as np

from ibidem_engines.engine import LookupResult, SignatureLookup
from ibidem_engines.query import Query
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.read import matching_places, read_places
from ibidem_engines.sqlite.tables import MARKED, CountMinSketch, as_json, marks, word
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.signatures.lookup_keys import LONG_CLUES, LookupField

DOCUMENTS_PER_LOOKUP = 8  # documents whose marks are read in about the time that one value takes to look up

VALUES = 37  # marks of one document: 33 bands, content hash, two fingerprints, profile


_CARRIERS = 'select rowid from "ibidem.{index}.keys" where "ibidem.{index}.keys" match ? order by rowid limit ?'
_LEADING = """select rowid from "ibidem.{index}.keys" where "ibidem.{index}.keys" match ? and rowid <= ?
    and (select lead from "ibidem.{index}.documents" where place = "ibidem.{index}.keys".rowid)
    order by rowid limit ?"""
_COUNT = 'select count(*) from "ibidem.{index}.keys" where "ibidem.{index}.keys" match ? and rowid <> ?'
_MARKS = 'select marks from "ibidem.{index}.documents" where place > ? and place <= ? order by place'
_OWN = 'select id, place from "ibidem.{index}.documents" where id in (select value from json_each(?))'
_AT_ONCE = 10_000


class _Question(NamedTuple):
    """The values of one class in one search that another document may have."""

    position: int  # place of the search in the call
    lookup_field: LookupField  # the class
    values: Sequence[str]


@dataclass(slots=True)
class _Answer:
    """The result of one search, as positions of documents."""

    places: set[int] = field(default_factory=set)
    capped: list[LookupField] = field(default_factory=list)
    copies: int = 0


class Finder:
    """Look-ups in one index, with this process's cached values.

    Most values of a new document occur in it alone. The marks of all documents show which are shared; they are
    read once and then only of those written since, in the same transaction as the look-up itself: whatever is committed
    before a look-up begins is found by it. Marks are read as soon as values looked up without them have cost as much.
    """

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._sketch = CountMinSketch(0)
        self._newest = 0
        self._lookups = 0

    def find(
        self, searches: Sequence[SignatureLookup], query: Query | None, last_lead: int | None = None
    ) -> list[LookupResult]:
        """Look up values; see `Engine.find`, and `StoredGroups.with_value` for the leads up to a position."""
        answers: defaultdict[int, _Answer] = defaultdict(_Answer)
        with self._file.reading():
            questions = self._worth_asking(searches)
            own_places = self._own_places({searches[each.position].own_id for each in questions})
            allowed_places = None if query is None else matching_places(self._file, query)
            look_up = _LookUp(self._file, allowed_places, last_lead)
            for each in questions:
                search = searches[each.position]
                look_up.answer(answers[each.position], each, search, own_places.get(search.own_id, 0))
            places = set(chain.from_iterable(answer.places for answer in answers.values()))
            documents = read_places(self._file, places, leads=last_lead is not None)
        hits = [Hit(self._file.index, name, 0.0, packed, place) for place, name, packed in documents]
        number = {hit.order: at for at, hit in enumerate(hits)}
        nothing = LookupResult(())
        return [_result(answers[at], hits, number) if at in answers else nothing for at in range(len(searches))]

    def _worth_asking(self, searches: Sequence[SignatureLookup]) -> list[_Question]:
        """Remove the values that no document has, or only the searching document."""
        questions = [
            _Question(at, lookup_field, values)
            for at, search in enumerate(searches)
            for lookup_field, values in search.values.items()
        ]
        marked_questions = [each for each in questions if each.lookup_field in MARKED]
        values = list(chain.from_iterable([each.values for each in marked_questions]))
        if not self._read_marks(len(values)):
            return questions
        sizes = [len(each.values) for each in marked_questions]
        own_counts = np.repeat([bool(searches[each.position].own_id) for each in marked_questions], sizes)
        positions = np.flatnonzero(self._sketch.counts(marks(values)) > own_counts)
        values_by_question: dict[int, list[str]] = {}
        for number, place in zip(
            np.repeat(np.arange(len(sizes)), sizes)[positions].tolist(), positions.tolist(), strict=True
        ):
            values_by_question.setdefault(number, []).append(values[place])
        shared = [
            _Question(marked_questions[number].position, marked_questions[number].lookup_field, shared_values)
            for number, shared_values in values_by_question.items()
        ]
        return shared + [each for each in questions if each.lookup_field not in MARKED]

    def _read_marks(self, goal: int) -> bool:
        """Hash the values of documents written since the last call, if cheaper than looking them up."""
        (newest,) = self._file.run('select coalesce(max(place), 0) from "ibidem.{index}.documents"').fetchone()
        self._lookups += goal
        if abs(newest - self._newest) > DOCUMENTS_PER_LOOKUP * self._lookups:
            return False
        if newest < self._newest or not self._sketch.holds(VALUES * (newest - self._newest)):
            self._sketch, self._newest = CountMinSketch(2 * VALUES * newest), 0
        rows = self._file.run(_MARKS, (self._newest, newest))
        while batch := rows.fetchmany(_AT_ONCE):
            self._sketch.learn(np.frombuffer(b"".join([row[0] for row in batch]), np.uint32))
        self._newest, self._lookups = newest, 0
        return True

    def _own_places(self, ids: Iterable[str]) -> dict[str, int]:
        """Read the positions of the searching documents."""
        names = [name for name in ids if name]
        return dict(self._file.run(_OWN, (as_json(names),)).fetchall()) if names else {}


class _LookUp:
    """The look-ups of one call, in one snapshot of the file; each distinct value is looked up once."""

    def __init__(self, file: SqliteFile, allowed_places: set[int] | None, last_lead: int | None = None) -> None:
        self._file = file
        self._allowed_places = allowed_places
        self._last_lead = last_lead
        self._carrier_cache: dict[tuple[str, int], list[int]] = {}

    def answer(self, answer: _Answer, question: _Question, search: SignatureLookup, own_place: int) -> None:
        """Add the documents with the values to a result, up to the limit."""
        min_shared = search.min_shared.get(question.lookup_field, 1)
        limit = search.hit_limit(question.lookup_field)
        # Positions ascend: the first few of each value contain the first few of all, plus the own one and one more.
        read_limit = limit + 2 if min_shared <= 1 and self._allowed_places is None else -1
        values = list(dict.fromkeys(question.values))
        with_value = [self._carriers(value, read_limit) for value in values]
        if question.lookup_field in LONG_CLUES:
            below_limit = [each for each in with_value if self._count_others(each, own_place) <= limit]
            answer.capped += [question.lookup_field] * (len(below_limit) < len(with_value))
            with_value = below_limit or [[]]
        places = (
            set(with_value[0]) if len(with_value) == 1 and min_shared <= 1 else _match_least(with_value, min_shared)
        )
        places.discard(own_place)
        if self._allowed_places is not None:
            places &= self._allowed_places
        answer.places.update(places if len(places) <= limit else sorted(places)[:limit])
        if question.lookup_field == "content":
            answer.copies = len(places) if len(places) <= limit else self._count(question.values, places, own_place)
        elif len(places) > limit and question.lookup_field not in answer.capped:
            answer.capped.append(question.lookup_field)

    def _count_others(self, places: Sequence[int], own_place: int) -> int:
        """Count the documents found, without the searching document."""
        return sum(
            place != own_place and (self._allowed_places is None or place in self._allowed_places) for place in places
        )

    def _carriers(self, value: str, limit: int) -> list[int]:
        """Read the positions of documents with a value, in ascending order."""
        key = value, limit
        if key not in self._carrier_cache:
            phrase = f'"{word(value)}"'
            if self._last_lead is None:
                rows = self._file.run(_CARRIERS, (phrase, limit))
            else:
                rows = self._file.run(_LEADING, (phrase, self._last_lead, limit))
            self._carrier_cache[key] = [place for (place,) in rows]
        return self._carrier_cache[key]

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
