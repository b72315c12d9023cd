"""Groups of texts in memory: a list of texts is grouped like the hits of a search, without an index."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import starmap
from typing import Literal

from ibidem.grouped_search.api import reason, with_differing_sign
from ibidem.grouped_search.pages import version_places
from ibidem.grouped_search.response import NO_PLACES, Passage, Side, Window, choose_lead, overlaps
from ibidem_dedupe.collection import CollectionFigures
from ibidem_dedupe.parameters import pair_policy, read
from ibidem_dedupe.policy import Level, Policy
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.dates import interval
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError, short_repr
from ibidem_ingest.idf.store import GeneralTables, Tables
from ibidem_ingest.language import detect
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_ingest.signatures.sign import sign_and_pack


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A text that repeats the lead of its group, or a passage that overlaps with it."""

    place: int  # its place in the list, from 0
    level: Level  # `identical`, `near` or `partial`; of a neighbour `partial`
    reason: str  # why it is in the group, in words
    # Place of the text that it repeats or overlaps: the lead, or the first of the group where another one leads that
    # would not pass with it alone.
    of: int
    # Of a neighbour where it stands, seen from `of`: `before`, `after` or `within`; else empty.
    side: Side | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class TextGroup:
    """Texts that repeat each other, and neighbours from the same document.

    Args:
        lead: Place of the one to show in the list, from 0.
        duplicates: The others, in the order of the list.
    """

    lead: int
    duplicates: tuple[Duplicate, ...] = ()

    @property
    def neighbours(self) -> tuple[Duplicate, ...]:
        """The texts that overlap another text of the group in their document."""
        return tuple(each for each in self.duplicates if each.side)


def group_texts(  # noqa: PLR0913 - named options of a public function
    texts: Sequence[str | Passage],
    *,
    level: Level = "near",
    similarity: int | None = None,
    preset: str = "",
    policy: Policy | None = None,
    language: str = "",
    tables: Tables | None = None,
    keep: str = "rank",
) -> list[TextGroup]:
    """Group a list of texts, such as the passages of a retriever; no setting is read and nothing is stored.

    A text joins the first lead before it that it duplicates, or begins a group. Every text is in exactly one group.
    Passages that name one document join, too, where the end of one is the beginning of the other, by five words or
    more, as a sliding window cuts them; they are neighbours and not duplicates.

    Args:
        texts: In the order of their rank; passages where documents, dates or sources matter.
        level: The weakest level that joins two texts: `identical`, `near` or `partial`. Relations of long texts need an
            index.
        similarity: Percentage of five-word runs that near duplicates share, 20 to 100, as in `dedupe_similarity`.
        preset: Figures for a kind of text, as `dedupe_preset` says it: `news`, `law`, `books`, `scans`. Where neither
            is given, 200 texts and more are grouped by the rule of their collection, whose misread texts are counted.
        policy: The whole decision for a pair, in place of level, similarity and preset.
        language: ISO 639 code of all texts; where it is empty, it is detected once for each document, from all its
            passages, and for each text of an unknown document.
        tables: The idf tables; by default the general ones, which are made in memory at the first call.
        keep: Which text of a group leads, as `dedupe_keep` says it: the first in `rank` (the best score), the
            `earliest`, `latest` or `longest`, the `current` version by what titles and names of documents say
            (`lease v2`) and by date, or `source:NAME,…`. The order of the groups stays that of the list.

    Raises:
        UsageError: `texts` is one string and no list, or holds something else; a date cannot be read; `keep` has
            another value, or asks for the earliest or latest of texts without dates.

    Examples:
        >>> rent = "The tenant shall pay the rent on the first day of each month, in advance and without demand."
        >>> groups = group_texts([rent, "Either party may end this lease.", rent.upper()], language="en")
        >>> [(group.lead, [(each.place, each.level) for each in group.duplicates]) for group in groups]
        [(0, [(2, 'identical')]), (1, [])]
        >>> cut = [Passage("It ends in May. The tenant shall then leave the house.", "lease.pdf"),
        ...        Passage("The tenant shall then leave the house, with its keys.", "lease.pdf")]
        >>> [each.reason for each in group_texts(cut, language="en")[0].neighbours]
        ['follows it in the same document, 7 words overlap']
    """
    choice = read("dedupe_keep", keep)
    if isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
        raise UsageError(f"texts is {short_repr(texts)}, no list of texts", "give the texts in a list, even one alone")
    passages = [Passage.of(text, place) for place, text in enumerate(texts)]
    if choice.by in ("earliest", "latest") and passages and not any(each.date for each in passages):
        where = "to a component for a framework, date_key with the key of the metadata"
        remedy = f"give ibidem.Passage(text, date=…); {where}"
        raise UsageError(f"keep={choice.by!r}, but no text has a date", remedy)
    if policy is not None and (level, similarity, preset) != ("near", None, ""):
        raise UsageError("policy is given beside level, similarity or preset", "give either a policy or those")
    signed = sign_texts(passages, language, tables or general_tables())
    hits = [Hit("", str(row), 0.0, packed) for row, packed in enumerate(signed)]
    overlap = overlaps(passages)
    window = Window.group(hits, policy or default_policy(signed, level, similarity, preset), overlaps=overlap)
    groups = [*window.grouping.members(window.grouping.leads.tolist()).values()]
    is_current = choice.by == "current"
    versions = (Document(each.document or "?", "", each.title, each.date) for each in passages)
    places = version_places(groups, dict(enumerate(versions))) if is_current else NO_PLACES
    # No neighbour leads a group, since the best passage of a document was found.
    may_lead = ([row for row in rows if (row, rows[0]) not in overlap] for rows in groups)
    leads = [choose_lead(window.columns, rows, choice, places) for rows in may_lead]

    def explain(row: int, *others: int) -> Duplicate:
        """Return a row with the reason why it belongs to the lead, or else to the first row of the group."""
        for other in others:
            if row != other and (found := window.evidence(row, other)) is not None:
                why = with_differing_sign(found.why, passages[other].text, passages[row].text)
                side = overlap[row, other].side if (row, other) in overlap else ""
                return Duplicate(row, found.level, reason(why), other, side)
        raise AssertionError(f"row {row} joined {others[-1]} without evidence")

    return [
        TextGroup(lead, tuple(explain(row, lead, rows[0]) for row in rows if row != lead))
        for rows, lead in zip(groups, leads, strict=True)
    ]


