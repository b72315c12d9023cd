"""Compare two documents: every signal, their relation, and their shared text.

Every run of at least eight words counts, as in the labels of exact overlap (`jac5`, `cov_a`); a passage may be in
another order, and twice. Found by looking up each run of eight in the other text and extending it as far as it goes, so
the cost grows with the lengths and not with their product.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from typing import NamedTuple

from ibidem.comparison.word_diff import Words, anchors, places, token_offsets
from ibidem.grouped_search.api import relation_name, with_differing_sign
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.pair_evidence import Evidence, Guards, LongPair, equal_content, may_relate, page_of, same_table
from ibidem_dedupe.pairs import decide
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
from ibidem_ingest.text.tokens import is_term
from ibidem_ingest.text.word_hash import wh1

MIN_PASSAGE = 8
MAX_PLACES = 16  # the most places in the other text that one run is tried at; a form's empty lines would have thousands
MAX_GAP = 40  # the most words between two runs of one passage, in each text: two or three lines of a book
OPEN_PASSAGES = 4  # that a run may go on with, the latest first: a phrase that is elsewhere too cuts none in two
MIN_WORDS = 8  # words of runs and anchors that make a passage; fewer are chance

# Share of a passage's words that is in runs and anchors, at least; so far do other words part those of chance.
MIN_DENSITY = 0.15
# The least share of letters that a misread word has in common with the word that is there (difflib's ratio).
MIN_RATIO = 0.6
MAX_MISREAD = 20  # misread words that are listed
EXAMPLES = 3  # misread words that a reason names


Span = tuple[int, int]  # numbers of words, or of characters: from, to


class Run(NamedTuple):
    """Words of two texts: a run that is the same in both, or what differs between two such runs."""

    a: Span  # words of the first text
    b: Span  # words of the second text
    is_equal: bool = True  # whether both have them

    @property
    def words(self) -> int:
        return self.a[1] - self.a[0]


def run_length(a: Sequence[str], b: Sequence[str], i: int, j: int) -> int:
    """Return how many words are equal from `a[i]` and `b[j]` on."""
    limit = min(len(a) - i, len(b) - j)
    return next((n for n in range(limit) if a[i + n] != b[j + n]), limit)


def runs(a: Sequence[str], b: Sequence[str], min_length: int = MIN_PASSAGE) -> list[Run]:
    """Find the runs of words that both texts have: the longest at each position of `a`, without overlaps there.

    >>> runs("to be or not to be".split(), "whether or not to be".split(), min_length=3)
    [Run(a=(2, 6), b=(1, 5), is_equal=True)]
    """
    size = min(min_length, len(a), len(b))
    if size == 0:
        return []
    places_by_gram: dict[tuple[str, ...], list[int]] = {}  # at most `MAX_PLACES` of each
    for place, gram in enumerate(zip(*(islice(b, at, None) for at in range(size)), strict=False)):
        if len(found := places_by_gram.setdefault(gram, [])) < MAX_PLACES:
            found.append(place)
    matches: list[Run] = []
    i = reached = 0
    while i <= len(a) - size:
        places = places_by_gram.get(tuple(a[i : i + size]), ())
        # Of equally long runs, the one nearest to the end of the last run: texts are mostly in the same order.
        words, _, j = max(((run_length(a, b, i, j), -abs(j - reached), j) for j in places), default=(0, 0, 0))
        if words:
            reached = j + words
            matches.append(Run((i, i + words), (j, reached)))
        i += words or 1
    return matches


@dataclass(frozen=True, slots=True)
class Passage:
    """A shared range of text, with small differences."""

    runs: tuple[Run, ...]  # the runs of words that are the same, in the order of both texts

    @property
    def a(self) -> Span:
        """The passage's words in the first text."""
        return self.runs[0].a[0], self.runs[-1].a[1]

    @property
    def b(self) -> Span:
        """The passage's words in the second text."""
        return self.runs[0].b[0], self.runs[-1].b[1]

    @property
    def words(self) -> int:
        return sum(run.words for run in self.runs)


def passages(runs: Iterable[Run], gap: int = MAX_GAP) -> list[Passage]:
    """Join runs into passages.

    >>> [(one.a, one.b) for one in passages([Run((0, 9), (5, 14)), Run((10, 18), (14, 22)), Run((30, 38), (90, 98))])]
    [((0, 18), (5, 22)), ((30, 38), (90, 98))]
    """
    chains: list[list[Run]] = []
    for run in runs:
        near = (
            chain
            for chain in chains[: -OPEN_PASSAGES - 1 : -1]
            if 0 <= run.a[0] - chain[-1].a[1] <= gap and 0 <= run.b[0] - chain[-1].b[1] <= gap
        )
        if (chain := next(near, None)) is None:
            chains.append(chain := [])
        chain.append(run)
    return [Passage(tuple(chain)) for chain in chains]


