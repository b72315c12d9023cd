"""Documents of an index, read by id, with their duplicates; manual overrides of pairs are added, removed and read."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from ibidem.grouped_search.api import reason, relation_name
from ibidem.grouped_search.pages import build_lookup, cut_fields
from ibidem.grouped_search.response import Window
from ibidem.grouped_search.texts import check_date, general_tables
from ibidem_dedupe.overrides import VERDICTS, DocumentRef, Override
from ibidem_dedupe.pair_evidence import Evidence, page_of
from ibidem_dedupe.pairs import LongSignatureCache
from ibidem_dedupe.parameters import pair_policy
from ibidem_dedupe.policy import Level, Policy
from ibidem_engines.engine import Engine, SignatureLookup, StoredDocument
from ibidem_engines.ledger import load_overrides, lookup_presets
from ibidem_engines.query import Filter, Query
from ibidem_engines.requests import in_slices
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.document import Document
from ibidem_ingest.errors import MissingDocument, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.mail.head import MIH, with_hash
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import LookupField, content_key, lookup_keys
from ibidem_ingest.signatures.packed import LONG, NO_DATE, Packed, unpack
from ibidem_ingest.signatures.sign import sign_and_pack
from ibidem_workers.groups.follower import follow_decisions

AT_ONCE = 500
GROUPS_NOTE = "stored groups follow when a user who may write documents settles them: ibidem regroup"
TEXTS_AT_ONCE = 20  # documents whose texts are in memory together
NO_ID = "\0"  # in place of the id of a document that is not in the index: none there has it


def read_document(engine: Engine, id_: str, remedy: str = "find ids with: ibidem search QUERY") -> Document:
    documents = engine.fetch([(engine.index, id_)])
    if not documents:
        raise MissingDocument(f"no document {id_!r} in index {engine.index!r}", remedy)
    return documents[0].document


def titles(engine: Engine, names: Sequence[DocumentRef]) -> Mapping[DocumentRef, str]:
    """Return the titles of documents, except for deleted ones."""
    return {(each.index, each.document.id): each.document.title for each in engine.fetch(names)} if names else {}


def stored_documents(engine: Engine, progress: Callable[[int], None] = lambda _: None) -> Iterator[Document]:
    """Yield all documents of an index in full."""
    count = 0
    for hits in engine.scan(size=AT_ONCE):
        yield from (stored.document for stored in fetch_documents(engine, [hit.name for hit in hits]))
        count += len(hits)
        progress(count)


def fetch_documents(engine: Engine, names: Sequence[DocumentRef]) -> Iterator[StoredDocument]:
    """Yield documents in full; missing ones are skipped."""
    for batch in in_slices(names, TEXTS_AT_ONCE):
        yield from engine.fetch(batch)


def fetch_hits(engine: Engine, values: Sequence[str], field: str = "id") -> Iterator[Hit]:
    """Yield the packed signatures of documents by id, or by another field; missing ones are skipped."""
    for batch in in_slices(values, AT_ONCE):
        query = Query(filters=tuple(Filter(field, value) for value in batch))
        ranking = engine.search(query, AT_ONCE)
        if ranking.total > len(ranking.hits):  # several indexes have the same ids
            ranking = engine.search(query, ranking.total)
        yield from ranking.hits


def add_override(engine: Engine, pair: tuple[str, str], typed: str, *, author: str, reason: str = "") -> Override:
    """Store a manual decision, replacing an earlier one, and settle the stored groups of both documents."""
    if (verdict := next((each for each in VERDICTS if each == typed), None)) is None:
        raise UsageError(f"verdict {typed!r} is not known", f"allowed: {', '.join(VERDICTS)}")
    (a, content_a), (b, content_b) = (find_alone(engine, id_) for id_ in pair)
    today = datetime.now(UTC).date().isoformat()
    word = Override(a, b, verdict, author, reason, today, content_a, content_b)
    engine.put_records("overrides", {word.key: word.as_record()})
    follow_decisions(engine)
    return word


def remove_override(engine: Engine, a: str, b: str, *, readable: bool = False) -> list[Override]:
    """Remove and return the manual decision on two documents, and settle their stored groups without it."""
    overrides = find_overrides(engine, (a, b), readable=readable)
    if not overrides:
        raise MissingDocument(f"no manual decision on {a!r} and {b!r}", "list them with: ibidem overrides list")
    engine.delete_records("overrides", [word.key for word in overrides])
    follow_decisions(engine)
    return overrides


def report_overrides(engine: Engine, overrides: Sequence[Override]) -> dict[str, Any]:
    """Return the records of overrides that were added or removed, and a remedy where stored groups do not follow."""
    remedy = {} if follow_decisions(engine, 0) else {"remedy": GROUPS_NOTE}
    return {"overrides": [each.as_record() for each in overrides], **remedy}


def find_overrides(engine: Engine, pair: Sequence[str] = (), *, readable: bool = True) -> list[Override]:
    """Return the manual decisions, or those on a pair; only if the engine's user may read both documents."""
    overrides = [word for word in load_overrides(engine) if not pair or {word.a[1], word.b[1]} == {*pair}]
    if not readable:
        return overrides
    ids = sorted({name for word in overrides for _, name in (word.a, word.b)})
    known_names = {hit.name for hit in fetch_hits(engine, ids)}
    return [word for word in overrides if word.a in known_names and word.b in known_names]