general_tables = cache(GeneralTables)  # each of them takes seconds to make


def default_policy(signed: Sequence[bytes], level: Level, similarity: int | None, preset: str) -> Policy:
    """Return the decision for a pair that the arguments name, or else the rule of the collection if it is large."""
    try:
        named = pair_policy({"dedupe_level": level, "dedupe_similarity": similarity, "dedupe_preset": preset})
    except UsageError as error:
        raise UsageError(error.what.replace("dedupe_", ""), error.remedy.replace("dedupe_", "")) from error
    if similarity is not None or preset or len(signed) < noise.MIN_DOCUMENTS:
        return named
    return CollectionFigures.count(PackedColumns.decode(signed)).policy().at(named.level)


def sign_texts(passages: Sequence[Passage], language: str, tables: Tables) -> list[bytes]:
    by_document = {} if language else document_languages(passages)

    def document(place: int, passage: Passage) -> Document:
        date, code = check_date(passage.date, f"passage {place}"), language or by_document.get(passage.document, "")
        return Document(str(place), passage.text, date=date, source=passage.source, language=code)

    return [packed for _, _, packed in sign_and_pack(starmap(document, enumerate(passages)), tables)]


def document_languages(passages: Iterable[Passage]) -> dict[str, str]:
    """Detect the language of each document from all its passages, as when the document is signed.

    >>> rent = "The tenant shall pay the rent on the first day of each month, in advance and without demand."
    >>> document_languages([Passage(rent, "lease"), Passage("And so on.", "lease")])
    {'lease': 'en'}
    """
    texts: dict[str, list[str]] = defaultdict(list)
    for each in passages:
        if each.document:
            texts[each.document].append(each.text)
    return {document: detect("\n".join(some)) for document, some in texts.items()}


def check_date(date: str, holder: str) -> str:
    """Return a date; the error names the text that has it."""
    if date:
        try:
            interval(date)
        except ValueError as error:
            raise UsageError(f"date of {holder}: {error}", "give it as ISO 8601, or leave it out") from error
    return date
