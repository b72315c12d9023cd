"""Windows made for tests: packed values around every threshold of the decision, and texts with versions."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis import settings
from hypothesis import strategies as st

from ibidem_engines.stored_groups import Hit
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.packed import Packed, pack, unpack
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS, Signatures
from support.examples import examples
from support.some import some

TABLES = ("aa00000000000000", "bb00000000000000")
LETTERS = "bdfgklmnprstv"
VOWELS = "aeiou"


# For laws whose every example is a whole window: twenty-five windows are some ten thousand pairs.
example_settings = settings(max_examples=examples(25), deadline=None)


def signatures(seed: int = 0, **changes: object) -> Signatures:
    """Make the signatures of a text of 200 words; two seeds share nothing."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    values = Signatures(
        length=200,
        shingles=120,
        content=f"ch4:{rng.getrandbits(128):032x}",
        fingerprint=f"fp1:{rng.getrandbits(160):040x}",
        weak=False,
        profile=f"tp1:{rng.getrandbits(128):032x}",
        numbers=5,
        number_sketch=tuple(sorted(rng.sample(range(1, 60_000), 5))),
        terms=tuple(sorted(rng.sample(range(1_000_000), FULL_SET))),
        full=True,
        slots=tuple(rng.choices(range(65_536), k=SLOTS)),
        idf=TABLES[0],
        noise=block(rng.choices(range(256), k=64), 60, rng.choices(range(256), k=8)),
    )
    return bounded(replace(values, **{"words": seed % 65_521 + 1, **changes}))  # type: ignore[arg-type] # fields by name


def bounded(values: Signatures) -> Signatures:
    """Leave no more shingles and numbers than there are words."""
    length = values.length
    few = values.number_sketch[: min(length, 16)]
    return replace(
        values, shingles=min(length, values.shingles), numbers=min(length, values.numbers), number_sketch=few
    )


def block(slots: Sequence[int], unknown: int, terms: Sequence[int], run: int = 5) -> bytes:
    """Make a noise block of a text of about 800 runs of characters."""
    return bytes(slots) + bytes((run, 77)) + unknown.to_bytes(2, "little") + bytes(terms)


def with_runs(signatures: Signatures, rng: random.Random) -> Signatures:
    """Change some slots of the runs of characters, and some of the unknown words, near the thresholds of the rule."""
    equal = rng.choice([12, 14, 18, 24, 25, 26, 30, 50])
    order = rng.choice([range(64), rng.sample(range(64), 64)])  # side by side they are in bands and pairs
    positions = set(order[:equal])
    slots = [each if at in positions else (each + 1) % 256 for at, each in enumerate(signatures.noise[:64])]
    terms = [each if at < rng.randrange(4) else (each + 1) % 256 for at, each in enumerate(signatures.noise[68:])]
    return replace(signatures, noise=block(slots, rng.choice([0, 5, 20, 60]), terms, rng.choice([5, 5, 5, 7, 133])))


def value(signatures: Signatures, name: str = "a", date: str = "", source: str = "", docket: str = "") -> bytes:
    """Pack signatures under an id; `docket` is the field that must not differ."""
    document = Document(name, "", date=date, source=source, meta={"docket": docket} if docket else {})
    return pack(document, signatures, ["meta.docket"])


def pack_signatures(signatures: Signatures, name: str = "a", date: str = "", docket: str = "") -> Packed:
    return some(unpack(value(signatures, name, date, docket=docket)))


def with_slots(signatures: Signatures, equal: int, *, band: bool = True) -> Signatures:
    """Change all but some slots; with a band the first ones stay, without one no three that make a band."""
    order = range(SLOTS) if band else sorted(range(SLOTS), key=lambda slot: (slot % 3, slot))
    positions = set(list(order)[:equal])
    slots = tuple(slot if at in positions else (slot + 1) % 65_536 for at, slot in enumerate(signatures.slots))
    return replace(signatures, slots=slots)


def with_terms(signatures: Signatures, shared: int) -> Signatures:
    """Exchange all but some terms for others of the table."""
    others = range(2_000_000, 2_000_000 + len(signatures.terms) - shared)
    return replace(signatures, terms=tuple(sorted([*signatures.terms[:shared], *others])))


