"""Engines to run the contract over, and records to write into them."""

import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import xxhash
from ibidem_engines.engine import Engine, Record
from ibidem_engines.opening import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.signature import FULL_SET, SLOTS, Signatures

ENGINES = (
    "sqlite",
    pytest.param("opensearch", marks=pytest.mark.server("opensearch")),
    pytest.param("elasticsearch", marks=pytest.mark.server("elasticsearch")),
)
"""Schemes that the contract runs over; another engine joins by its name here and an address in `address`."""

IDF = "00112233445566aa"


def shingle_hashes(words: list[str], slot: int) -> list[int]:
    shingles = [" ".join(words[at : at + 5]) for at in range(max(1, len(words) - 4))]
    return [xxhash.xxh64_intdigest(shingle.encode(), slot) & 0xFFFF for shingle in shingles]


def signatures_of(text: str, name: str) -> Signatures:
    """Sign a text in the plainest way: the shape of the real signatures, none of their finer rules."""
    words = text.lower().split()
    digest = xxhash.xxh3_128_hexdigest(" ".join(words).encode())
    codes = tuple(sorted({xxhash.xxh32_intdigest(word.encode()) & 0xFFFFF for word in words}))
    return Signatures(
        length=len(words),
        shingles=len(set(words)),
        content=f"ch1:{digest}" if words else f"ch1:none:{name}",
        fingerprint=f"fp1:{digest}{'0' * 8}" if words else "",
        fingerprint_binned=f"fb1:{digest[::-1]}{'0' * 8}" if words else "",
        weak=False,
        profile=f"tp1:{xxhash.xxh3_128_hexdigest(' '.join(sorted(words)).encode())}" if len(words) > 4 else "",
        numbers=0,
        number_sketch=(),
        terms=codes[:FULL_SET],
        full=len(codes) >= FULL_SET,
        slots=tuple(min(shingle_hashes(words, slot)) for slot in range(SLOTS)) if words else (),
        idf=IDF if words else "",
    )


@pytest.fixture
def record() -> Callable[..., Record]:
    """Makes signed records: `record("a", "the text", version=2, title=…, date=…)`."""

    def make(name: str, text: str = "grain prices rose in chicago", version: int = 1, **fields: object) -> Record:
        document = Document(name, text, **fields)  # type: ignore[arg-type]
        signatures = signatures_of(text, name)
        digest = xxhash.xxh3_128_hexdigest(repr(document).encode())
        return Record(document, signatures, version, digest, pack(document, signatures))

    return make


def remove_indices(address: str, names: str = "news,news-*") -> None:
    """Remove indexes from a server of the tests."""
    url = f"{address.partition('+')[2]}/{names}?expand_wildcards=all&ignore_unavailable=true"
    with urllib.request.urlopen(urllib.request.Request(url, method="DELETE"), timeout=60):
        pass


@pytest.fixture(params=ENGINES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an engine keeps nothing yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/folder/index.sqlite"
    url: str = request.getfixturevalue(request.param)
    return url


@pytest.fixture
def absent(address: str) -> Iterator[Engine]:
    """An engine whose index was never made; what a server keeps of it is removed in the end."""
    engine = open_engine(address, "news")
    yield engine
    engine.close()
    if not address.startswith("sqlite"):
        remove_indices(address)


@pytest.fixture
def engine(absent: Engine) -> Engine:
    """An engine with an empty index."""
    absent.create()
    return absent
