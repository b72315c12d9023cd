"""Idf table: frozen, named by a hash of its contents, read from a file that all workers of a machine share.

A signature is only as stable as the table behind it (Conrad 2003, section 6.2), so a table is built once and never
changed, and its name is stored with every signature.

The file: the line `ibidem-idf2`, the length of the header in 8 hex digits and a line break, the header in JSON, blanks
up to a multiple of 8 bytes; then, each filled up to a multiple of 8 bytes, the document counts (float64, ascending),
the look-up slots (uint64, `lookup`), the ends of the terms (int64) and the terms themselves (UTF-8, in the order of
ranks). The header holds scheme, language, documents, origin, name, the sizes of the four parts and their xxh3-64. At
opening this checksum is compared, the name with the contents, and some terms are looked up; all that is computed with
is under one of these.
"""

import tempfile
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, log, log2
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import xxhash
from numpy.typing import NDArray

from ibidem_ingest.errors import TableError
from ibidem_ingest.kernel import loops
from ibidem_ingest.private import make_folder
from ibidem_ingest.text.passages import NO_PASSAGES
from ibidem_ingest.text.word_hash import Hashes, Places, hash_tokens

ABSENT: Final = (1 << 24) - 1  # the rank of a term that is not in the table: behind all others

MAX_TERMS: Final = ABSENT - 1
_SHIFT = np.uint64(24)
_SPARE = 64
_LOAD = 0.25
_MIN_BITS = 10


