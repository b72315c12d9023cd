"""Messages of Outlook written by hand: a compound file of version 3 ([MS-CFB]), and a message in it ([MS-OXMSG])."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from struct import pack
from typing import TypeAlias

Tree: TypeAlias = Mapping[str, "bytes | Tree"]

SECTOR, SMALL, LARGE, ENTRY = 512, 64, 4096, 128
END, FREE, TABLE, NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
NUMBERS = SECTOR // 4


def padded(data: bytes, size: int) -> bytes:
    return data + bytes(-len(data) % size)


@dataclass
class Chains:
    """Data in pieces of one size, and the table that chains them."""

    size: int
    data: bytearray = field(default_factory=bytearray)
    table: list[int] = field(default_factory=list)

    def add(self, data: bytes) -> int:
        """Add data; returns its first piece."""
        if not data:
            return END
        first, count = len(self.table), -(-len(data) // self.size)
        self.data += padded(data, self.size)
        self.table += [*range(first + 1, first + count), END]
        return first


@dataclass
class Directory:
    """The entries of a compound file."""

    sectors: Chains
    small: Chains
    entries: list[bytes] = field(default_factory=list)

    def add(self, name: str, node: "bytes | Tree", following: int) -> int:
        """Add a stream or a storage with all that is below it; returns its number."""
        at = len(self.entries)
        self.entries.append(b"")
        if isinstance(node, bytes):
            chains = self.sectors if len(node) >= LARGE else self.small
            self.entries[at] = entry(name, 2, following, NONE, chains.add(node), len(node))
        else:
            self.entries[at] = entry(name, 1, following, self.below(node), 0, 0)
        return at

    def below(self, tree: Tree) -> int:
        """Add what a storage holds; returns the number of its first entry."""
        following = NONE
        for name in sorted(tree, key=lambda name: (len(name), name.upper()), reverse=True):
            following = self.add(name, tree[name], following)
        return following


def entry(name: str, kind: int, following: int, child: int, start: int, size: int) -> bytes:  # noqa: PLR0917
    encoded = name.encode("utf-16-le") + b"\0\0"
    head = padded(encoded, 64)[:64] + pack("<HBBIII", len(encoded), kind, 1, NONE, following, child)
    return head + bytes(36) + pack("<IQ", start, size)


def compound_file(tree: Tree) -> bytes:
    sectors, small = Chains(SECTOR), Chains(SMALL)
    directory = Directory(sectors, small, [b""])
    child = directory.below(tree)
    streams = sectors.add(bytes(small.data))
    directory.entries[0] = entry("Root Entry", 5, NONE, child, streams, len(small.data))
    small_table = b"".join(pack("<I", each) for each in small.table)
    first_small = sectors.add(padded(small_table, SECTOR)) if small_table else END
    blank = entry("", 0, NONE, NONE, 0, 0)
    count = -(-len(directory.entries) // 4) * 4
    first_entry = sectors.add(b"".join([*directory.entries, *[blank] * (count - len(directory.entries))]))
    used = len(sectors.table)
    tables = next(count for count in range(1, 110) if count * NUMBERS >= used + count)
    chained = [*sectors.table, *[TABLE] * tables]
    chained += [FREE] * (tables * NUMBERS - len(chained))
    places = [*range(used, used + tables), *[FREE] * (109 - tables)]
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += pack("<IIIIIIIII", 0, tables, first_entry, 0, LARGE, first_small, -(-len(small_table) // SECTOR), END, 0)
    head += b"".join(pack("<I", each) for each in places)
    return head + bytes(sectors.data) + b"".join(pack("<I", each) for each in chained)


@dataclass(frozen=True)
class Message:
    """A message, as Outlook saves one."""

    texts: Mapping[int, str] = field(default_factory=dict)  # properties that are texts, by number
    binary: Mapping[int, bytes] = field(default_factory=dict)  # properties that are bytes
    numbers: Mapping[int, int] = field(default_factory=dict)  # properties that are numbers
    times: Mapping[int, datetime] = field(default_factory=dict)  # properties that are times
    recipients: Sequence[tuple[int, str, str]] = ()  # kind, name and address of each
    attachments: Sequence[tuple[str, "bytes | Message"]] = ()  # name and content of each; a message is attached as one
    code_page: int = 0  # how texts are encoded; 0: as UTF-16

    def tree(self, head: int = 32) -> Tree:
        kind = "001E" if self.code_page else "001F"
        return {
            "__properties_version1.0": bytes(head) + b"".join(self._fixed()),
            **{stream(number, kind): self._encode(text) for number, text in self.texts.items()},
            **{stream(number, "0102"): data for number, data in self.binary.items()},
            **{f"__recip_version1.0_#{at:08X}": self._recipient(*each) for at, each in enumerate(self.recipients)},
            **{f"__attach_version1.0_#{at:08X}": attached(*each) for at, each in enumerate(self.attachments)},
        }  # fmt: skip

    def file(self) -> bytes:
        return compound_file(self.tree())

    def _encode(self, text: str) -> bytes:
        return text.encode(f"cp{self.code_page}" if self.code_page else "utf-16-le")

    def _fixed(self) -> Iterator[bytes]:
        numbers = {**self.numbers, **({0x3FFD: self.code_page} if self.code_page else {})}
        yield from (fixed(0x0003, number, pack("<i4x", value)) for number, value in numbers.items())
        for number, time in self.times.items():
            since = time - datetime(1601, 1, 1, tzinfo=UTC)
            yield fixed(0x0040, number, pack("<Q", (since.days * 86_400 + since.seconds) * 10_000_000))

    @staticmethod
    def _recipient(kind: int, name: str, address: str) -> Tree:
        return {
            "__properties_version1.0": bytes(8) + fixed(0x0003, 0x0C15, pack("<i4x", kind)),
            stream(0x3001, "001F"): name.encode("utf-16-le"),
            stream(0x39FE, "001F"): address.encode("utf-16-le"),
        }


def attached(name: str, what: bytes | Message) -> Tree:
    method = pack("<i4x", 1 if isinstance(what, bytes) else 5)
    return {
        "__properties_version1.0": bytes(8) + fixed(0x0003, 0x3705, method),
        stream(0x3707, "001F"): name.encode("utf-16-le"),
        **({stream(0x3701, "0102"): what} if isinstance(what, bytes) else {stream(0x3701, "000D"): what.tree(24)}),
    }


def stream(number: int, kind: str) -> str:
    return f"__substg1.0_{number:04X}{kind}"


def fixed(kind: int, number: int, value: bytes) -> bytes:
    return pack("<HHI", kind, number, 6) + value
