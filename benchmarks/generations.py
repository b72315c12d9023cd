"""Collections of any size made of some signed stories: generations like the first, with no duplicates between them.

A generation's duplicates are those of the stories. Of the 25 rarest terms of a story four are kept, so that the
documents under a term grow with the collection, as they do in a real one; five would make two documents candidates.
Texts may be cut to a few words: settling never reads them.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, islice

from ibidem_engines.engine import Record
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.schema import RAREST, Signatures

POSITIONS = range(0, RAREST, 7)  # places of the terms that are kept: four of the 25 rarest
LOW = 0xFFF  # the bits of a term's code that change; the others say how rare it is
WORDS = 8


def generations(stories: Sequence[Record], size: int, words: int | None = WORDS) -> Iterator[Record]:
    records = (record for number in count() for record in generation(stories, number, words))
    return islice(records, size)


def generation(stories: Sequence[Record], number: int, words: int | None = WORDS) -> Iterator[Record]:
    """Yield the stories of another generation; the first generation is the stories themselves."""
    for story in stories:
        document = replace(
            story.document, id=f"{number}-{story.document.id}", text=" ".join(story.document.text.split()[:words])
        )
        signatures = shift(story.signatures, number) if number else story.signatures
        yield Record(
            document, replace(signatures, long=b""), 1, f"{story.digest[:24]}{number:08x}", pack(document, signatures)
        )


def shift(signatures: Signatures, number: int) -> Signatures:
    """Change the look-up keys, in the same way for all of a generation."""
    mask = int.from_bytes(hashlib.blake2b(str(number).encode(), digest_size=2).digest(), "little") & LOW | 1
    terms = {code if at in POSITIONS else code ^ mask for at, code in enumerate(signatures.terms)}
    return replace(
        signatures,
        content=rehash(signatures.content, number),
        fingerprint=rehash(signatures.fingerprint, number),
        profile=rehash(signatures.profile, number),
        terms=tuple(sorted(terms)),
        full=signatures.full and len(terms) == len(signatures.terms),
        slots=tuple((slot + 257 * number) % 65_536 for slot in signatures.slots),
        title=f"{signatures.title} {number}" if signatures.title else "",
        noise=b"",
    )


def rehash(value: str, number: int) -> str:
    scheme, _, digits = value.partition(":")
    if not digits or digits.startswith("none"):
        return value
    digest = hashlib.blake2b(f"{digits}/{number}".encode(), digest_size=len(digits) // 2)
    return f"{scheme}:{digest.hexdigest()}"