def layout_slots(hashes: Hashes) -> Hashes:
    """Lay out the slots for terms in the order of their ranks."""
    bits = max(_MIN_BITS, ceil(log2(max(1, hashes.size) / _LOAD)))
    slots = np.zeros((1 << bits) + _SPARE, np.uint64)
    entries = hashes << _SHIFT | np.arange(1, hashes.size + 1, dtype=np.uint64)
    order = np.argsort(hashes, kind="stable")
    # Where hashes ascend, each term is in the slot of its hash, or behind the one before it.
    place = (hashes[order] >> np.uint64(64 - bits)).astype(np.int64) - np.arange(hashes.size)
    slots[np.maximum.accumulate(place) + np.arange(hashes.size)] = entries[order]
    return slots


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file atomically, by a temporary name and a rename, readable only by its owner."""
    try:
        make_folder(path.parent)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
            temporary = Path(file.name)
            try:
                file.writelines(parts)
                file.flush()
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        remedy = "make its folder writable, or name another folder for the idf tables"
        raise TableError(f"cannot write {path}: {error.strerror or error}", remedy) from error


SCHEME = "idf2"

MAX_IDF_NORM = 0.8
MIN_DOCUMENTS = 5
# Origin of a table whose words are those of a collection in a language without a list of words.
OWN_WORDS = "words of the collection"
FEW_TERMS = 20_000  # terms below which a table that is not counted so lacks many good words
_HASH_SAMPLE = 1_000  # terms that are looked up at opening, to see that the file was written with the same hash

_MAGIC = b"ibidem-%b\n"
_PART_TYPES = {"counts": "<f8", "slots": "<u8", "ends": "<i8", "letters": "u1"}
_FACTS: dict[str, type] = {"language": str, "documents": int, "origin": str, "name": str}
_REMEDY = "delete the file; a default table is built again at the next use"


@dataclass(frozen=True, eq=False)
class Table:
    """The number of documents that contain each term."""

    name: str  # 16 hex digits: xxh3-64 of scheme, language, documents, counts and terms
    language: str  # ISO 639-1 code of the texts it speaks for
    documents: int  # number of documents behind it (N)
    origin: str  # description of its source
    # Documents that hold each term, float64, ascending: rank 0 has the highest idf; ties in code-point order.
    counts: NDArray[np.float64]
    slots: Hashes  # look-up slots (`lookup`)
    ends: Places  # byte offset behind each term in `letters`, int64
    letters: NDArray[np.uint8]  # UTF-8 of all terms in the order of ranks, uint8
    # Shingle hashes of the passages that signing skips (`text.passages`), uint64; stored beside the table's file.
    passages: Hashes = field(default_factory=NO_PASSAGES.copy)

    def __post_init__(self) -> None:
        for part in (self.counts, self.slots, self.ends, self.letters):
            part.setflags(write=False)

    @classmethod
    def build(cls, language: str, documents: int, counts: dict[str, float], origin: str) -> "Table":
        """Build a table from counts; terms in fewer than 5 documents are omitted.

        >>> table = Table.build("en", 1000, {"rare": 6, "court": 600, "typo": 1}, "three words")
        >>> [table.term(rank) for rank in range(table.size)], table.first_allowed
        (['rare', 'court'], 0)
        """
        pairs = sorted((count, term) for term, count in counts.items() if count >= MIN_DOCUMENTS)
        if len(pairs) > MAX_TERMS:
            raise TableError(f"{len(pairs):,} terms are more than a table holds", "count fewer documents")
        terms = [term.encode() for _, term in pairs]
        sizes = np.array(list(map(len, terms)), np.int64)
        letters, ends = np.frombuffer(b"".join(terms), np.uint8), sizes.cumsum()
        numbers = np.array([count for count, _ in pairs], np.float64)
        name = _name(language, documents, numbers, ends, letters)
        slots = layout_slots(hash_tokens(letters.tobytes() + bytes(8), ends - sizes, ends)[0])
        return cls(name, language, documents, origin, numbers, slots, ends, letters)

    @property
    def size(self) -> int:
        return self.counts.size

    @property
    def is_poor(self) -> bool:
        """Whether many good words are not in the table."""
        return self.size < FEW_TERMS and self.origin != OWN_WORDS

    @cached_property
    def first_allowed(self) -> int:
        """The first rank with idf_norm of at most 0.8; rarer terms are mostly typing errors (Conrad 2003, 6.1)."""
        return bisect_left(range(self.size), -MAX_IDF_NORM, key=lambda rank: -self.idf_norm(rank))

    def ranks(self, hashes: Hashes) -> Places:
        """Return the rank of each term by its `wh1`, `ABSENT` for terms outside the table."""
        if loops.IN_USE is None:
            return np.array([self.rank(each) for each in hashes.tolist()], np.int64)
        ranks = np.empty(hashes.size, np.int64)
        loops.call("ibidem_ranks", self.slots, self._slot_bits, hashes, hashes.size, ABSENT, ranks)
        return ranks

    def rank(self, hash_: int) -> int:
        """Return the rank of one term by its `wh1`; `ABSENT` if it is not in the table."""
        place, key = hash_ >> (64 - self._slot_bits), hash_ << 24 & (1 << 64) - 1
        while entry := int(self.slots[place]):
            if entry ^ key <= ABSENT:
                return (entry & ABSENT) - 1
            place += 1
        return ABSENT

    @property
    def _slot_bits(self) -> int:
        return (self.slots.size - _SPARE).bit_length() - 1

    def idf_norm(self, rank: int) -> float:
        """Return log((N + 0.5) / n) / log(N + 1) of the term of a rank (Conrad 2003, formula 1)."""
        return log((self.documents + 0.5) / float(self.counts[rank])) / log(self.documents + 1)

    def hashes(self, limit: int | None = None) -> Hashes:
        """Return the `wh1` hashes of the terms by rank; only the first `limit` if it is given."""
        ends = self.ends[:limit]
        return hash_tokens(self.letters.tobytes() + bytes(8), np.concatenate(([0], ends[:-1])), ends)[0]

    def term(self, rank: int) -> str:
        start = int(self.ends[rank - 1]) if rank else 0
        return self.letters[start : int(self.ends[rank])].tobytes().decode()

    def without(self, passages: Hashes) -> "Table":
        """Return the table that signs without some passages, named after both."""
        name = xxhash.xxh3_64_hexdigest(self.name.encode() + passages.astype("<u8").tobytes())
        return replace(self, name=name, passages=passages)

    def save(self, path: Path) -> None:
        """Write the table to a file atomically; other processes may write the same file."""
        parts: list[NDArray[Any]] = [self.counts, self.slots, self.ends, self.letters]
        blocks = [part.tobytes() + b"\0" * (-part.nbytes % 8) for part in parts]
        facts = {name: getattr(self, name) for name in _FACTS}
        check = {"sizes": [part.size for part in parts], "checksum": _digest(*blocks)}
        header = orjson.dumps({"scheme": SCHEME} | facts | check)
        start = _MAGIC % SCHEME.encode() + b"%08x\n" % len(header) + header
        write_whole(path, [start + b" " * (-len(start) % 8), *blocks])

    @classmethod
    def open(cls, path: Path) -> "Table":
        """Map a table's file into memory."""
        try:
            file = np.memmap(path, np.uint8, "r")
        except (OSError, ValueError) as error:
            raise TableError(f"cannot read the idf table {path}: {error}", _REMEDY) from error
        try:
            table = cls(**_parse(file))
            table._check()
        except (ValueError, KeyError, TypeError) as error:
            raise TableError(f"the idf table {path} is damaged ({error})", _REMEDY) from error
        return table

    def _check(self) -> None:
        if self.name != _name(self.language, self.documents, self.counts, self.ends, self.letters):
            raise ValueError("its name does not match its contents")
        ranks = self.ranks(self.hashes(_HASH_SAMPLE))
        if np.count_nonzero(ranks == np.arange(ranks.size)) < 0.9 * ranks.size:
            raise ValueError("its terms are hashed by another scheme")


def _parse(file: NDArray[np.uint8]) -> dict[str, Any]:
    """Parse and validate header and parts."""
    magic = _MAGIC % SCHEME.encode()
    start = len(magic) + 9
    if file[: len(magic)].tobytes() != magic:
        raise ValueError("it does not begin like one")
    end = start + int(file[len(magic) : start - 1].tobytes(), 16)
    header = orjson.loads(file[start:end].tobytes())
    body = file[end + -end % 8 :]
    if header["scheme"] != SCHEME or header["checksum"] != _digest(body.data):
        raise ValueError("checksum or scheme differ")
    parts, start = {}, 0
    for (name, kind), size in zip(_PART_TYPES.items(), header["sizes"], strict=True):
        length = size * np.dtype(kind).itemsize
        parts[name] = np.asarray(body[start : start + length]).view(kind)
        start += length + -length % 8
    return {name: kind(header[name]) for name, kind in _FACTS.items()} | parts


def _name(language: str, documents: int, *parts: NDArray[Any]) -> str:
    """Return the name of a table with such counts, ends and letters."""
    return _digest(f"{SCHEME} {language} {documents}\n".encode(), *(part.tobytes() for part in parts))


def _digest(*parts: bytes | memoryview) -> str:
    digest = xxhash.xxh3_64()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