def version(signatures: Signatures, rng: random.Random) -> Signatures:
    """Change a text's signatures a little, near the thresholds of the decision."""
    kind = rng.randrange(8)
    changes: dict[str, object] = {"content": f"ch4:{rng.getrandbits(128):032x}", "signs": rng.choice([0, 0, 1])}
    if kind == 0:
        return signatures
    if kind != 1:
        length = int(signatures.length * rng.choice([1, 1, 0.96, 0.94, 0.85, 0.81, 0.79]))
        changes["length"] = max(min(1, signatures.length), length)
    if kind != 2 and signatures.numbers:
        numbers = signatures.number_sketch[: rng.randrange(len(signatures.number_sketch) + 1)]
        fresh = rng.sample(range(60_001, 65_536), len(signatures.number_sketch) - len(numbers))
        changes["number_sketch"] = tuple(sorted([*numbers, *fresh]))
    if kind != 3:
        changes["fingerprint"] = f"fp1:{rng.getrandbits(160):040x}"
    if kind != 4:
        changes["profile"] = rng.choice(["", f"tp1:{rng.getrandbits(128):032x}"])
    if kind == 7:
        changes["idf"] = TABLES[1]
    values = bounded(replace(signatures, **changes))  # type: ignore[arg-type] # fields of Signatures, by name
    values = with_runs(values, rng) if values.noise else values
    if values.terms:
        values = with_terms(
            values, rng.choice([len(values.terms), *range(len(values.terms) * 3 // 5, len(values.terms) + 1)])
        )
    return (
        with_slots(values, rng.choice([20, 48, 49, 50, 51, 70, 100]), band=rng.random() < 0.8)
        if values.slots
        else values
    )


def odd_signatures(rng: random.Random, number: int) -> Signatures:
    """Make the signatures of a text that is unlike others: short, wordless, with a padded or a small set."""
    kind = rng.randrange(4)
    if kind == 0:
        bare = {"fingerprint": "", "profile": "", "slots": (), "numbers": 0}
        wordless = {"length": 0, "shingles": 0, "content": f"ch4:none:{number}", "number_sketch": (), "noise": b""}
        wordless["words"] = 0
        return signatures(number, **bare, **wordless, terms=(), full=False)
    if kind == 1:
        short_fields = {"length": rng.choice([3, 30, 49, 50]), "title": rng.choice(["", "rates", "wheat"])}
        return signatures(number, **short_fields, terms=(), full=False, weak=rng.random() < 0.5, noise=b"")
    terms = tuple(sorted(rng.sample(range(1_000_000), FULL_SET if kind == 2 else rng.randrange(20, FULL_SET))))
    return signatures(number, terms=terms, full=False, numbers=0, number_sketch=())


@dataclass(frozen=True, slots=True)
class SampleWindow:
    values: Sequence[bytes | None]

    @property
    def hits(self) -> list[Hit]:
        """The hits in rank order."""
        return [Hit("news", f"{at:04}", 1.0 - at / 1e4, each) for at, each in enumerate(self.values)]

    @property
    def packed(self) -> list[Packed | None]:
        return [None if each is None else unpack(each) for each in self.values]


def make_window(seed: int, size: int) -> SampleWindow:
    """Make a window: families of versions, odd texts, unsigned and damaged hits, in any order."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    families = [
        signatures(rng.getrandbits(40)) if rng.random() < 0.7 else odd_signatures(rng, rng.getrandbits(40))
        for _ in "abcde"
    ]
    values: list[bytes | None] = []
    for at in range(size):
        pick = rng.random()
        if pick < 0.05:
            values.append(rng.choice([None, b"damaged"]))
            continue
        member = version(rng.choice(families), rng) if pick < 0.85 else odd_signatures(rng, rng.getrandbits(40))
        if member.length and rng.random() < 0.5:
            families.append(member)
        date = rng.choice(["", "1987", "1987-03", "1987-03-01", "1987-04-12", "1987-04-13", "1988-01-01"])
        values.append(
            value(member, f"{at:04}", date, rng.choice(["", "AP", "Reuters"]), rng.choice(["", "", "7", "8"]))
        )
    return SampleWindow(values)


windows = st.builds(make_window, st.integers(0, 2**32), st.integers(0, 40))  # Windows of up to forty hits


def words(rng: random.Random, count: int) -> list[str]:
    """Make distinct words that can be spoken."""
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts["".join(rng.choice(LETTERS) + rng.choice(VOWELS) for _ in range(rng.randrange(2, 5)))] = None
    return list(texts)


def edit(text: Sequence[str], rng: random.Random) -> list[str]:
    """Change some words of a text, or drop a passage."""
    values = list(text)
    for _ in range(rng.choice([0, 1, 3, 8, 20])):
        values[rng.randrange(len(values))] = f"w{rng.randrange(100)}"
    at, length = rng.randrange(len(values)), rng.choice([0, 0, 10, 40])
    return values[:at] + values[at + length :] or values


def documents(seed: int, families: int, versions: int) -> list[Document]:
    """Make documents in families of versions, every one with the word `said`."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    vocabulary = words(rng, 3_000)
    result = []
    for family in range(families):
        text = ["said", *rng.choices(vocabulary, k=rng.choice([3, 60, 150, 300])), *map(str, rng.sample(range(999), 4))]
        for each in range(rng.randrange(1, versions + 1)):
            date = f"{1987 + rng.randrange(2)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
            source = rng.choice(["AP", "Reuters", ""])
            body = " ".join(edit(text, rng) if each else text)
            result.append(Document(f"{family}-{each}", body, f"Story {family}", rng.choice([date, ""]), source))
    rng.shuffle(result)
    return result


def counts(texts: Sequence[Document]) -> Mapping[str, float]:
    """Count in how many texts each word occurs, as an idf table is built from."""
    table: dict[str, float] = {}
    for each in texts:
        for word in set(each.text.split()):
            if word.isalpha() and len(word) > 2:
                table[word] = table.get(word, 4.0) + 1
    return table
