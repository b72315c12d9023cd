"""Texts that are signed, and signatures that are read again: damaged ones count as none."""

import base64
from collections.abc import Mapping
from functools import cache

import orjson
import xxhash

from fuzz.target import Target, as_any_text, as_text, folder
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import LEVELS, Policy
from ibidem_dedupe.relations import relate
from ibidem_engines.cluster.dsl import PACKED
from ibidem_engines.cluster.lookup import read_hits
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures.long_text import LongSignatures, sign_long
from ibidem_ingest.signatures.lookup_keys import long_keys, lookup_keys
from ibidem_ingest.signatures.packed import PackedColumns, pack, unpack
from ibidem_ingest.signatures.sign import sign_batch, sign_one
from ibidem_ingest.text.tokens import TokenBatch, is_term, tokens
from ibidem_ingest.text.word_hash import wh1
from support.books import page

MAGIC = b"ibidem-idf2\n"
STORY = (
    "The export duty on wheat was raised by the ministry on Monday, officials said in the capital; traders who had "
    "expected it sold before, and prices in Chicago fell by 12 cents to 3.45 dollars a bushel."
)
TEXTS = (
    STORY,
    "the defen-\n  dant in the hol-\x0cding, Franco-\nPrussian; co­-\r\noperate",
    "日本語のテキスト, ภาษาไทย, ΣΑΣ ﬁne Ǆ ẞ İ e\u0301\u0302 \u1100\u1161\u11a8 ① ½ ५६ \U00010400",
    "a" * 70 + " " + "ж" * 40 + " 12ab٣ " + "\u0301\u0301 x\u200dy \ufeff",
    "\f".join(" ".join(page(number, 30)) for number in (1, 2)),
    f"{STORY} " * 30,
)


LONG = 7_000  # characters that hold a thousand words


@cache
def table() -> Table:
    """Return a small English table."""
    words = dict.fromkeys(word for text in TEXTS for word in tokens(text) if is_term(word))
    return Table.build("en", 10_000, {word: 5.0 + at for at, word in enumerate(words)}, "fuzz")


@cache
def make_packed(number: int) -> bytes:
    document = Document(f"doc-{number}", TEXTS[number], date="1987-03", source="AP")
    return pack(document, sign_one(document, table()), ("source",))


def kernels(data: bytes) -> None:
    """Sign a text in plain Python and in a batch, alone and between others."""
    text = as_text(data).replace("\0", " ")
    if data[:1] < b"\x09":
        text *= LONG // max(1, len(text)) + 1
    document = Document("a", text)
    signatures = sign_one(document, table())
    assert sign_batch([Document("b", TEXTS[1]), document, Document("c", "")], table())[1] == signatures
    words = tokens(text)
    batch = TokenBatch.tokenize([text, TEXTS[0]])
    assert [batch.token(at) for at in range(int(batch.lengths[0]))] == words
    assert batch.hashes[: len(words)].tolist() == [wh1(word) for word in words]


def packed(data: bytes) -> None:
    """Read a packed value by itself, as a column, and out of a server's answer; then compare it."""
    value = unpack(data)
    columns = PackedColumns.decode([data, None, make_packed(0), data, make_packed(5)])
    assert columns.is_signed.tolist() == [value is not None, False, True, value is not None, True]
    answer = {"_index": "i", "_id": "a", "_score": 1.0, "fields": {PACKED: [as_any_text(data)]}}
    read_hits({"hits": {"hits": [answer, answer | {"fields": {PACKED: [base64.b64encode(data).decode()]}}]}})
    for level in LEVELS:
        group(columns, Policy().at(level).within(30))
    if value is not None:
        assert columns.unpack_row(0) == value
        assert columns.ids[0] == value.id
        lookup_keys([data])
        for other in (value, unpack(make_packed(0))):
            assert other is not None
            for level in LEVELS:
                decide(value, other, Policy().at(level))


def check_long(data: bytes) -> None:
    """Read long signatures; what is whole is written again as it was, and compared."""
    value = LongSignatures.decode(data)
    if value is None:
        return
    assert value.encode() == data
    long_keys(value)
    other = LongSignatures.decode(make_long(TEXTS[4]))
    assert other is not None
    relate(value, other)
    relate(other, value)
    relate(value, value)


def idf(data: bytes) -> None:
    """Open the file of an idf table, as it is and with its checksum mended; then sign with it."""
    for content in (data, mended(data)):
        path = folder() / "0123456789abcdef.idf"
        path.write_bytes(content)
        read = Table.open(path)
        assert all(isinstance(read.term(rank), str) for rank in range(read.size))
        assert 0 <= read.first_allowed <= read.size
        sign_one(Document("a", STORY), read)


def mended(data: bytes) -> bytes:
    """Write the checksum of a table's parts into its header, so that what lies behind the checksum is read."""
    start = len(MAGIC) + 9
    try:
        end = start + int(data[len(MAGIC) : start - 1], 16)
        header = orjson.loads(data[start:end])
        body = data[end + -end % 8 :]
        header["checksum"] = xxhash.xxh3_64_hexdigest(body)
    except (ValueError, TypeError):
        return data
    header_text = orjson.dumps(header)
    head = MAGIC + b"%08x\n" % len(header_text) + header_text
    return head + b" " * (-len(head) % 8) + body


def pointer(data: bytes) -> None:
    """Read which table of a language is the current one."""
    (folder() / "qq.current").write_bytes(data)
    (folder() / "fedcba9876543210.idf").write_bytes(data)
    tables = Tables(folder())
    tables.current()
    tables.of("qq")


def stored_table() -> bytes:
    path = folder() / "example.idf"
    Table.build("en", 1_000, {"rare": 6, "court": 600, "naïve": 40}, "three words").save(path)
    return path.read_bytes()


@cache
def make_long(text: str) -> bytes:
    long_signatures = sign_long(Document("a", text))
    assert long_signatures is not None
    return long_signatures.encode()


TARGETS: Mapping[str, Target] = {
    "kernels": Target(
        kernels,
        tuple(text.encode() for text in TEXTS[:5]),
        (b"-\n", b"\x0c", b"\xc2\xad\n", "Σ".encode(), "\u0301".encode(), "日".encode(), b"0", "İ".encode(), b"\r\n"),
    ),
    "packed": Target(packed, tuple(map(make_packed, (0, 1, 4))), (b"\0\0", b"\xff\xff\xff\xff", b"\x01\x1c")),
    "long": Target(check_long, (make_long(TEXTS[4]), make_long(TEXTS[5])), (b"lg1:", b"\xff\xff\xff\xff", b"\0\0\0\0")),
    "idf": Target(idf, (stored_table(),), (b'"sizes":[', b"-1", b"1e99", b"null", b"\0" * 8, b"\xff" * 8)),
    "pointer": Target(pointer, (b"fedcba9876543210\n", b"none\n"), (b"../", b"\0", MAGIC)),
}
