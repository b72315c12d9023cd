"""Packed values that are whole, damaged or impossible, each with the verdict that every reader has to reach.

The verdicts are stated here, by hand, and not taken from a reader. `python -m plugin.written` writes them to
`golden/verdicts.jsonl`, which the tests of `unpack`, of the columns and of the plugin's `Packed` read.
"""

import struct
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from ibidem_ingest.signatures.packed import (
    FULL,
    HEAD,
    LONG,
    NO_DATE,
    NO_MINHASH,
    NO_SET,
    NO_WORDS,
    NOISE_BLOCK,
    SCHEME,
    TITLED,
    WEAK,
)

# 1 January of the year 1 and 31 December of the year 9999, in days since 1980-01-01: all that a date can name.
FIRST_DAY, LAST_DAY = -722_814, 2_929_244

HEAD_FIELDS: dict[str, Any] = {
    "scheme": SCHEME,
    "flags": FULL,
    "length": 120,
    "shingles": 110,
    "date_from": 2_613,
    "date_to": 2_640,
    "idf": b"\xaa" * 4,
    "words": 1,
    "signs": 0,
    "content": b"\xc0" * 16,
    "fingerprint": b"\xf0" * 8,
    "profile": b"\xdd" * 8,
    "source": b"\x01\x02\x03\x04",
    "guard": bytes(4),
    "title": bytes(4),
    "numbers": 3,
    "sketch": (7, 800, 65_535, *[0] * 13),
}
WORDLESS: dict[str, Any] = {
    "flags": NO_SET | NO_MINHASH | NO_WORDS | WEAK,
    "length": 0,
    "shingles": 0,
    "content": bytes(16),
    "fingerprint": bytes(8),
    "profile": bytes(8),
    "numbers": 0,
    "sketch": (0,) * 16,
    "terms": (),
    "slots": (),
}
UNSET: dict[str, Any] = {"flags": NO_SET, "terms": ()}


def packed(**changes: Any) -> bytes:
    """Make the value of a text of 120 words, with some fields changed."""
    head = {name: changes.get(name, value) for name, value in HEAD_FIELDS.items()}
    terms, slots = changes.get("terms", range(5, 65)), changes.get("slots", range(1_000, 1_100))
    name = changes.get("name", b"reut-17")
    sketch = head.pop("sketch")
    return (
        HEAD.pack(*head.values(), *sketch)
        + bytes((changes.get("term_count", len(terms)),))
        + b"".join(struct.pack("<I", code)[:3] for code in terms)
        + bytes((changes.get("slot_count", len(slots)),))
        + struct.pack(f"<{len(slots)}H", *slots)
        + struct.pack("<H", changes.get("name_length", len(name)))
        + name
        + changes.get("blocks", NOISE)
    )


NOISE = NOISE_BLOCK + bytes(76)


def whole() -> Iterator[tuple[str, bytes]]:
    """Make values that documents have, up to every limit."""
    yield "a text with all signatures", packed()
    yield "a text without noise block", packed(blocks=b"")
    yield "a text with blocks that nobody knows", packed(blocks=b"a\x01\x02\x00xy" + NOISE + b"z\x07\x00\x00")
    yield "a noise block of another version", packed(blocks=b"n\x02" + NOISE[2:])
    yield "a short text whose title counts", packed(flags=FULL | TITLED, title=b"rate")
    yield "a title that does not count", packed(title=b"rate")
    yield "a long text", packed(flags=FULL | LONG, length=2**32 - 1, shingles=2**32 - 1)
    yield "a text of one word", packed(length=1, shingles=1, numbers=1, **UNSET)
    yield "a text without words", packed(**WORDLESS)
    yield "a text without idf table", packed(idf=bytes(4), **UNSET)
    yield "a text without a date", packed(date_from=NO_DATE, date_to=NO_DATE)
    yield "the first day of all", packed(date_from=FIRST_DAY, date_to=FIRST_DAY)
    yield "the last day of all", packed(date_from=LAST_DAY, date_to=LAST_DAY)
    yield "as many numbers as words", packed(numbers=120)
    yield "an id of one character", packed(name=b"a")
    yield "an id outside ASCII", packed(name="Überschrift 🂡".encode())
    yield "an id with a zero byte", packed(name=b"a\0b")