def align(a: Sequence[str], b: Sequence[str], runs: Sequence[Run]) -> list[Passage]:
    """Find the passages of two texts, including those of badly recognised text.

    Words that occur once in each text, in the same order in both, go on where runs of words end.
    """
    inside = {word for run in runs for word in range(*run.a)}
    words = [Run((i, i + 1), (j, j + 1)) for i, j in anchors(a, b, sizes=(1,)) if i not in inside]
    certain = frozenset(runs)
    aligned: list[Passage] = []
    for passage in passages(sorted([*runs, *words])):
        length = max(end - start for start, end in (passage.a, passage.b))
        if passage.words >= max(MIN_WORDS, MIN_DENSITY * length):
            aligned.append(passage)
        elif exact_runs := tuple(run for run in passage.runs if run in certain):
            aligned.append(Passage(exact_runs))  # the words that occur once are chance
    return aligned


def blocks(passage: Passage, a: Sequence[str], b: Sequence[str]) -> Iterator[Run]:
    """Yield the words of a passage as alternating equal and different runs."""
    for run, next_run in zip_longest(passage.runs, passage.runs[1:]):
        yield run
        if next_run is not None:
            (_, x), (_, y), _ = run
            matcher = SequenceMatcher(None, a[x : next_run.a[0]], b[y : next_run.b[0]], autojunk=False)
            for tag, i, j, k, m in matcher.get_opcodes():
                yield Run((x + i, x + j), (y + k, y + m), tag == "equal")


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
            if pair in words or word == counterpart or not is_unknown(pair[0], table):
                continue
            if SequenceMatcher(None, *pair, autojunk=False).ratio() >= MIN_RATIO:
                words.add(pair)
                yield pair


def is_unknown(word: str, table: Table) -> bool:
    return is_term(word) and table.rank(wh1(word)) == ABSENT


Signals = Mapping[str, Mapping[str, object]]

