"""Passages that unlike documents of one source share: a template, a licence header, a cookie notice, a signature.

They are left out of all signatures but the content hash, so that documents are compared by what is their own. A run of
five words is *frequent* where at least √n of the n documents of its source hold it, and three; 16 such runs in a row
are a stretch. What a document has beside its stretches is *new* if it is 15 words or more and a tenth of it, and none
of its eight lowest runs there is among those of an earlier document. A frequent run belongs to a passage where most of
the documents that hold it have something new, and these are √n and three where it is a quarter of each, and a third of
n else. The versions of a contract, or forty copies of one story, share nearly all of their text, and what is beside it
with each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ibidem_ingest.document import Document
from ibidem_ingest.kernel import loops
from ibidem_ingest.text.tokens import Flags, TokenBatch
from ibidem_ingest.text.word_hash import SHINGLE, Hashes, Places, Shingles, token_shingles

MIN_DOCUMENTS = 3
MIN_RUNS = 16  # frequent runs in a row, which are twenty words
MIN_OWN, MIN_SHARE, MUCH = 15, 0.1, 0.25
SPARSE_SHARE = 1 / 3  # share of a source's documents where little of each is new
SKETCH_RUNS = 8  # runs of a document's own words that are compared
MIN_LEFT = 5  # a document of which fewer words are left than this is signed whole
SHOWN_WORDS = 12

NO_PASSAGES = np.zeros(0, np.uint64)


@dataclass(frozen=True, slots=True)
class SharedPassage:
    """A passage that documents of a source share."""

    words: int  # its length; most often, where it varies
    documents: int  # how many hold it, of those that were looked through
    source: str
    text: str  # its first words

    def __str__(self) -> str:
        source = f" of {self.source}" if self.source else ""
        return f"{self.words:,} words that {self.documents:,} documents{source} share: {self.text} …"


@dataclass(frozen=True, eq=False, slots=True)
class SharedPassages:
    runs: Hashes  # shingle hashes of all passages, ascending
    passages: Sequence[SharedPassage] = ()  # those in most documents first


def find_passages(documents: Sequence[Document]) -> SharedPassages:
    """Find the passages that unlike documents of one source share."""
    if loops.IN_USE is None or len(documents) < MIN_DOCUMENTS:
        return SharedPassages(NO_PASSAGES)
    batch = TokenBatch.tokenize([each.text for each in documents])
    names, source = np.unique([each.source for each in documents], return_inverse=True)
    runs, of = Shingles.hash(batch.hashes, batch.offsets).hashes, batch.documents
    least = np.maximum(MIN_DOCUMENTS, np.sqrt(np.bincount(source)))[source]
    many = np.maximum(least, SPARSE_SHARE * np.bincount(source)[source])
    distinct, place = np.unique(
        runs ^ source[of].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15), return_inverse=True
    )
    run, holder = np.divmod(np.unique(place * len(batch) + of), len(batch))  # each run, and a document that holds it
    holders = np.bincount(run, minlength=distinct.size)
    frequent = holders.take(place) >= least[of]
    own = ~stretches(frequent, batch.offsets)
    left = np.bincount(of, own, len(batch))
    is_new = (left >= MIN_OWN) & _new_documents(runs, of, own & ~frequent, len(batch))
    wide = (is_new & (left >= share * batch.lengths) for share in (MIN_SHARE, MUCH))
    new, much = (np.bincount(run[each[holder]], minlength=distinct.size) for each in wide)
    chosen = (new.take(place) >= many[of]) | (much.take(place) >= least[of])
    chosen &= (2 * new > holders).take(place)
    passages = _describe(batch, stretches(chosen, batch.offsets), source, names.tolist())
    return SharedPassages(np.unique(runs[chosen]) if passages else NO_PASSAGES, passages)


def stretches(runs: Flags, offsets: Places) -> Flags:
    """Return which tokens are in a row of chosen runs, of which each token begins one; documents are apart."""
    starts, stops = _rows_of(runs, offsets)
    long = stops - starts >= MIN_RUNS
    starts, stops = starts[long], stops[long]
    ends = np.minimum(stops + SHINGLE - 1, offsets[np.searchsorted(offsets, starts, "right")])
    change = np.zeros(runs.size + 1, np.int64)
    np.add.at(change, starts, 1)
    np.add.at(change, ends, -1)
    return change.cumsum()[:-1] > 0


def _rows_of(tokens: Flags, offsets: Places) -> tuple[Places, Places]:
    """Return where rows of chosen tokens start, and where they stop; documents are apart."""
    edges = np.zeros(tokens.size + 1, bool)
    edges[offsets] = True
    before, after = np.append(False, tokens[:-1]) & ~edges[:-1], np.append(tokens[1:], False) & ~edges[1:]
    return np.flatnonzero(tokens & ~before), np.flatnonzero(tokens & ~after) + 1


def covered(runs: Hashes, offsets: Places, passages: Hashes) -> Flags:
    """Return which tokens of documents are in passages; none of a document of which too little would be left."""
    within = stretches(np.isin(runs, passages), offsets)
    counts = np.append(0, (~within).cumsum())[offsets]
    return within & np.repeat(np.diff(counts) >= MIN_LEFT, np.diff(offsets))


def leave_out(pages: Sequence[Sequence[str]], passages: Hashes) -> list[list[str]]:
    """Return the tokens of a document's pages without its passages, as `covered` finds them."""
    words = [word for page in pages for word in page]
    within = iter(covered(token_shingles(words), np.array([0, len(words)]), passages).tolist())
    return [[word for word in page if not next(within)] for page in pages]


def _new_documents(runs: Hashes, of: Places, own: Flags, documents: int) -> Flags:
    """Return which documents have none of their lowest own runs in common with an earlier one."""
    order = np.lexsort((runs[own], of[own]))
    run, document = runs[own][order], of[own][order]
    first = np.append(True, (run[1:] != run[:-1]) | (document[1:] != document[:-1]))[: run.size]
    run, document = run[first], document[first]
    lowest = np.arange(run.size) - np.searchsorted(document, document) < SKETCH_RUNS
    run, document = run[lowest], document[lowest]
    _, earliest, place = np.unique(run, return_index=True, return_inverse=True)
    is_new = np.bincount(document, minlength=documents) > 0
    is_new[document[document[earliest][place] != document]] = False
    return is_new


def _describe(batch: TokenBatch, within: Flags, source: Places, names: Sequence[str]) -> list[SharedPassage]:
    """Describe stretches; those that begin with the same words are one passage."""
    starts, stops = (each.tolist() for each in _rows_of(within, batch.offsets))
    found: dict[tuple[int, str], list[tuple[int, int]]] = {}  # by source and first words: document and length
    for start, stop in zip(starts, stops, strict=True):
        text = " ".join(batch.token(token) for token in range(start, min(start + SHOWN_WORDS, stop)))
        document = int(batch.documents[start])
        found.setdefault((int(source[document]), text), []).append((document, stop - start))
    passages = [
        SharedPassage(
            words=sorted(length for _, length in places)[len(places) // 2],
            documents=len({document for document, _ in places}),
            source=names[number],
            text=text,
        )
        for (number, text), places in found.items()
    ]
    return sorted(passages, key=lambda each: (-each.documents, -each.words, each.text))
