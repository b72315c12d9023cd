"""Groups of texts in memory: what is done with the hits of a search, done with a list of texts, without an index."""

from collections.abc import Sequence
from dataclasses import dataclass

from ibidem.grouped_search.explanations import reason
from ibidem_core.settings import load
from ibidem_dedupe.leader_clustering import Grouping, group
from ibidem_dedupe.pairs import LongSignatureCache, LongTextMatcher, no_long_signatures
from ibidem_dedupe.policy import Level, Policy
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError, short_repr
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.language import add_languages
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.sign import batches, sign_and_pack


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A text that repeats the lead of its group.

    Args:
        place: Its place in the list, from 0.
        level: `identical`, `near` or `partial`.
        reason: Why it is a duplicate, in words.
    """

    place: int
    level: Level
    reason: str


@dataclass(frozen=True, slots=True)
class TextGroup:
    """Texts that repeat one another.

    Args:
        lead: Place of the first of them in the list, from 0.
        duplicates: The others, in the order of the list.
    """

    lead: int
    duplicates: tuple[Duplicate, ...] = ()


def group_texts(
    texts: Sequence[str], *, policy: Policy | None = None, language: str = "", tables: Tables | None = None
) -> list[TextGroup]:
    """Group a list of texts, such as the passages that a retriever found; nothing is stored.

    A text joins the first lead before it that it duplicates, or begins a group: the order of the list decides which
    text leads. Every text is in exactly one group.

    Args:
        texts: In the order of their rank.
        policy: The decision for a pair; by default that of a search at the level `near`. Relations of long texts
            (`related`) need an index.
        language: ISO 639 code of all texts; detected for each of them where it is empty.
        tables: The idf tables; those of the settings by default.

    Raises:
        UsageError: Something among the texts is no string.

    Examples:
        >>> rent = "The tenant shall pay the rent on the first day of each month, in advance and without demand."
        >>> groups = group_texts([rent, "Either party may end this lease.", rent.upper()], language="en")
        >>> [(group.lead, [(each.place, each.level) for each in group.duplicates]) for group in groups]
        [(0, [(2, 'identical')]), (1, [])]
    """
    policy = policy or Policy()
    columns = PackedColumns.decode(sign_texts(texts, language, tables or Tables(load().tables)))
    names = [("", str(place)) for place in range(len(texts))]
    matcher = LongTextMatcher(names, columns.unpack_row, policy, LongSignatureCache(no_long_signatures))
    return build_groups(group(columns, policy, matcher=matcher), matcher)


def sign_texts(texts: Sequence[str], language: str, tables: Tables) -> list[bytes]:
    """Sign texts, and return their packed values.

    Args:
        texts: In any order.
        language: ISO 639 code of all texts; empty: it is detected.
        tables: The idf tables.

    Raises:
        UsageError: One is no string.
    """
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise UsageError(f"text {place} is {short_repr(text)}, no string", "give the texts themselves")
    documents = add_languages(Document(str(place), text, language=language) for place, text in enumerate(texts))
    return [packed for batch in batches(documents) for _, packed in sign_and_pack(batch, tables)]


def build_groups(grouping: Grouping, matcher: LongTextMatcher) -> list[TextGroup]:
    """Return the groups of a grouping, each duplicate with its reason."""
    members = grouping.members(grouping.leads.tolist())
    return [
        TextGroup(lead, tuple(explain(matcher, row, lead) for row in rows if row != lead))
        for lead, rows in members.items()
    ]


def explain(matcher: LongTextMatcher, row: int, lead: int) -> Duplicate:
    """Return a duplicate with the level and the reason by which it joined its lead."""
    evidence = matcher.evidence(row, lead)
    if evidence is None:
        raise AssertionError(f"row {row} joined {lead} without evidence")
    return Duplicate(row, evidence.level, reason(evidence.why))