def damaged() -> Iterator[tuple[str, bytes]]:
    """Make values whose parts do not fit together."""
    value = packed()
    yield "no byte", b""
    yield "one byte", value[:1]
    yield "a head and nothing more", value[: HEAD.size]
    yield "a cut within the terms", value[: HEAD.size + 30]
    yield "a cut within the slots", value[: HEAD.size + 200]
    yield "a cut within the id", value[:-1]
    yield "a byte too many", value + b"x"
    yield "an empty id", packed(name=b"")
    yield "an id that is longer than it says", packed(name_length=3, blocks=b"")
    yield "a block without a size", packed(blocks=b"n\x01")
    yield "a block that is cut off", packed(blocks=NOISE[:-1])
    yield "a block twice", packed(blocks=NOISE + NOISE)
    yield "blocks that descend", packed(blocks=b"z\x01\x00\x00" + NOISE)
    yield "an id that is shorter than it says", packed(name_length=300)
    for at, name in enumerate((b"a\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\xc3")):
        yield f"an id that is no UTF-8 ({at})", packed(name=name)
    for scheme in (0, 1, 2, 3, 255):
        yield f"scheme {scheme}", packed(scheme=scheme)
    yield "flag 128", packed(flags=FULL | 128)
    yield "61 terms", packed(terms=range(5, 66))
    yield "a term twice", packed(terms=(5, 5, 6), flags=0)
    yield "terms that descend", packed(terms=(6, 5), flags=0)
    yield "99 slots", packed(slots=range(99))
    yield "101 slots", packed(slots=range(101))
    yield "a full set of 59 terms", packed(terms=range(5, 64))
    yield "terms, and the flag for none", packed(flags=FULL | NO_SET)
    yield "no terms, and no flag for none", packed(terms=(), flags=0)
    yield "slots, and the flag for none", packed(flags=FULL | NO_MINHASH)
    yield "no slots, and no flag for none", packed(slots=())
    yield "words, and the flag for none", packed(flags=FULL | NO_WORDS)
    yield "no words, and no flag for none", packed(**{**WORDLESS, "flags": NO_SET | NO_MINHASH})


def impossible() -> Iterator[tuple[str, bytes]]:
    """Make values whose parts fit together, and that no text can have."""
    yield "words without shingles", packed(shingles=0)
    yield "a title that counts, and none", packed(flags=FULL | TITLED)
    yield (
        "a title that counts, and no words",
        packed(**{**WORDLESS, "flags": WORDLESS["flags"] | TITLED, "title": b"rate"}),
    )
    yield "shingles without words", packed(**{**WORDLESS, "shingles": 1})
    yield "more shingles than words", packed(shingles=121)
    yield "words without a content hash", packed(content=bytes(16))
    yield "a content hash without words", packed(**{**WORDLESS, "content": b"\xc0" * 16})
    yield "words without slots", packed(flags=FULL | NO_MINHASH, slots=())
    yield "slots without words", packed(**{**WORDLESS, "flags": NO_SET | NO_WORDS, "slots": range(100)})
    yield "terms without words", packed(**{**WORDLESS, "flags": NO_MINHASH | NO_WORDS, "terms": (5, 6)})
    yield "more numbers than words", packed(numbers=121)
    yield "a date that ends before it begins", packed(date_from=2_641)
    yield "a date without a beginning", packed(date_from=NO_DATE)
    yield "a date without an end", packed(date_to=NO_DATE)
    yield "a day before all", packed(date_from=FIRST_DAY - 1)
    yield "a day after all", packed(date_to=LAST_DAY + 1)


def verdicts() -> list[dict[str, Any]]:
    cases = [(True, whole()), (False, damaged()), (False, impossible())]
    return [
        {"case": case, "bytes": b64encode(value).decode(), "read": read}
        for read, values in cases
        for case, value in values
    ]