def read_decision(engine: Engine, a: str, b: str) -> Override | None:
    """Return the manual decision on two readable documents; None if there is none."""
    return next(iter(find_overrides(engine, (a, b))), None)


def find_alone(engine: Engine, id_: str) -> tuple[DocumentRef, str]:
    """Return index, id and content hash of a signed document; a decision becomes stale when the hash changes."""
    values = [(hit, unpack(hit.packed or b"")) for hit in fetch_hits(engine, [id_])]
    found = [(hit.name, content_key(packed)) for hit, packed in values if packed is not None]
    if not found:
        what = f"no signed document {id_!r} in index {engine.index!r}"
        raise MissingDocument(what, "find ids with: ibidem search QUERY")
    if len(found) > 1:
        what = f"document {id_!r} is in several indexes: {', '.join(sorted(index for (index, _), _ in found))}"
        raise UsageError(what, "name one of them in IBIDEM_INDEX")
    return found[0]


@dataclass(frozen=True, slots=True)
class Duplicate:
    index: str
    id: str
    title: str  # its title, or an empty string
    evidence: Evidence  # evidence that makes it one

    @property
    def level(self) -> Level:
        """The strongest level that joins it: `identical`, `near` or `partial`."""
        return self.evidence.level

    @property
    def reason(self) -> str:
        """Why it is a duplicate, in words."""
        return reason(self.evidence.why)

    def as_json(self) -> dict[str, object]:
        """Return the duplicate as shown by `ibidem inspect --json`."""
        found = self.evidence
        decided = {"level": found.level, "relation": relation_name(found), "score": found.score, "why": dict(found.why)}
        return {"id": self.id, "title": self.title, **decided}


class Inspection(NamedTuple):
    id: str  # the document's id
    title: str  # its title, or an empty string
    signatures: Mapping[str, object]  # its signatures, by name
    duplicates: Sequence[Duplicate]  # its duplicates, identical ones first, then the higher score
    capped: Sequence[LookupField]  # classes of values that too many documents carry; duplicates may be missing

    def as_json(self) -> dict[str, object]:
        """Return the output of `ibidem inspect --json`."""
        fields = {name: getattr(self, name) for name in ("id", "title", "signatures")}
        return fields | {"duplicates": [each.as_json() for each in self.duplicates], "capped": self.capped}


def inspect(engine: Engine, name: str, policy: Policy | None = None) -> Inspection:
    """Find the duplicates of a document in the whole index."""
    if (document := next(fetch_hits(engine, [name]), None)) is None:
        raise MissingDocument(f"no document {name!r} in index {engine.index!r}", "find ids with: ibidem search QUERY")
    if (packed := unpack(document.packed or b"")) is None:
        raise UsageError(f"document {name!r} carries no signatures", "ingest it again to sign it")
    own_overrides = [each for each in load_overrides(engine) if document.name in (each.a, each.b)]
    return _inspect(engine, document, packed, policy or Policy(), overrides=own_overrides)


def inspect_outside(
    engine: Engine, document: Document, tables: Tables, policy: Policy, distinct: Sequence[str] = ()
) -> Inspection:
    """Find the documents of an index that one repeats which is not in it; nothing is stored."""
    ((_, stored, value),) = sign_and_pack([replace(document, id=NO_ID)], tables, distinct)
    packed = unpack(value)
    if packed is None or not packed.length:
        raise UsageError(f"{document.id} holds no words", "give a text to look for")
    found = _inspect(engine, Hit("", "", 0.0, value), packed, policy, outside=stored.long)
    return found._replace(id=document.id, title=document.title)


def duplicates_of(  # noqa: PLR0913 - named options of a public function
    text: str,
    *,
    engine: Engine,
    title: str = "",
    date: str = "",
    language: str = "",
    tables: Tables | None = None,
    level: Level = "partial",
    similarity: int | None = None,
    preset: str = "",
) -> Sequence[Duplicate]:
    """Find the documents of an index that a text repeats which is not in it; nothing is stored.

    Args:
        text: The text; a form feed is between two pages.
        engine: The index, as `open_engine` opens it.
        title: Its title, which makes short equal texts identical or not.
        date: ISO 8601, for presets with a date window.
        language: ISO 639 code; where it is empty, it is detected.
        tables: The idf tables that the index was signed with; by default the general ones.
        level: The weakest level that counts: `identical`, `near`, or `partial`, which also finds parts.
        similarity: Percentage of five-word runs that near duplicates share, 20 to 100, as in `dedupe_similarity`.
        preset: Figures for a kind of text, as `dedupe_preset` says it, or stored with the index.

    Returns:
        The duplicates, identical ones first, then by score; `id`, `title`, `level` and `reason` of each.

    Raises:
        UsageError: The text holds no words, or the date, level, similarity or preset is not valid.
    """
    names = {"dedupe_level": level, "dedupe_similarity": similarity, "dedupe_preset": preset}
    policy = pair_policy(names, presets=lookup_presets(engine, preset))
    document = Document("text", text, title, check_date(date, "the text"), language=language)
    return inspect_outside(engine, document, tables or general_tables(), policy).duplicates