PARTIAL = Policy(level="partial")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two documents."""

    a: Document
    b: Document
    evidence: Evidence | None  # what makes them duplicates
    signals: Signals  # for each signature what it says of the pair; a signature that one of them lacks is left out
    words_a: Words  # the words of the first text, with their places
    words_b: Words
    passages: tuple[Passage, ...]  # the text that both have with small differences, in the order of the first
    shared: tuple[Run, ...]  # every run of words that both have, in the order of the first
    decision: Override | None = None  # the manual decision on the pair, which takes precedence over signals
    is_stale: bool = False  # whether a text has changed since the decision, which is not followed then

    def as_json(self) -> dict[str, object]:
        """Return the output of `ibidem compare --json`."""
        evidence, decision = self.evidence, None
        if self.decision is not None:
            record = self.decision.as_record() | {"stale": self.is_stale}
            decision = {name: record[name] for name in ("verdict", "author", "reason", "date", "stale")}
        return {
            "a": self.a.id,
            "b": self.b.id,
            "level": evidence.level if evidence else None,
            "relation": relation_name(evidence) if evidence else None,
            "confidence": evidence.score if evidence else None,
            "why": dict(evidence.why) if evidence else None,
            "decision": decision,
            "signals": self.signals,
            "shared": [
                {"a": list(self.words_a.extent(run.a)), "b": list(self.words_b.extent(run.b)), "words": run.words}
                for run in self.shared
            ],
        }


def compare(  # noqa: PLR0913, PLR0917 - the parts of a decision
    a: Document,
    b: Document,
    tables: Tables,
    policy: Policy = PARTIAL,
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
    shared = tuple(runs(words_a.tokens, words_b.tokens))
    table = tables.of(a.language) if same_table(packed_a, packed_b) else None
    examples = islice(misread_words(words_a.tokens, words_b.tokens, table), MAX_MISREAD) if table else ()
    misread = [list(each) for each in examples]
    is_stale = decision is not None and not holds(decision, (a.id, packed_a), (b.id, packed_b))
    evidence = decide(packed_a, packed_b, policy, long_pair)
    if evidence is not None:
        named = {"misread": misread[:EXAMPLES]} if evidence.signature == "characters" and misread else {}
        evidence = replace(evidence, why=with_differing_sign({**evidence.why, **named}, a.text, b.text))
    if decision is not None and not is_stale:
        evidence = decision.evidence(policy.level) if decision.verdict == "same" else None
    found = signals(packed_a, packed_b) | tables.left_out(a.language, words_a.tokens, words_b.tokens)
    found |= {"misread": {"words": misread}} if misread else {}
    found |= part_signals(packed_a, packed_b, long_pair)
    found["overlap"] = {"a": share(words_a, (run.a for run in shared)), "b": share(words_b, (run.b for run in shared))}
    aligned = tuple(align(words_a.tokens, words_b.tokens, shared))
    return Comparison(a, b, evidence, found, words_a, words_b, aligned, shared, decision, is_stale)


def holds(decision: Override, a: tuple[str, Packed], b: tuple[str, Packed]) -> bool:
    """Return whether both texts are unchanged since a manual decision."""
    contents = {decision.a[1]: decision.content_a, decision.b[1]: decision.content_b}
    return not any(  # a missing hash, or a hash of another scheme, counts as equal
        contents.get(name, "").startswith(f"ch{packed.scheme}:") and contents[name] != content_key(packed)
        for name, packed in (a, b)
    )


def sign_pair(
    a: Document, b: Document, tables: Tables, distinct: Sequence[str] = ()
) -> tuple[tuple[Packed, Packed], LongPair | None]:
    signatures_a, signatures_b = sign([a, b], tables)
    packed_a, packed_b = unpack(pack(a, signatures_a, distinct)), unpack(pack(b, signatures_b, distinct))
    if packed_a is None or packed_b is None:
        raise AssertionError("a value that was just packed is read again")
    long_a = LongSignatures.decode(signatures_a.long) or page_of(packed_a)
    long_b = LongSignatures.decode(signatures_b.long) or page_of(packed_b)
    return (packed_a, packed_b), (long_a, long_b) if long_a and long_b and may_relate(packed_a, packed_b) else None


def signals(a: Packed, b: Packed) -> dict[str, Mapping[str, object]]:
    """Return the signal of each signature for a pair, whether or not it suffices for a level."""
    length = {"a": a.length, "b": b.length}
    if not (a.length and b.length):
        return {"length": length}
    guards, equal = Guards.compare(a, b), minhash.equal_slots(a.slots, b.slots)
    share, band = minhash.correct_for_chance(equal / len(a.slots)), minhash.shares_band(a.slots, b.slots)
    evidence: dict[str, Mapping[str, object]] = {
        "length": length | {"ratio": round(guards.length_ratio, 3)},
        "content": {"equal": equal_content(a, b)},
        "minhash": {"shared": equal, "of": len(a.slots), "band": band, "estimate": round(max(0.0, share), 3)},
    }
    if same_table(a, b):
        if a.terms and b.terms:
            shared, full = len(set(a.terms) & set(b.terms)), bool(a.flags & b.flags & FULL)
            evidence["termvector"] = {"shared": shared, "of": min(len(a.terms), len(b.terms)), "full": full}
        if any(a.fingerprint) and any(b.fingerprint):
            weak = bool((a.flags | b.flags) & WEAK)
            evidence["fingerprint"] = {"equal": a.fingerprint == b.fingerprint, "weak": weak}
        evidence |= characters(a, b)
    if any(a.profile) and any(b.profile):
        evidence["profile"] = {"equal": a.profile == b.profile}
    evidence["numbers"] = {"a": a.numbers, "b": b.numbers, "agree": guards.numbers_agree}
    if guards.days_apart is not None:
        evidence["date"] = {"days_apart": guards.days_apart}
    return evidence


def characters(a: Packed, b: Packed) -> dict[str, Mapping[str, object]]:
    """Return the signal of the character runs of a pair, if both have them."""
    noise_a, noise_b = noise.read(a.noise), noise.read(b.noise)
    if not noise_a.run or noise_a.run != noise_b.run:
        return {}
    equal = minhash.equal_slots(noise_a.slots, noise_b.slots)
    share = noise.estimate(equal)
    words = max(1.0, noise.estimate_difference(share, noise_a.runs, noise_b.runs) / noise_a.runs_of_a_term)
    unknown = min(1.0, noise.estimate_unknown(noise_a, noise_b) / words)
    figures = {"shared": equal, "of": noise.SLOTS, "estimate": round(share, 3), "unknown": round(unknown, 2)}
    return {"characters": figures}


def part_signals(a: Packed, b: Packed, long_pair: LongPair | None) -> dict[str, Mapping[str, object]]:
    """Return the signals of the pages or chunks of two long texts, sufficient or not; empty for short texts."""
    if long_pair is None:
        return {}
    similarity = minhash.correct_for_chance(minhash.compare(a.slots, b.slots))
    relation = relate(*long_pair, similarity=similarity)
    if relation is None:
        return {}
    figures = {"relation": relation.label, "confidence": relation.confidence}
    return {long_pair[0].parts: {**figures, "a": list(relation.a), "b": list(relation.b), **relation.signals}}


def share(text: Words, spans: Iterable[Span]) -> float:
    """Return which share of a text, from its first to its last word, some spans of words cover."""
    if not text.tokens:
        return 0.0
    total = reached = 0
    for start, end in map(text.extent, sorted(spans)):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return round(total / (text.ends[-1] - text.starts[0]), 3)
