"""Compare two documents: every signal, their relation, and their shared text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice

from ibidem.comparison.matches import Passage, Region, align, count_covered, runs, to_region
from ibidem.comparison.word_diff import places
from ibidem.comparison.word_places import Words, token_offsets
from ibidem.grouped_search.explanations import relation_name, with_differing_sign
from ibidem_dedupe.decision import decide
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.pair_evidence import Evidence, Guards, LongPair, equal_content, same_table
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.relations import relate
from ibidem_ingest.document import Document, check
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import ABSENT, Table
from ibidem_ingest.language import add_languages
from ibidem_ingest.signatures import minhash, noise
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import FULL, WEAK, Packed, pack, unpack
from ibidem_ingest.signatures.sign import sign
from ibidem_ingest.text.terms import is_term
from ibidem_ingest.text.word_hash import wh1

# The least share of letters that a misread word has in common with the word that is there (difflib's ratio).
ALIKE = 0.6

Misread = tuple[str, str]  # a word as it was read, and as it is in the other text


def misread_words(a: Sequence[str], b: Sequence[str], table: Table) -> Iterator[Misread]:
    """Yield the words that were misread in one of two texts, in the order of the first text, each pair once.

    >>> table = Table.build("en", 1_000, {"court": 300, "held": 200}, "two words")
    >>> list(misread_words("the conrt held".split(), "the court hcld".split(), table))
    [('conrt', 'court'), ('hcld', 'held')]
    """
    words: set[Misread] = set()
    for i, j, k, m in places(a, b):
        if j - i != m - k:
            continue
        for word, counterpart in zip(a[i:j], b[k:m], strict=True):
            pair = (word, counterpart) if is_unknown(word, table) else (counterpart, word)
            if pair not in words and is_unknown(pair[0], table) and is_similar(*pair):
                words.add(pair)
                yield pair


def is_unknown(word: str, table: Table) -> bool:
    """Return whether a word is a term that the table does not know."""
    return is_term(word) and table.rank(wh1(word)) == ABSENT


def is_similar(a: str, b: str) -> bool:
    """Return whether two different words have most of their letters in common."""
    return a != b and SequenceMatcher(None, a, b, autojunk=False).ratio() >= ALIKE


Signals = Mapping[str, Mapping[str, object]]

WIDEST = Policy(level="partial")

MAX_MISREAD = 20  # misread words that are listed

EXAMPLES = 3  # misread words that a reason names


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two documents.

    Args:
        a: The first document.
        b: The second document.
        evidence: Evidence that makes them duplicates, or None.
        signals: For each signature what it says of the pair; a signature that one of them lacks is left out.
        words_a: The words of the first text, with their places.
        words_b: The words of the second text.
        passages: The text that both have with small differences, in the order of the first.
        shared: Every run of words that both have, as characters, in the order of the first.
        decision: The manual decision on the pair, which takes precedence over signals; None if there is none.
        is_stale: Whether a text has changed since the decision, which is not followed then.
    """

    a: Document
    b: Document
    evidence: Evidence | None
    signals: Signals
    words_a: Words
    words_b: Words
    passages: tuple[Passage, ...]
    shared: tuple[Region, ...]
    decision: Override | None = None
    is_stale: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the output of `ibidem compare --json`."""
        return {
            "a": self.a.id,
            "b": self.b.id,
            "level": self.evidence.level if self.evidence else None,
            "relation": relation_name(self.evidence) if self.evidence else None,
            "confidence": self.evidence.score if self.evidence else None,
            "why": dict(self.evidence.why) if self.evidence else None,
            "decision": self._decision_json(),
            "signals": self.signals,
            "shared": [{"a": list(region.a), "b": list(region.b), "words": region.words} for region in self.shared],
        }

    def _decision_json(self) -> dict[str, object] | None:
        """Return the manual decision, without the names of the documents."""
        if self.decision is None:
            return None
        record = self.decision.as_record()
        return {name: record[name] for name in ("verdict", "author", "reason", "date")} | {"stale": self.is_stale}


def compare(  # noqa: PLR0913, PLR0917 - the parts of a decision
    a: Document,
    b: Document,
    tables: Tables,
    policy: Policy = WIDEST,
    decision: Override | None = None,
    distinct: Sequence[str] = (),
) -> Comparison:
    """Compare two documents without reading or storing anything in an index.

    Args:
        a: The first document.
        b: The second document.
        tables: The idf tables of their languages.
        policy: The figures of the decision.
        decision: The manual decision on the pair, whose `a` is the first or the second document.
        distinct: Fields that must not differ, as `IBIDEM_DISTINCT` names them.

    Raises:
        Refused: A field of a document is missing or wrong.
    """
    check(a)
    check(b)
    a, b = add_languages((a, b))
    (packed_a, packed_b), long_pair = sign_pair(a, b, tables, distinct)
    words_a, words_b = token_offsets(a.text), token_offsets(b.text)
    matches = runs(words_a.tokens, words_b.tokens)
    shared = [to_region(run, words_a, words_b) for run in matches]
    table = tables.of(a.language) if same_table(packed_a, packed_b) else None
    examples = list(islice(misread_words(words_a.tokens, words_b.tokens, table), MAX_MISREAD)) if table else []
    is_stale = decision is not None and not holds(decision, (a.id, packed_a), (b.id, packed_b))
    evidence = with_examples(decide(packed_a, packed_b, policy, long_pair), examples)
    if evidence is not None:
        evidence = replace(evidence, why=with_differing_sign(evidence.why, a.text, b.text))
    if decision is not None and not is_stale:
        evidence = decision.evidence(policy.level) if decision.verdict == "same" else None
    misread = {"misread": {"words": [list(each) for each in examples]}} if examples else {}
    parts = part_signals(packed_a, packed_b, long_pair)
    return Comparison(
        a,
        b,
        evidence,
        signals(packed_a, packed_b) | misread | parts | overlap(words_a, words_b, shared),
        words_a,
        words_b,
        tuple(align(words_a.tokens, words_b.tokens, matches)),
        tuple(shared),
        decision,
        is_stale,
    )


def holds(decision: Override, a: tuple[str, Packed], b: tuple[str, Packed]) -> bool:
    """Return whether both texts are unchanged since a manual decision."""
    contents = {decision.a[1]: decision.content_a, decision.b[1]: decision.content_b}
    return all(is_same_content(packed, contents.get(name, "")) for name, packed in (a, b))


def is_same_content(packed: Packed, content: str) -> bool:
    """Return whether a text still has a content hash; a missing hash, or a hash of another scheme, counts as equal."""
    scheme = f"ch{packed.scheme}:"
    return not content.startswith(scheme) or content == content_key(packed)


def sign_pair(
    a: Document, b: Document, tables: Tables, distinct: Sequence[str] = ()
) -> tuple[tuple[Packed, Packed], LongPair | None]:
    """Sign both documents, in the form used by decisions."""
    signatures_a, signatures_b = sign([a, b], tables)
    packed_a, packed_b = unpack(pack(a, signatures_a, distinct)), unpack(pack(b, signatures_b, distinct))
    if packed_a is None or packed_b is None:
        raise AssertionError("a value that was just packed is read again")
    long_a, long_b = LongSignatures.decode(signatures_a.long), LongSignatures.decode(signatures_b.long)
    return (packed_a, packed_b), (long_a, long_b) if long_a and long_b else None


def signals(a: Packed, b: Packed) -> dict[str, Mapping[str, object]]:
    """Return the signal of each signature for a pair, whether or not it suffices for a level."""
    evidence: dict[str, Mapping[str, object]] = {"length": {"a": a.length, "b": b.length}}
    if not (a.length and b.length):
        return evidence
    guards = Guards.compare(a, b)
    evidence["length"] = {"a": a.length, "b": b.length, "ratio": round(guards.length_ratio, 3)}
    evidence["content"] = {"equal": equal_content(a, b)}
    evidence["minhash"] = slots(a, b)
    if same_table(a, b):
        evidence |= idf_signals(a, b) | characters(a, b)
    if any(a.profile) and any(b.profile):
        evidence["profile"] = {"equal": a.profile == b.profile}
    evidence["numbers"] = {"a": a.numbers, "b": b.numbers, "agree": guards.numbers_agree}
    if guards.days_apart is not None:
        evidence["date"] = {"days_apart": guards.days_apart}
    return evidence


def with_examples(evidence: Evidence | None, examples: Sequence[Misread]) -> Evidence | None:
    """Add examples to evidence of misread words."""
    if evidence is None or evidence.signature != "characters" or not examples:
        return evidence
    return replace(evidence, why={**evidence.why, "misread": [list(each) for each in examples[:EXAMPLES]]})


def characters(a: Packed, b: Packed) -> dict[str, Mapping[str, object]]:
    """Return the signal of the character runs of a pair, if both have them."""
    noise_a, noise_b = noise.read(a.noise), noise.read(b.noise)
    if not noise_a.run or noise_a.run != noise_b.run:
        return {}
    equal = minhash.equal_slots(noise_a.slots, noise_b.slots)
    share = noise.estimate(equal)
    words = max(1.0, noise.estimate_difference(share, noise_a.runs, noise_b.runs) / noise.RUNS_OF_A_WORD)
    unknown = min(1.0, noise.estimate_unknown(noise_a, noise_b) / words)
    figures = {"shared": equal, "of": noise.SLOTS, "estimate": round(share, 3), "unknown": round(unknown, 2)}
    return {"characters": figures}


def slots(a: Packed, b: Packed) -> dict[str, object]:
    """Return the number of equal min-hash slots, whether a band is shared, and the estimated resemblance."""
    equal = minhash.equal_slots(a.slots, b.slots)
    resemblance = max(0.0, minhash.correct_for_chance(equal / len(a.slots)))
    return {
        "shared": equal,
        "of": len(a.slots),
        "band": minhash.shares_band(a.slots, b.slots),
        "estimate": round(resemblance, 3),
    }


def idf_signals(a: Packed, b: Packed) -> dict[str, Mapping[str, object]]:
    """Return the signals of the signatures that depend on an idf table, if both documents have them."""
    evidence: dict[str, Mapping[str, object]] = {}
    if a.terms and b.terms:
        evidence["termvector"] = {
            "shared": len(set(a.terms) & set(b.terms)),
            "of": min(len(a.terms), len(b.terms)),
            "full": bool(a.flags & b.flags & FULL),
        }
    if any(a.fingerprint) and any(b.fingerprint):
        evidence["fingerprint"] = {
            "equal": a.fingerprint == b.fingerprint,
            "weak": bool((a.flags | b.flags) & WEAK),
        }
    return evidence


def part_signals(a: Packed, b: Packed, long_pair: LongPair | None) -> dict[str, Mapping[str, object]]:
    """Return the signals of the pages or chunks of two long texts, sufficient or not; empty for short texts."""
    relation = (
        relate(*long_pair, similarity=minhash.correct_for_chance(minhash.compare(a.slots, b.slots)))
        if long_pair is not None
        else None
    )
    if long_pair is None or relation is None:
        return {}
    figures = {
        "relation": relation.label,
        "confidence": relation.confidence,
        "a": list(relation.a),
        "b": list(relation.b),
    }
    return {long_pair[0].parts: {**figures, **relation.signals}}


def overlap(a: Words, b: Words, shared: Sequence[Region]) -> dict[str, Mapping[str, object]]:
    """Return which share of each text's word characters is in shared passages."""
    return {"overlap": {"a": share(a, [region.a for region in shared]), "b": share(b, [region.b for region in shared])}}


def share(text: Words, spans: list[tuple[int, int]]) -> float:
    """Return which share of a text, from its first to its last word, the spans cover."""
    if not text.tokens:
        return 0.0
    return round(count_covered(spans) / count_covered([(text.starts[0], text.ends[-1])]), 3)
