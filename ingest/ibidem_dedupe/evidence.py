"""Table of evidence: each kind of evidence is one row, the strongest first, used by decisions and explanations.

A new kind is a module with its rules, and a row here: a name, the level, the rule for a pair and over columns, the keys
that make a pair a candidate, the look-up keys of an engine, and what it says to people.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from ibidem_dedupe import candidates, column_rules, learned_evidence, pair_evidence
from ibidem_dedupe.candidates import Portion
from ibidem_dedupe.column_rules import Bools
from ibidem_dedupe.policy import LEVELS, Characters, Level, Policy, Terms, min_shared_terms
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.lookup_keys import LookupField, shared_runs
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_ingest.signatures.schema import FULL_SET, RAREST

# The evidence as a response carries it: `signature`, its figures, and the values of the guards.
Why = Mapping[str, object]

Reason = Callable[[Why], str]  # says in words why a pair is one of duplicates


# What is said of two texts with the same words, by what differs.
BESIDE_WORDS: Mapping[object, str] = {
    "signs": "the same words with other signs",
    "title": "the same words under another title",
    "sender": "the same words from another sender",
    "mail": "the same words in another mail",
}


def percent(share: object) -> str:
    """Format a share as a whole percentage.

    >>> percent(0.984)
    '98 %'
    """
    return f"{float(str(share)):.0%}".replace("%", " %")


def shared_text(why: Why) -> str:
    """Return how much text is shared, estimated from equal samples, as the highest `--similarity` that takes it.

    Of two texts that share c of their runs, c / (2 - c) of all runs are equal (signatures.md, "Similarity").

    >>> shared_text({"shared": 50, "of": 100})
    'about 66 % of the text shared'
    """
    equal, samples = int(str(why["shared"])), int(str(why["of"]))
    return f"about {200 * equal // (samples + equal)} % of the text shared"


def shared_characters(why: Why) -> str:
    """Return the number of shared characters, and the misread words if the texts were compared.

    >>> shared_characters({"estimate": 0.9, "misread": [["tbe", "the"], ["conrt", "court"]]})
    'about 90 % of the characters shared; the differences look misread (tbe → the, conrt → court)'
    """
    pairs = why.get("misread")
    words = ", ".join(" → ".join(each) for each in pairs) if isinstance(pairs, list) else ""
    said = f"about {percent(why['estimate'])} of the characters shared; the differences look misread"
    return f"{said} ({words})" if words else said


def learned_sum(why: Why) -> str:
    """Return the figures that weigh most for and against a pair by a learned rule.

    >>> learned_sum({"parts": {"five-word runs": 3.1, "title": 1.2, "dates": 0.01, "numbers": -0.8}})
    'alike: five-word runs +3.1, title +1.2; against: numbers -0.8'
    """
    parts = why.get("parts")
    said = {part: round(share, 1) for part, share in parts.items()} if isinstance(parts, Mapping) else {}
    alike = sorted((-share, part) for part, share in said.items() if share > 0)
    against = sorted((share, part) for part, share in said.items() if share < 0)
    sides = {
        "alike": ", ".join(f"{part} +{-share:.1f}" for share, part in alike),
        "against": ", ".join(f"{part} -{-share:.1f}" for share, part in against),
    }
    return "; ".join(f"{side}: {words}" for side, words in sides.items() if words)


# What is said of a passage, by the side of the other on which it stands.
OVERLAPS: Mapping[str, str] = {
    "before": "precedes it in the same document, {} words overlap",
    "after": "follows it in the same document, {} words overlap",
    "within": "part of it in the same document, {} words",
}


def overlap(why: Why) -> str:
    """Return the position of a passage relative to another of its document.

    >>> overlap({"side": "after", "words": 7})
    'follows it in the same document, 7 words overlap'
    """
    return OVERLAPS[str(why["side"])].format(why["words"])


# Makes the keys of some rows; pairs that share none are not compared.
Keys = Callable[[PackedColumns, Policy, Bools], Iterator[Portion]]


@dataclass(frozen=True, slots=True)
class SharedCount:
    """Minimum number of shared look-up keys, for kinds where one key is too weak."""

    min_shared: int  # how many
    lengths: float  # the least ratio of the shorter text's length to the longer one's


@dataclass(frozen=True, slots=True)
class Kind:
    name: str  # its name in an answer: `signature`
    words: str  # what it is, in the words of a report on many pairs
    reason: Reason | None = None  # the reason shown for a pair; None: `words`, or the relation of two long texts
    is_relation: bool = False  # whether the relation of two long texts is the reason
    level: Level | None = "near"  # the level at which it joins a pair; None: the requested level
    counts: Callable[[Policy], bool] = lambda _: True  # returns whether it counts under a policy, at its level
    decide: pair_evidence.Rule | None = None  # the rule for a pair; None where more than two packed values decide
    verify: column_rules.Rule | None = None  # the same rule over columns
    keys: Keys | None = None  # finds its candidates; None: other kinds find them
    marks: Callable[[PackedColumns, Policy], Bools] | None = None  # the rows one of which a key needs; None: any
    has_weak_keys: bool = False  # whether pairs have to share several of its keys
    # The engine's look-up field for this evidence; None if an engine cannot look it up.
    lookup: LookupField | None = None
    # Returns how many of these have to be shared; None: one is enough.
    several: Callable[[Policy], SharedCount] | None = None
    # Whether different titles of two short texts are weighed; otherwise they exclude the pair.
    weighs_titles: bool = False


def _rare(policy: Policy) -> SharedCount:
    rule = policy.terms or Terms()
    return SharedCount(max(1, RAREST - (FULL_SET - min_shared_terms(rule.share, FULL_SET))), rule.lengths)


def _runs(policy: Policy) -> SharedCount:
    rule = policy.characters or Characters()
    return SharedCount(rule.pairs, rule.lengths)


def searched(keys: Mapping[LookupField, list[str]], policy: Policy) -> dict[LookupField, list[str]]:
    """Return the values by which duplicates are looked up, of those under which a document is stored.

    A text that does not look misread looks for misread ones alone, where a policy asks for one: they are few.
    """
    runs, rule = keys.get("characters"), policy.characters
    if not runs or not rule:
        return dict(keys)
    asks_for_misread = rule.misread >= noise.MISREAD and rule.misread_dense >= noise.MISREAD_DENSE
    marks = "m" if asks_for_misread and not runs[0].startswith("m") else "cm"
    return {**keys, "characters": shared_runs(runs, marks)}


# A kind that is a relation of two long texts.
relation = partial(Kind, is_relation=True, level="partial", counts=lambda policy: policy.related is not None)

# Every kind of evidence, the strongest first.
KINDS = (
    Kind(
        "content",
        "the same words in the same order",
        level="identical",
        decide=pair_evidence.same_content,
        verify=column_rules.same_content,
        keys=candidates.content_keys,
        lookup="content",
    ),
    Kind(
        "minhash",
        "shared text (five-word runs)",
        shared_text,
        counts=lambda policy: policy.slots is not None,
        decide=pair_evidence.similar_shingles,
        verify=column_rules.similar_shingles,
        keys=candidates.band_keys,
        lookup="bands",
    ),
    Kind(
        "termvector",
        "shared rare terms",
        lambda why: f"{why['shared']} of {why['of']} rare terms shared",
        counts=lambda policy: policy.terms is not None,
        decide=pair_evidence.shared_terms,
        verify=column_rules.shared_terms,
        keys=candidates.rarest_terms,
        has_weak_keys=True,
        lookup="rare",
        several=_rare,
    ),
    Kind(
        "fingerprint",
        "the same six rarest terms at the same places",
        counts=lambda policy: policy.fingerprint is not None,
        decide=pair_evidence.same_fingerprint,
        verify=column_rules.same_fingerprint,
        keys=candidates.fingerprint_keys,
        lookup="fingerprint",
    ),
    Kind(
        "profile",
        "the same frequent words equally often",
        counts=lambda policy: policy.profile is not None,
        decide=pair_evidence.same_profile,
        verify=column_rules.same_profile,
        keys=candidates.profile_keys,
        lookup="profile",
    ),
    Kind(
        "characters",
        "shared characters; the differences look misread",
        shared_characters,
        counts=lambda policy: policy.characters is not None,
        decide=pair_evidence.similar_characters,
        verify=column_rules.similar_characters,
        keys=candidates.run_keys,
        marks=candidates.have_unknown_words,
        lookup="characters",
        several=_runs,
    ),
    Kind(
        "learned",
        "a sum of figures, learned from labels",
        learned_sum,
        counts=lambda policy: policy.learned is not None,
        decide=learned_evidence.likely_duplicates,
        verify=learned_evidence.likely_duplicates_columns,
        weighs_titles=True,
    ),
    Kind(
        "override",
        "marked as the same by hand",
        lambda why: f"declared the same by {why.get('author') or 'a reader'}",
        level=None,
    ),
    Kind(
        "shingles",
        "most of one is in the other",
        lambda why: f"about {percent(why['estimate'])} of the shorter text shared",
        level="partial",
        counts=lambda policy: policy.contained is not None,
        decide=pair_evidence.contained_shingles,
        verify=column_rules.contained_shingles,
        keys=candidates.slot_keys,
        has_weak_keys=True,
    ),
    relation("pages", "pages that match: parts, other editions, overlapping books", keys=candidates.related_keys),
    relation("chunks", "chunks that match, of texts without pages"),
    relation("words", "rare words that match in order"),
    Kind("overlap", "passages of one document that overlap", overlap, level="partial", counts=lambda _: False),
)


@dataclass(slots=True)
class Table:
    """The kinds of evidence, with derived properties."""

    kinds: tuple[Kind, ...] = KINDS  # the kinds, the strongest first
    by_name: Mapping[str, Kind] = field(init=False)

    def __post_init__(self) -> None:
        self.by_name = {kind.name: kind for kind in self.kinds}

    def code(self, name: str) -> int:
        """Return the code of a kind: its position in the table, from 1 on; 0 is no evidence."""
        return [*self.by_name].index(name) + 1

    def name(self, code: int) -> str:
        """Return the name of a kind by its code; empty for no evidence.

        >>> TABLE.name(1), TABLE.name(0)
        ('content', '')
        """
        return self.kinds[code - 1].name if code else ""

    def level(self, code: int, policy: Policy) -> Level:
        """Return the level at which a kind joins a pair."""
        return self.kinds[code - 1].level or policy.level

    def at(self, level: Level) -> list[Kind]:
        """Return the kinds of evidence of a level, the strongest first."""
        return [kind for kind in self.kinds if kind.level == level]

    def counted(self, policy: Policy) -> list[Kind]:
        """Return the kinds that count under a policy, up to its level."""
        levels = LEVELS[: LEVELS.index(policy.level) + 1]
        return [kind for kind in self.kinds if kind.level in levels and kind.counts(policy)]


TABLE = Table()  # the table that decides