def _inspect(  # noqa: PLR0913 - what is known of a document
    engine: Engine,
    document: Hit,
    packed: Packed,
    policy: Policy,
    *,
    overrides: Sequence[Override] = (),
    outside: bytes | None = None,
) -> Inspection:
    """Find the duplicates of a document; the long signature of one from outside is not in the index."""
    own = document.name

    def read_long(names: Sequence[DocumentRef]) -> Mapping[DocumentRef, bytes]:
        if outside is None:
            return engine.long_signatures(names)
        return {**engine.long_signatures([name for name in names if name != own]), own: outside}

    long_signatures = LongSignatureCache(read_long)
    is_related = policy.level == "partial" and policy.related is not None
    long = long_signatures.get(own) if is_related and packed.flags & LONG else None
    look_up = build_lookup(packed.id, lookup_keys([document.packed])[0], policy, long)
    (result,) = engine.find([with_pages(look_up, packed, long) if is_related else look_up])
    # Documents that people have marked as the same, which look-ups may miss.
    same = {name for word in overrides if word.verdict == "same" for _, name in (word.a, word.b)}
    hits = {hit.name: hit for hit in [*result.hits, *fetch_hits(engine, sorted(same))]}
    hits.pop(own, None)
    pairs = ((0, row) for row in range(1, len(hits) + 1))
    rows = [document, *hits.values()]
    window = Window.group(rows, policy, overrides, long_signatures=long_signatures, candidates=pairs)
    evidence = {ref: decision for row, ref in enumerate(hits, 1) if (decision := window.evidence(row, 0))}
    names = [*evidence] if outside is not None else [own, *evidence]
    stored = {(each.index, each.document.id): each.document for each in engine.fetch(names)} if names else {}
    mail_hash = with_hash(stored[own].meta).get(MIH) if own in stored else None
    ranked = sorted(evidence.items(), key=lambda each: (each[1].level != "identical", -each[1].score, each[0]))
    named = defaultdict(str, {name: each.title for name, each in stored.items()})
    duplicates = [Duplicate(*ref, named[ref], found) for ref, found in ranked]
    signatures = packed_facts(packed) | ({MIH: mail_hash} if mail_hash else {})
    return Inspection(document.id, named[own], signatures, duplicates, cut_fields(result))


def with_pages(look_up: SignatureLookup, packed: Packed, long: LongSignatures | None) -> SignatureLookup:
    """Look also for the long texts that a short one is a page of, or for the pages of a long one."""
    values = {**look_up.values}
    if long is not None:
        profiles = np.unique(long.profiles[long.profiles != 0]).tolist()
        values["profile"] = [*values.get("profile", ()), *(f"tp1:{each:016x}" for each in profiles)]
    elif page := page_of(packed):
        values["profiles"] = page.lookup_keys()["profiles"]
    return replace(look_up, values=values)


def common_duplicates(engine: Engine, a: str, b: str) -> list[str]:
    """Return the documents that two documents both repeat at the level `near`, by id; none if one is not signed."""
    try:
        duplicates_a, duplicates_b = (inspect(engine, name, Policy()).duplicates for name in (a, b))
    except UsageError:
        return []
    return sorted({each.id for each in duplicates_a} & {each.id for each in duplicates_b})


def packed_facts(packed: Packed) -> dict[str, object]:
    """Return the contents of a packed value, by the names of signatures.md."""
    block = noise.read(packed.noise)
    schemes = {"content": f"ch{packed.scheme}", "fingerprint": "fp1", "profile": "tp1"}
    hashes = {name: (scheme, getattr(packed, name)) for name, scheme in schemes.items()}
    return {
        "length": packed.length,
        "shingles": packed.shingles,
        "days": [None if day == NO_DATE else day for day in (packed.date_from, packed.date_to)],
        **{name: f"{scheme}:{value.hex()}" if any(value) else None for name, (scheme, value) in hashes.items()},
        "idf": packed.idf.hex() if any(packed.idf) else None,
        "terms": len(packed.terms),
        "numbers": packed.numbers,
        "slots": len(packed.slots),
        "unknown": round(block.unknown * block.runs_of_a_term / block.runs, 3) if block.run else None,
    }
